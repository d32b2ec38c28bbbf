/** One device in the poll loop: found when needed, read at each tick, and known to be gone. */

import type { Stopwatch } from '@heliograph/domain/clock'
import type { CommState, DeviceKind, DeviceStatus, LinkEvent } from '@heliograph/domain/link'
import { ComplaintWatch } from './complaint-watch.ts'
import { type Conditions, onceEvent } from './conditions.ts'
import type { Answer, Device, DeviceIdentity } from './drivers/driver.ts'
import type { Log } from './log.ts'
import type { Stamp, Stamps } from './plant-clock.ts'

export type PollResult = 'ok' | 'failed' | 'skipped'

export interface Poll {
  /** Unix ms: the instant of the poll grid for which the device was polled. */
  round_at: number
  /** How old the oldest value may be. */
  took_ms: number
}

interface PolledDeviceNeeds<Of> {
  kind: DeviceKind
  id: string
  interval_ms: number
  open(): Promise<Device<Of>>
  /** Takes what was read, and gives the events that follow from it. */
  onRead(values: Of, stamp: Stamp, poll: Poll): readonly LinkEvent[]
  onEvent(event: LinkEvent | null): void
  onCommState(state: CommState): void
  onPoll(result: PollResult, took_ms: number): void
  conditions: Conditions
  stamps: Stamps
  stopwatch: Stopwatch
  log: Log
}

/** A device is offline after so many failed polls, and not within so long of polling. */
const misses_max = 3
const offline_ms_min = 10_000
/**
 * An offline device is looked for at least this often; one that control may command sooner, for
 * until then it is counted with all that it could deliver, and others make room for that.
 */
const search_ms_max = 30_000
const search_ms_max_controlled = 10_000
const controlled_kinds: readonly DeviceKind[] = ['inverter', 'logger', 'bess', 'pcs']

/** All waiting is counted in polls: the clock may step. */
function missesUntilOffline(interval_ms: number): number {
  return Math.max(misses_max, Math.ceil(offline_ms_min / interval_ms))
}

/** Polls to let pass, after which it is looked for again. */
function restsMax(kind: DeviceKind, interval_ms: number): number {
  const is_controlled = controlled_kinds.includes(kind)
  const search_ms = is_controlled ? search_ms_max_controlled : search_ms_max
  return Math.max(0, Math.floor(search_ms / interval_ms) - 1)
}

export class PolledDevice<Of> {
  readonly #needs: PolledDeviceNeeds<Of>
  readonly #source: { source_kind: DeviceKind; source_id: string }
  readonly #complaints: ComplaintWatch
  #device: Device<Of> | null = null
  /** What the device was logged to lack since it was opened. */
  #missing = ''
  #identity: DeviceIdentity | null
  #busy = false
  #stopped = false
  #misses = 0
  /** Polls to let pass before an offline device is looked for again. */
  #polls_to_rest = 0
  #comm_state: CommState = 'unknown'
  #since: number
  #last_ok_at: number | null = null
  #error: string | null = null

  constructor(needs: PolledDeviceNeeds<Of>) {
    this.#needs = needs
    this.#source = { source_kind: needs.kind, source_id: needs.id }
    // A device that is silent since the start is still the one that was here before.
    this.#identity = needs.conditions.identityOf(this.#source)
    this.#since = this.#stampedAt()
    this.#complaints = new ComplaintWatch(this.#source, needs.conditions, this.#since)
  }

