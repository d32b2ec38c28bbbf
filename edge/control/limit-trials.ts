/**
 * Trial of a limit on one device at commissioning. A trial is a request for less power, like that
 * of the closed loop: the core decides under permit, orders and external limits as always, and the
 * request can lift no device. Meanwhile no other device is requested more than it holds, so that
 * the others do not rise into what the trial leaves. The request ends with its author, with news
 * from the server, with another permit or site file, when an order begins or ends, or after five
 * minutes; a restart forgets it.
 */
import type { Stopwatch } from '@heliograph/domain/clock'
import type { CurtailmentRow } from '@heliograph/domain/curtailment'
import type { Noted } from './control-entry.ts'
import type { ControlledPlants, Plant } from './controlled-plants.ts'
import { settable } from './core/core.ts'
import { nameOf } from './device-name.ts'
import { isSamePermit, type Permit } from './permit-terms.ts'

/** From the begin of a trial until its request ends by itself. */
export const trial_ms_max = 300_000

interface TrialsNeeds {
  stopwatch: Stopwatch
  plants: Pick<ControlledPlants, 'all' | 'device' | 'of' | 'isKnown' | 'exceededBeside'>
  /** Why nothing may be raised in a plant; null: it may be. */
  refusalOf(plant: Plant): string | null
  /** Each device of a plant holds what it is to have by the newest decision. */
  isSettled(logger_id: number): boolean
  /** What a device is to have by the newest decision; null: not known. */
  targetOf(inverter_id: number): number | null
  note(entry: Noted): void
  /** Requests are others than before. */
  onChange(): void
}

/** What the edge knows of a device, in watts and ms. */
export interface TrialView {
  /** Why no limit can be tried on the device now; null: one can. */
  refusal: string | null
  rated_w: number
  /** The least limit above 0 that the device accepts. */
  min_limit_w: number
  /** The rounding of the device: what it shows may differ by that from a command. */
  tolerance_w: number
  /** As its registers were read; null before the first read. */
  bound_w: number | null
  /** The limit that the device is to have by the newest decision; null: not known. */
  target_w: number | null
  /** Why the registers hold another limit than was set, beyond any rounding; null: they do not. */
  not_as_set: string | null
  /** As measured last; null while no fresh value is there. */
  power_w: number | null
  /** The longest times that are declared: until a command takes effect, and until power follows. */
  latency_ms: number
  ramp_ms: number
}

export interface LimitTrial {
  /** What the registers let the device deliver before. */
  readonly found_w: number
  /** Why the trial is over; null: it goes on. */
  readonly over: string | null
  /** From now on the device is requested what it had. */
  giveBack(): void
  end(): void
}

interface Running extends LimitTrial {
  inverter_id: number
  begun_ms: number
  over: string | null
  terms: Terms
  is_lowering: boolean
  /** By inverter_id: the most that each device is requested. */
  most_w: Map<number, number>
}

/** What all devices are held to. */
interface Terms {
  permit: Permit | null
  /** The orders in force. */
  orders: readonly CurtailmentRow[]
}

export class LimitTrials {
  readonly #needs: TrialsNeeds
  #running: Running | null = null
  #terms: Terms = { permit: null, orders: [] }

  constructor(needs: TrialsNeeds) {
    this.#needs = needs
  }

  get is_running(): boolean {
    return this.#running !== null
  }

  /** Null where the site has no such device. */
  look(inverter_id: number): TrialView | null {
    const device = this.#needs.plants.device(inverter_id)
    if (!device) return null
    const { limits, power, not_as_set } = device
    const { latency_ms, ramp_ms, smallest_limit_w, tolerance_w } = limits.source
    return {
      refusal: this.#refusalOf(inverter_id),
      rated_w: limits.facts.rated_w,
      min_limit_w: smallest_limit_w,
      tolerance_w,
      bound_w: limits.bound_w,
      target_w: this.#needs.targetOf(inverter_id),
      not_as_set,
      power_w: power?.power_w ?? null,
      latency_ms,
      ramp_ms,
    }
  }

  /** Control holds the device to less than its share for a trial. */
  lowers(inverter_id: number): boolean {
    return this.#running?.inverter_id === inverter_id && this.#running.is_lowering
  }

