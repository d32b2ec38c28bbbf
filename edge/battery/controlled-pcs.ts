/** One PCS under control: what is read of it, and one thing at a time that is done with it. */
import type { Stopwatch } from '@heliograph/domain/clock'
import { BusError, isRefusal } from '../bus/bus-error.ts'
import { codeOf } from '../control/controlled-device.ts'
import type { PowerControl, PowerState } from '../drivers/power-control.ts'
import { type PcsSource, settableBy } from './pcs-source.ts'

export interface PcsLook {
  /** Another object at each new contact; null: its power cannot be set. */
  control: PowerControl | null
  power: PowerState | null
  /** How old `power` may be. */
  took_ms: number
  /** Measured at its alternating side. */
  power_w: number | null
  /** Its count stands still. */
  is_lost: boolean
  /** It says that it is off, and may start when it is told power. */
  is_off: boolean
  /** Its state or its alarms forbid any power. */
  alarm_code: string | null
}

export interface PcsOrder {
  power_w: number
  /** Asked before it is put on the line. */
  mayStill(): boolean
}

const backoffs_ms = [1000, 2000, 5000, 10_000] as const
const attempts_max = 3
/** One that refused power so often is asked for it again after so long: 0 W is taken by many. */
const rest_ms = 30_000
/** Of its rating: so much the other way is no loss of a converter that stands. */
const contrary_ratio = 0.1
/** Less of that than at the read before, by so much of its rating, is on its way through zero. */
const settling_ratio = 0.01
const contrary_reads = 5
/** From being told power on, a PCS that is off begins to start within this. */
const starting_ms = 60_000
/** One that did not is told again after so long: somebody may have switched it off. */
const off_rest_ms = 300_000

export class ControlledPcs {
  readonly pcs_idx: number
  readonly rated_w: number
  readonly power: PcsSource
  readonly #stopwatch: Stopwatch
  #control: PowerControl | null = null
  #is_armed = false
  #is_working = false
  /** It took the newest setpoint, and has not shown it yet. */
  #is_awaited = false
  #told_w: number | null = null
  /** What it was to be told last, taken or not, and what it held before. */
  #ordered_w: number | null = null
  #held_w: number | null = null
  #written_ms = Number.NEGATIVE_INFINITY
  /** Of the newest setpoint that was not there before. */
  #written: { sent_ms: number | null; taken_ms: number | null } = { sent_ms: null, taken_ms: null }
  #retry_ms = Number.NEGATIVE_INFINITY
  #attempts = 0
  #rests_until_ms = Number.NEGATIVE_INFINITY
  #failure: string | null = null
  #is_failed = false
  #complaints: readonly string[] = []
  readonly #beat = heartbeats()
  /** Reads in a row in which it did the opposite of what it is told. */
  #contrary = 0
  #measured_w = 0
  /** Since when it is off though it is told power. */
  #off_since_ms: number | null = null
  #off_until_ms = Number.NEGATIVE_INFINITY
  #alarm_code: string | null = null

  constructor(
    { pcs_idx, rated_w }: { pcs_idx: number; rated_w: number },
    power: PcsSource,
    stopwatch: Stopwatch,
  ) {
    this.pcs_idx = pcs_idx
    this.rated_w = rated_w
    this.power = power
    this.#stopwatch = stopwatch
  }

  /** What was told last and taken, or what it was found with. */
  get told_w(): number {
    return this.#told_w ?? this.power.state?.setpoint_w ?? 0
  }

  /** When another setpoint was put on the line last, and when it was read back. */
  get written(): { sent_ms: number | null; taken_ms: number | null } {
    return this.#written
  }

  /** The setpoint was refused or not kept again and again: why, in a word. */
  get failure(): string | null {
    return this.#is_failed ? this.#failure : null
  }

  /** What is wrong with what its setpoint falls back on. */
  get complaints(): readonly string[] {
    return this.#complaints
  }