  /**
   * Reads the device unless the last poll is still under way; never waits, never throws.
   * @param round_at Unix ms: the instant of the poll grid
   */
  poll(round_at: number): void {
    if (this.#stopped) return
    if (this.#busy) {
      this.skip(1)
      return
    }
    if (this.#polls_to_rest > 0) {
      this.#polls_to_rest -= 1
      return
    }
    this.#busy = true
    void this.#read(round_at).finally(() => {
      this.#busy = false
    })
  }

  /** Polls that were due and did not come. */
  skip(count: number): void {
    for (let nth = 0; nth < count; nth += 1) this.#needs.onPoll('skipped', 0)
  }

  /** What is still under way is not heeded any more. */
  stop(): void {
    this.#stopped = true
  }

  status(): DeviceStatus {
    return {
      kind: this.#needs.kind,
      id: this.#needs.id,
      comm_state: this.#comm_state,
      since: this.#since,
      last_ok_at: this.#last_ok_at,
      error: this.#error?.slice(0, 500) ?? null,
      identity: this.#identity,
    }
  }

  async #read(round_at: number): Promise<void> {
    const began_ms = this.#now()
    const took = () => this.#now() - began_ms
    try {
      this.#device ??= await this.#open()
      const answer = await this.#device.read()
      if (this.#stopped) return
      this.#succeed(answer, { round_at, took_ms: took() })
      this.#needs.onPoll('ok', took())
    } catch (error) {
      if (this.#stopped) return
      this.#fail(error as Error)
      this.#needs.onPoll('failed', took())
    }
  }

  async #open(): Promise<Device<Of>> {
    const device = await this.#needs.open()
    this.#missing = ''
    if (!this.#stopped) this.#identify(device.identity)
    return device
  }

  #identify(identity: DeviceIdentity): void {
    const { conditions, onEvent, kind, id } = this.#needs
    const before = conditions.identityOf(this.#source)
    const names = Object.keys(identity) as (keyof DeviceIdentity)[]
    const changed = names.filter((name) => before && before[name] !== identity[name])
    this.#identity = identity
    if (before && changed.length === 0) return
    conditions.rememberIdentity(this.#source, identity)
    if (!before) return
    const condition = {
      ...this.#source,
      code: 'device_identity_changed',
      severity: 'warning',
    } as const
    const what = changed.map((name) => `${name} ${before[name]} is now ${identity[name]}`)
    const message = `${kind} ${id} is another than before: ${what.join(', ')}`
    onEvent(
      onceEvent(condition, {
        at: this.#stampedAt(),
        message,
        details: { before, after: identity },
      }),
    )
  }

  #succeed({ values, complaints, missing = [] }: Answer<Of>, poll: Poll): void {
    const { onEvent, onRead, conditions, kind, id } = this.#needs
    this.#logMissing(missing)
    const stamp = this.#needs.stamps.stamp()
    const at = stamp.measured_at
    for (const event of onRead(values, stamp, poll)) onEvent(event)
    for (const event of this.#complaints.poll(complaints, at)) onEvent(event)
    this.#misses = 0
    this.#last_ok_at = at
    this.#error = null
    const message = `${kind} ${id} answers again`
    onEvent(conditions.fall(this.#source, 'device_offline', { at, message }))
    this.#turn('connected', at)
  }

  #logMissing(missing: readonly string[]): void {
    const { kind, id, log } = this.#needs
    const before = this.#missing
    this.#missing = missing.join(', ')
    if (missing.length === 0 || this.#missing === before) return
    log.warn({ kind, id, missing }, 'the device refuses these registers: their values are null')
  }

  #fail(error: Error): void {
    const { interval_ms, log, kind, id } = this.#needs
    const at = this.#stampedAt()
    this.#misses += 1
    this.#error = error.message
    log.debug({ kind, id, misses: this.#misses, reason: error.message }, 'poll failed')
    const misses_beyond = this.#misses - missesUntilOffline(interval_ms)
    if (misses_beyond < 0) return
    // What answers next may be another device: it is identified anew.
    this.#device = null
    const rests = 2 ** Math.min(misses_beyond, 20)
    this.#polls_to_rest = Math.min(rests, restsMax(kind, interval_ms))
    this.#turn('disconnected', at)
    this.#tellOffline(at)
  }

  #tellOffline(at: number): void {
    const { onEvent, conditions, kind, id } = this.#needs
    const condition = { ...this.#source, code: 'device_offline', severity: 'major' } as const
    const details = { error: this.#error, misses: this.#misses, last_ok_at: this.#last_ok_at }
    const message = `${kind} ${id} does not answer: ${this.#error}`
    onEvent(conditions.rise(condition, { at, message, details }))
  }

  #turn(comm_state: CommState, at: number): void {
    if (this.#comm_state === comm_state) return
    this.#comm_state = comm_state
    this.#since = at
    this.#needs.onCommState(comm_state)
  }

  #stampedAt(): number {
    return this.#needs.stamps.stamp().measured_at
  }

  #now(): number {
    return this.#needs.stopwatch.elapsedMs()
  }
}
