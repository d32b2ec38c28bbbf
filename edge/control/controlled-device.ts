/** One device under control: what is read of it, and one thing at a time that is done with it. */
import type { Stopwatch } from '@heliograph/domain/clock'
import type { Limiter } from '@heliograph/domain/readings'
import { BusError } from '../bus/bus-error.ts'
import type { LimitControl, LimitState } from '../drivers/limit-control.ts'
import type { Poll } from '../polled-device.ts'
import type { Noted } from './control-entry.ts'
import type { Controlled, Order } from './decide.ts'
import type { DeviceLimits, Foreign } from './device-limits.ts'
import { deviceName, nameOf } from './device-name.ts'
import type { Failure } from './row-watch.ts'

export interface DeviceRead {
  control: LimitControl | null
  limit: LimitState | null
  power_w: number | null
  poll?: Poll | undefined
}

export interface ControlledDeviceNeeds {
  stopwatch: Stopwatch
  note(entry: Noted): void
  /** Something that was read is another than before, or can be ordered again. */
  onChange(): void
  onForeign(foreign: Foreign): void
}

/** What failed to be armed is tried again so late: a lower does not wait for that. */
const rearm_ms = 5000

export class ControlledDevice implements Controlled {
  readonly inverter_id: number
  readonly logger_id: number
  readonly limits: DeviceLimits
  readonly #needs: ControlledDeviceNeeds
  #control: LimitControl | null = null
  #is_working = false
  /** It took the newest order, and has not shown it yet. */
  #is_awaited = false
  #is_looking = false
  #is_heard = false
  /** It was told to be gone, and not yet what it holds since it is back. */
  #was_gone = false
  #armed_w: number | null = null
  #rearm_ms = Number.NEGATIVE_INFINITY
  #power: { power_w: number | null; at_ms: number } | null = null
  #failure: Failure['code'] = 'driver_error'
  /** What holds its plant; null: not known since the start, or a trial lowers the device. */
  #held_by: 'none' | 'curtailment' | 'permit' | null = null
  #limited_by: Limiter = 'unknown'
  failed_attempts = 0
  /** Its connection was lost, and it was not read since. */
  is_gone = false

  constructor(
    { inverter_id, logger_id }: { inverter_id: number; logger_id: number },
    limits: DeviceLimits,
    needs: ControlledDeviceNeeds,
  ) {
    this.inverter_id = inverter_id
    this.logger_id = logger_id
    this.limits = limits
    this.#needs = needs
  }

  /** False also while its registers cannot be understood: then it holds up no other device. */
  get has_control(): boolean {
    const control = this.#control
    if (!control) return false
    try {
      control.settable(0)
      return true
    } catch {
      return false
    }
  }

  get is_busy(): boolean {
    return this.#is_working
  }

  /** It took a limit, and did not show it yet. */
  get is_awaited(): boolean {
    return this.#is_awaited
  }

  /** Since its newest contact, for whatever share. */
  get is_armed(): boolean {
    return this.#armed_w !== null
  }

  get is_heard(): boolean {
    return this.#is_heard
  }

  get limited_by(): Limiter {
    return this.#limited_by
  }

  /** What was measured last, while that is fresh. */
  get power(): { power_w: number | null; at_ms: number } | null {
    const is_fresh = this.#power && this.#now() - this.#power.at_ms <= this.limits.facts.fresh_ms
    return is_fresh ? this.#power : null
  }

  /** The device holds another limit than it was set to, within no declared rounding; else null. */
  get not_as_set(): string | null {
    const { not_as_set } = this.limits
    if (!not_as_set) return null
    const [found_kw, asked_kw] = [not_as_set.found_w / 1000, not_as_set.asked_w / 1000]
    return (
      `${nameOf(this.inverter_id)} was set to ${asked_kw} kW and holds ${found_kw} kW: another ` +
      'controller set that, or the device rounds by more than is declared. In that case declare ' +
      'limit.tolerance_pct in site.yaml, then run heliograph-edge limits forget ' +
      deviceName(this.inverter_id)
    )
  }