  /** At each tick, before the decision. */
  onTerms(terms: Terms, now_ms: number): void {
    this.#terms = terms
    const running = this.#running
    if (!running) return
    if (now_ms - running.begun_ms >= trial_ms_max) this.end('its time was over')
    else if (!isSame(running.terms, terms)) this.end('the permit or the orders in force changed')
  }

  /** @throws Error with the reason why the limit is not tried */
  begin(inverter_id: number, limit_w: number, asked_by: string): LimitTrial {
    const { plants, stopwatch, targetOf, note, onChange } = this.#needs
    const refusal = this.#refusalOf(inverter_id)
    if (refusal !== null) throw new Error(refusal)
    const { limits } = plants.device(inverter_id)!
    const found_w = limits.bound_w!
    // A device that rounds up shows more than its command, so the target counts.
    const target_w = targetOf(inverter_id) ?? found_w
    if (!(limit_w >= 0 && limit_w < found_w)) {
      throw new Error('a limit that is tried must be below the one that holds')
    }
    if (limit_w > 0 && settable(limits.source, limit_w) === 0) {
      throw new Error('the device accepts no limit that low above 0')
    }
    const most_w = new Map<number, number>()
    for (const { devices } of plants.all) {
      for (const { inverter_id: id, limits } of devices) {
        const held_w = targetOf(id) ?? limits.bound_w
        if (held_w !== null) most_w.set(id, held_w)
      }
    }
    most_w.set(inverter_id, Math.floor(limit_w))
    const running: Running = {
      inverter_id,
      begun_ms: stopwatch.elapsedMs(),
      found_w,
      over: null,
      terms: this.#terms,
      is_lowering: true,
      most_w,
      giveBack() {
        running.is_lowering = false
        most_w.set(inverter_id, target_w)
        onChange()
      },
      end: () => this.#end(running, 'it was ended'),
    }
    this.#running = running
    note({ is: 'trial', inverter_id, limit_w: Math.floor(limit_w), asked_by })
    onChange()
    return running
  }

  /** Ends the trial, if there is one. */
  end(reason: string): void {
    if (this.#running) this.#end(this.#running, reason)
  }

  /** The requests of a plant, lowered by the trial. */
  lowered(
    { devices }: Pick<Plant, 'devices'>,
    most_w: ReadonlyMap<number, number> | null,
  ): ReadonlyMap<number, number> | null {
    if (!this.#running) return most_w
    const lowered = new Map(most_w)
    for (const { inverter_id } of devices) {
      const held_w = this.#running.most_w.get(inverter_id)
      if (held_w === undefined) continue
      lowered.set(inverter_id, Math.min(held_w, most_w?.get(inverter_id) ?? held_w))
    }
    return lowered
  }

  #end(running: Running, reason: string): void {
    if (this.#running !== running) return
    this.#running = null
    running.over = reason
    const { inverter_id } = running
    this.#needs.note({ is: 'trial', inverter_id, limit_w: null, asked_by: null })
    this.#needs.onChange()
  }

  #refusalOf(inverter_id: number): string | null {
    const { plants, stopwatch, refusalOf, isSettled } = this.#needs
    const now_ms = stopwatch.elapsedMs()
    if (this.#running) return `a limit is being tried at ${nameOf(this.#running.inverter_id)}`
    const device = plants.device(inverter_id)
    if (!device) return 'the site has no such device'
    const { limits, has_control, is_busy, logger_id } = device
    if (!limits.isFresh(now_ms)) return 'its limit was not read lately'
    if (!has_control) return 'it cannot be limited'
    if (limits.has_external) return 'another controller limits it'
    if (is_busy || !limits.is_proven || !limits.obeys(now_ms)) {
      return 'it does not hold its last command yet'
    }
    // A device that is lowered there could not be raised again.
    const refusal = refusalOf(plants.of(logger_id)!)
    if (refusal !== null) return refusal
    if (plants.all.some((plant) => !plants.isKnown(plant, now_ms))) {
      return 'not every device was read since the start'
    }
    if (!isSettled(logger_id)) return 'not every device holds what it is to have yet'
    const group = plants.exceededBeside(inverter_id, now_ms)
    return group === null ? null : `nothing may be raised in ${group} now`
  }
}

const isSame = (before: Terms, { permit, orders }: Terms): boolean =>
  isSamePermit(before.permit, permit) &&
  orders.length === before.orders.length &&
  orders.every((order, nth) => order === before.orders[nth])