  /** Its state, an alarm of it or what it did forbids any power: why, in a word. */
  get alarm_code(): string | null {
    if (this.#alarm_code !== null) return this.#alarm_code
    if (this.is_contrary) return 'pcs_contrary'
    return this.#now() < this.#off_until_ms ? 'pcs_off' : null
  }

  /** It did the opposite of what it was told, and stands still until it is met anew. */
  get is_contrary(): boolean {
    return this.#contrary >= contrary_reads
  }

  /** What it was read with last says that its setpoint stays where nobody writes any more. */
  get stands(): boolean | null {
    return this.#control && this.#control.traits.stops_after_ms === null
  }

  /** It may be told more than zero. */
  isUsable(now_ms: number): boolean {
    const is_whole = this.#control !== null && this.alarm_code === null
    const is_failing = this.#attempts >= attempts_max || now_ms < this.#rests_until_ms
    return is_whole && this.power.obeys(now_ms) && !is_failing
  }

  /** 0 also where its registers cannot be understood, or would hold more. */
  settable(power_w: number): number {
    return settableBy(this.#control, power_w)
  }

  /** How much more than it is told its registers hold next, on the side of `way`; whole watts. */
  stepFrom(told_w: number, way: 1 | -1): number {
    const held_w = this.settable(told_w)
    const isNext = (more_w: number) => this.settable(told_w + way * more_w) !== held_w
    let least_w = 0
    let most_w = 1
    while (!isNext(most_w)) {
      if (most_w >= this.rated_w) return 0
      least_w = most_w
      most_w *= 2
    }
    while (most_w - least_w > 1) {
      const middle_w = Math.floor((least_w + most_w) / 2)
      if (isNext(middle_w)) most_w = middle_w
      else least_w = middle_w
    }
    return most_w
  }

  onRead({ control, power, took_ms, power_w, is_lost, is_off, alarm_code }: PcsLook): void {
    const now_ms = this.#now()
    if (control !== this.#control) this.#meet(control)
    this.#lookAtSign(power_w)
    this.#lookAtStart(is_off, now_ms)
    this.#alarm_code = alarm_code
    this.power.onHeartbeat(is_lost)
    if (power_w !== null) this.power.onPower(power_w, now_ms)
    if (power) this.#take(power, control, now_ms - took_ms)
  }

  /**
   * A sign that is the wrong way round, of its setpoint or of what it measures, would discharge
   * what is to be charged: beside any permit, and out of any window. That does not pass by itself,
   * so that it stands still until it is met anew.
   */
  #lookAtSign(power_w: number | null): void {
    if (power_w === null || this.is_contrary) return
    const size_w = Math.abs(power_w)
    const is_settling = size_w < Math.abs(this.#measured_w) - settling_ratio * this.rated_w
    this.#measured_w = power_w
    const least_w = contrary_ratio * this.rated_w
    const is_clear = Math.min(size_w, Math.abs(this.told_w)) > least_w && !is_settling
    this.#contrary = is_clear && power_w * this.told_w < 0 ? this.#contrary + 1 : 0
  }

  /**
   * A PCS that stands may say that it is off, and start when it is told power. One that stays off
   * is not told power for long: it would begin with that whenever it is switched on, and the others
   * would wait for it.
   */
  #lookAtStart(is_off: boolean, now_ms: number): void {
    if (!is_off) this.#off_until_ms = Number.NEGATIVE_INFINITY
    this.#off_since_ms = is_off && this.told_w !== 0 ? (this.#off_since_ms ?? now_ms) : null
    if (this.#off_since_ms === null || now_ms - this.#off_since_ms < starting_ms) return
    this.#off_until_ms = now_ms + off_rest_ms
    this.#off_since_ms = null
  }

  onGone(): void {
    this.#control = null
    this.#is_armed = false
    this.#told_w = null
  }

  /** Our sign of life; never rejects. */
  beat(): Promise<void> {
    return this.#beat(this.#control)
  }

  /** Whether there is something to be told, by what it holds and when it would stop by itself. */
  needs(power_w: number): boolean {
    const now_ms = this.#now()
    if (!this.#control || this.#is_working || now_ms < this.#retry_ms) return false
    // After a failure it has to be shown that it takes anything, even what it holds.
    if (!this.#is_armed || this.#attempts > 0) return true
    if (!this.power.isAt(power_w) || this.#told_w !== power_w) return true
    const { stops_after_ms } = this.#control.traits
    return stops_after_ms !== null && now_ms - this.#written_ms >= stops_after_ms / 2
  }

  /** Arms it where it is not, sets the power and reads it back. Never rejects. */
  async carryOut({ power_w, mayStill }: PcsOrder): Promise<void> {
    const control = this.#control
    if (!control || this.#is_working) return
    if (this.#is_awaited) this.#fail('readback_mismatch')
    this.#is_working = true
    let is_sent = false
    let is_done = false
    const is_other = !this.power.isAt(power_w)
    const maySend = () => {
      const may = mayStill()
      if (may && is_other && !is_sent) this.#written = { sent_ms: this.#now(), taken_ms: null }
      is_sent ||= may
      return may
    }
    this.#ordered_w = power_w
    this.#held_w = this.power.state?.setpoint_w ?? null
    this.power.begin(power_w, this.#now())
    try {
      if (!this.#is_armed) await this.#arm(control, power_w)
      await control.writePower(power_w, maySend)
      this.power.done(power_w, this.#now(), true)
      is_done = true
      this.#told_w = power_w
      this.#written_ms = this.#now()
      await this.#readBack(control, power_w)
    } catch (error) {
      const is_overtaken = error instanceof BusError && error.kind === 'overtaken'
      if (!is_sent) this.power.withdraw(power_w)
      else if (!is_done) this.power.done(power_w, this.#now(), false)
      if (!is_overtaken) this.#fail(codeOf(error))
      // One that refuses is there: what it holds is known for sure.
      if (isRefusal(error)) await this.#look(control)
    } finally {
      this.#is_working = false
    }
  }

  /** Zero does not wait for that. */
  async #arm(control: PowerControl, power_w: number): Promise<void> {
    try {
      this.#complaints = await control.arm()
      if (control === this.#control) this.#is_armed = true
    } catch (error) {
      if (power_w !== 0) throw error
    }
  }

  async #look(control: PowerControl): Promise<void> {
    const began_ms = this.#now()
    try {
      const state = await control.readPower()
      if (control === this.#control) this.#take(state, control, began_ms)
    } catch {
      // Then it is silent, which its polls tell.
    }
  }

  async #readBack(control: PowerControl, power_w: number): Promise<void> {
    const began_ms = this.#now()
    const state = await control.readPower()
    if (control !== this.#control) return
    this.#is_awaited = true
    this.#take(state, control, began_ms)
    const { applies_within_ms } = control.traits
    if (state.setpoint_w === power_w) return
    // It may show it later than it took it: that is looked at with the next read.
    if (applies_within_ms > 0) this.#retry_ms = this.#now() + applies_within_ms
    else this.#fail('readback_mismatch')
  }

  #take(state: PowerState, control: PowerControl | null, began_ms: number): void {
    // A poll may have begun before the newest read-back: see the core.
    if (began_ms < (this.power.source.read?.at_ms ?? began_ms)) return
    this.power.onRead(state, control, this.#now(), began_ms)
    if (state.setpoint_w !== this.#ordered_w) return
    // What it held before it refused is nothing that it took.
    if (this.#told_w !== this.#ordered_w && this.#held_w === this.#ordered_w) return
    this.#is_awaited = false
    if (this.#written.sent_ms !== null) this.#written.taken_ms ??= this.#now()
    this.#attempts = 0
    // That it takes 0 W does not say that it takes the power which it refused.
    if (this.#ordered_w === 0 && this.#failure === 'device_rejected') return
    this.#is_failed = false
    this.#rests_until_ms = Number.NEGATIVE_INFINITY
  }

  #fail(code: string): void {
    this.#is_awaited = false
    this.#failure = code
    this.#attempts += 1
    this.#is_failed ||= this.#attempts >= attempts_max
    if (this.#is_failed && this.#ordered_w !== 0) this.#rests_until_ms = this.#now() + rest_ms
    const nth = Math.min(this.#attempts, backoffs_ms.length) - 1
    this.#retry_ms = this.#now() + backoffs_ms[nth]!
  }

  #meet(control: PowerControl | null): void {
    this.#control = control
    this.#is_armed = false
    this.#told_w = null
    this.#contrary = 0
    this.#is_awaited = false
    this.#retry_ms = Number.NEGATIVE_INFINITY
  }

  #now(): number {
    return this.#stopwatch.elapsedMs()
  }
}

/** Signs of life to a device: none while the last is on its way. Never rejects. */
export function heartbeats(): (device: { beat(): Promise<void> } | null) => Promise<void> {
  let is_beating = false
  return async (device) => {
    if (is_beating || !device) return
    is_beating = true
    try {
      await device.beat()
    } catch {
      // A device that does not answer is the business of its polls.
    } finally {
      is_beating = false
    }
  }
}