  get failure(): Failure | null {
    const name = nameOf(this.inverter_id)
    if (this.limits.isIneffective(this.#now())) {
      return { code: 'device_rejected', message: `${name} delivers more than its limit` }
    }
    if (this.limits.isContested(this.#now())) {
      return { code: 'readback_mismatch', message: `${name}: another raises its limit repeatedly` }
    }
    if (this.limits.isFailing(this.#now()))
      return { code: this.#failure, message: `${name}: ${told(this.#failure)}` }
    if (this.#control === null && this.power !== null) {
      return { code: 'driver_error', message: `${name} cannot be limited` }
    }
    if (this.limits.isFresh(this.#now())) return null
    return { code: 'timeout', message: `${name} does not answer` }
  }

  onRead({ control, power_w, poll, ...read }: DeviceRead): void {
    const now_ms = this.#now()
    this.is_gone = false
    const limit = read.limit && isSound(read.limit) ? read.limit : null
    if (!this.#is_heard) this.#needs.onChange()
    this.#is_heard = true
    if (control !== this.#control) this.#meet(control)
    if (control && limit) this.#take(limit, control, now_ms - (poll?.took_ms ?? 0))
    this.#power = { power_w, at_ms: now_ms }
    if (power_w !== null && limit) this.limits.onPower(power_w, now_ms)
    this.#limited_by = this.#label({ control, limit })
  }

  onGone(): void {
    this.is_gone = true
    this.limits.lost()
    this.#control = null
    this.#is_awaited = false
    this.#armed_w = null
    this.#limited_by = 'unknown'
    this.#was_gone = true
    const { inverter_id, limits } = this
    this.#needs.note({ is: 'gone', inverter_id, stays: limits.stays })
  }

  /** What holds its plant now; null: a trial lowers the device, and no order is the cause. */
  heldBy(held_by: 'none' | 'curtailment' | 'permit' | null): void {
    this.#held_by = held_by
  }

  /** `share_w` is what it may have of the permit alone. */
  needsArming(share_w: number): boolean {
    const is_due = this.#armed_w !== share_w && this.#now() >= this.#rearm_ms
    return this.#control !== null && !this.is_busy && is_due
  }

  /** Never rejects; what is wrong at the device. null: it does not answer, at dusk for example. */
  async arm(share_w: number): Promise<readonly string[] | null> {
    const control = this.#control
    if (!control) return []
    this.limits.arming(share_w)
    return await this.#work(async () => {
      let complaints: readonly string[]
      let is_checked = true
      try {
        complaints = await control.arm(share_w)
        this.#armed_w = share_w
        this.limits.armed(complaints.length === 0 ? share_w : null)
      } catch {
        complaints = ['it could not be checked']
        this.#rearm_ms = this.#now() + rearm_ms
        is_checked = false
      }
      this.#needs.note({ is: 'armed', inverter_id: this.inverter_id, complaints })
      const found = await this.#readBack(control)
      return is_checked || found ? complaints : null
    })
  }

  /** Before the order is made durable; after it comes `carryOut` or `abandon`. */
  begin({ limit_w }: Order): void {
    this.#is_working = true
    this.#giveUp()
    const written_for = this.#held_by === 'none' ? 'permit' : this.#held_by
    this.limits.begin(limit_w, this.#now(), written_for)
  }

  /** A raise that could not be written down, so it is not done: it is as if it was not begun. */
  abandon({ limit_w }: Order): void {
    this.#withdraw(limit_w)
    this.#is_working = false
  }

  /**
   * Sets the limit and reads it back; never rejects. `mayStill` is asked before each write goes
   * out: false where something newer says less.
   */
  async carryOut({ limit_w }: Order, mayStill: () => boolean): Promise<void> {
    const control = this.#control
    let is_sent = false
    const maySend = () => {
      const may = mayStill()
      is_sent ||= may
      return may
    }
    await this.#work(async () => {
      let error: unknown = control ? null : new BusError('disconnected', 'it is gone')
      try {
        await control?.writeLimit(limit_w, maySend)
      } catch (thrown) {
        error = thrown
      }
      const is_overtaken = error instanceof BusError && error.kind === 'overtaken'
      if (is_overtaken && !is_sent) this.#withdraw(limit_w)
      else
        this.limits.done(
          limit_w,
          this.#now(),
          error !== null && codeOf(error) === 'device_rejected',
        )
      // A write without an answer may have been done.
      const found = control && (await this.#readBack(control))
      const is_done = found !== null && this.limits.is_proven
      this.#is_awaited = found !== null && error === null && this.limits.isApplying(this.#now())
      if (!is_done && !this.#is_awaited && !is_overtaken) {
        this.#countFailure(error ?? (found ? null : new BusError('timeout', 'no read-back')))
      }
      const message = error === null ? null : (error as Error).message
      const { inverter_id } = this
      this.#needs.note({ is: 'answer', inverter_id, limit_w, error: message, found })
    })
  }

  #withdraw(limit_w: number): void {
    this.limits.withdraw()
    this.#needs.note({ is: 'unsent', inverter_id: this.inverter_id, limit_w })
  }

  /**
   * Looks at each tick whether what it took has come through: a poll may be long in coming. It is
   * free for another order meanwhile. Never rejects.
   */
  async follow(): Promise<void> {
    const control = this.#control
    if (!control || this.#is_looking || this.#is_working) return
    if (!this.#is_awaited || this.limits.is_proven) return
    this.#is_looking = true
    const began_ms = this.#now()
    try {
      const state = await readSoundLimit(control)
      if (control === this.#control) this.#take(state, control, began_ms)
    } catch {
      // A device that does not answer is the poll loop's business.
    } finally {
      this.#is_looking = false
    }
  }

  /** What is ordered anew after the time that it had for it has failed. */
  #giveUp(): void {
    const is_late =
      this.#is_awaited && !this.limits.is_proven && !this.limits.isApplying(this.#now())
    this.#is_awaited = false
    if (!is_late) return
    this.#countFailure(null)
  }

  async #work<Of>(job: () => Promise<Of>): Promise<Of> {
    this.#is_working = true
    try {
      return await job()
    } finally {
      this.#is_working = false
      this.#needs.onChange()
    }
  }

  async #readBack(control: LimitControl): Promise<LimitState | null> {
    const began_ms = this.#now()
    try {
      const state = await readSoundLimit(control)
      this.#take(state, control, began_ms)
      return state
    } catch {
      return null
    }
  }

  #take(state: LimitState, control: LimitControl, began_ms: number): void {
    // A poll may have begun before the newest read-back: see the core.
    if (began_ms < (this.limits.source.read?.at_ms ?? began_ms)) return
    const is_as_known = this.#isAsKnown(state)
    const was_proven = this.limits.is_proven
    const open = this.limits.source.under_way.length
    this.limits.onContact({ traits: { ...control.traits }, control })
    const foreign = this.limits.onRead(state, this.#now(), began_ms)
    // What ends a doubt is news too: it says which of what was begun the device holds.
    const is_settled = this.limits.source.under_way.length < open
    if (!is_as_known || foreign || is_settled || this.#was_gone) {
      this.#was_gone = false
      const { limit_w, static_max_w } = state
      const { inverter_id } = this
      this.#needs.note({ is: 'limit', inverter_id, found: { limit_w, static_max_w }, foreign })
    }
    if (foreign === 'lowered' || foreign === 'raised') this.#needs.onForeign(foreign)
    if (!is_as_known || foreign || was_proven !== this.limits.is_proven) this.#needs.onChange()
  }

  #isAsKnown({ limit_w, static_max_w }: LimitState): boolean {
    const { bound_w, static_max_w: known_w } = this.limits
    return bound_w === (limit_w ?? static_max_w) && static_max_w === known_w
  }

  #meet(control: LimitControl | null): void {
    if (this.#control) this.limits.lost()
    this.#control = control
    this.#is_awaited = false
    this.#armed_w = null
    this.#rearm_ms = Number.NEGATIVE_INFINITY
    this.#needs.onChange()
  }

  #countFailure(error: unknown): void {
    this.failed_attempts += 1
    this.#failure = codeOf(error)
  }

  #label({ control, limit }: Pick<DeviceRead, 'control' | 'limit'>): Limiter {
    if (!control && !limit) return 'unknown'
    if (!control || !limit) return limit?.limit_w === null ? 'none' : 'unknown'
    const bound_w = limit.limit_w ?? limit.static_max_w
    // What is known of its ceiling may be older, or newer, than this.
    if (bound_w >= Math.max(limit.static_max_w, this.limits.static_max_w)) return 'none'
    return this.limits.limiterOf(bound_w) ?? 'unknown'
  }

  #now(): number {
    return this.#needs.stopwatch.elapsedMs()
  }
}

/** No device is built for no watts, and none is limited to less: such a register says nothing. */
export const isSound = ({ limit_w, static_max_w }: LimitState) =>
  static_max_w > 0 && Number.isFinite(static_max_w) && (limit_w === null || limit_w >= 0)

/** Rejects where its registers make no sense, too. */
async function readSoundLimit(control: LimitControl): Promise<LimitState> {
  const state = await control.readLimit()
  if (isSound(state)) return state
  throw new Error('its registers make no sense')
}

/** `error` is what the write was rejected with; null: it reads back as another. */
export function codeOf(error: unknown): Failure['code'] {
  if (error === null) return 'readback_mismatch'
  if (!(error instanceof BusError)) return 'driver_error'
  if (error.kind === 'exception') return 'device_rejected'
  return error.kind === 'garbled' ? 'driver_error' : 'timeout'
}

function told(code: Failure['code']): string {
  if (code === 'device_rejected') return 'it refuses its limit'
  if (code === 'readback_mismatch') return 'its limit reads back as another'
  if (code === 'timeout') return 'it does not answer when its limit is set'
  return 'its limit cannot be set'
}
