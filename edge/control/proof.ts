/**
 * Holds the control log against the permit, from what was written down as it happened: whether what
 * the devices' limits allowed, and what they delivered, ever exceeded it. Pure: entry by entry.
 * Plants and the batteries beside them are one sum.
 */
import { quarter_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import type { ControlEntry, RoundEntry } from './control-entry.ts'
import type { Period } from './control-log-file.ts'
import { ControlState } from './control-state.ts'
import { type ListedPcs, type PcsKey, pcsId } from './device-name.ts'
import type { MeasuredPower } from './power-rounds.ts'
import { sum } from './sum.ts'

export type Cause = 'write' | 'device' | 'silence' | 'permit' | 'site' | 'unknown'

interface Excess {
  from_at: number
  /** null: still so at the end. */
  to_at: number | null
  /** null: of the common connection. */
  logger_id: number | null
  permit_w: number
}

/** More was allowed than permitted. */
export interface Overstep extends Excess {
  cause: Cause
  inverter_id: number | null
  /** Where a PCS is the cause: `1.0`. */
  pcs_id?: string
  allowed_max_w: number
}

/** More was measured than permitted, other than while coming down. */
interface Overpower extends Excess {
  power_max_w: number
}

/** What was measured may come to more than was permitted, and need not. */
interface PossibleExcess extends Excess {
  /** A poll round did not measure each device. */
  why: 'incomplete'
  /** In the round with the highest bound. null: nothing was measured in one round. */
  power_w: number | null
  at_most_w: number
}

export interface LogGap extends Period {
  why: 'stopped' | 'ended' | 'silent' | 'lost' | 'clock' | 'no log'
  what: string
}

export interface Verdict {
  /** broken: an instant exceeded the permit. incomplete: none did that the log tells of. */
  is: 'kept' | 'incomplete' | 'broken'
  oversteps: Overstep[]
  /** Short times after the permit became known, or lower: no device can follow at once. */
  coming_down: Overstep[]
  overpowers: Overpower[]
  possible_excesses: PossibleExcess[]
  gaps: LogGap[]
  /** Plants of which no permit was known at some time. */
  without_permit: number[]
  entry_count: number
  orders: number
  /** By device: registers wear out. */
  device_orders: DeviceOrders[]
  failed_orders: number
  read_backs: number
}

interface DeviceOrders {
  inverter_id: number
  orders: number
  /** On the day (UTC) with the most of the period. */
  day_max: number
}

/** Power is noted each minute, and without a poll round each 130 s. */
const gap_ms = 150_000
/** Entries of one second may stand in another order than their stamps. */
const clock_ms = 1000
const tolerance_ratio = 0.01
/** So long after the permit became known, or lower, more is no fault. */
export const coming_down_ms = 10_000
/** After these what is permitted, or of what it is the sum, is another. */
const hasTerms = new Set<ControlEntry['is']>(['site', 'permit', 'permit_file', 'carried', 'sun'])

/** After these the same devices may deliver something else. */
const hasSums = new Set<ControlEntry['is']>(['site', 'carried', 'sun'])

export class Proof {
  readonly #period: Period
  /** Unix ms: what is later cannot have been written yet. */
  readonly #now: number
  readonly #state = new ControlState()
  /** By logger_id, and of all (null): what the devices may deliver by what is known of them. */
  readonly #allowed_w = new Map<number | null, number>()
  readonly #oversteps = new Map<number | null, Overstep>()
  readonly #overpowers = new Map<number | null, Overpower>()
  readonly #possible = new Map<number | null, PossibleExcess>()
  /** By logger_id, and of all (null): the permit, and when it became known or lower. */
  readonly #permits = new Map<number | null, { permit_w: number | null; lower_at: number }>()
  readonly #quarters: PowerQuarters
  readonly #without_permit = new Set<number>()
  /** By inverter_id and by day. */
  readonly #device_orders = new Map<number, Map<string, number>>()
  readonly #told: Omit<Verdict, 'is' | 'without_permit' | 'coming_down' | 'device_orders'> = {
    oversteps: [],
    overpowers: [],
    possible_excesses: [],
    gaps: [],
    entry_count: 0,
    orders: 0,
    failed_orders: 0,
    read_backs: 0,
  }
  #last: ControlEntry | null = null
  /** By inverter_id, of the newest `site`. */
  #inverters = new Map<number, ListedInverter & { logger_id: number }>()

  constructor(period: Period, now: number, onQuarter: (quarter: PowerQuarter) => void = () => {}) {
    this.#period = period
    this.#now = now
    this.#quarters = new PowerQuarters(onQuarter)
  }

  get state(): ControlState {
    return this.#state
  }

  /** Entries in the order in which they were written; whether it is one to tell of. */
  take(entry: ControlEntry): boolean {
    if (entry.at >= this.#period.to_at) return false
    const is_told = entry.at >= this.#period.from_at && entry.is !== 'carried'
    if (is_told) this.#count(entry)
    // What a file and a run begin with tells nothing of since when the agent runs.
    if (entry.is !== 'carried' && entry.is !== 'site') {
      if (entry.at >= this.#period.from_at) this.#lookForGap(entry)
      this.#last = entry
    }
    if ('inverter_id' in entry || 'pcs_idx' in entry) this.#takeOfDevice(entry)
    else {
      this.#state.take(entry)
      if (entry.is === 'round') this.#measureRound(entry)
      const plants = entry.is === 'round' && is_told ? entry.plants : []
      for (const plant of plants) this.#noteMissingPermit(plant)
      if (hasSums.has(entry.is)) this.#sumUp()
      if (hasTerms.has(entry.is)) this.#weighAll(entry)
    }
    return is_told
  }

  end(): Verdict {
    this.#quarters.end()
    const { from_at } = this.#period
    const to_at = Math.min(this.#period.to_at, this.#now)
    const last_at = this.#last?.at ?? from_at
    if (to_at - Math.max(last_at, from_at) > gap_ms) this.#gap(this.#whySilent(), last_at, to_at)
    for (const plant of this.#state.site?.plants ?? []) this.#noteMissingPermit(plant)
    const isOfPeriod = ({ to_at: end_at }: { to_at: number | null }) => (end_at ?? to_at) > from_at
    const isComingDown = ({ cause, from_at: since_at, to_at: end_at }: Overstep) =>
      cause === 'permit' && (end_at ?? to_at) - since_at <= coming_down_ms
    const all = this.#told.oversteps.filter(isOfPeriod)
    const oversteps = all.filter((overstep) => !isComingDown(overstep))
    const coming_down = all.filter(isComingDown)
    const overpowers = this.#told.overpowers.filter(isOfPeriod)
    const possible_excesses = this.#told.possible_excesses.filter(isOfPeriod)
    const without_permit = [...this.#without_permit]
    const doubts = [...this.#told.gaps, ...without_permit, ...possible_excesses]
    const is_complete = doubts.length === 0
    const is_broken = oversteps.length + overpowers.length > 0
    const is = is_broken ? 'broken' : is_complete ? 'kept' : 'incomplete'
    const device_orders = this.#ordersByDevice()
    const excesses = { oversteps, coming_down, overpowers, possible_excesses }
    return { is, ...this.#told, device_orders, ...excesses, without_permit }
  }

  /** The most on a day first. */
  #ordersByDevice(): DeviceOrders[] {
    return [...this.#device_orders]
      .map(([inverter_id, by_day]) => {
        const counts = [...by_day.values()]
        return { inverter_id, orders: sum(counts), day_max: Math.max(...counts) }
      })
      .sort((a, b) => b.day_max - a.day_max || a.inverter_id - b.inverter_id)
  }

  #count(entry: ControlEntry): void {
    this.#told.entry_count += 1
    if (entry.is === 'order') this.#countOrder(entry, 1)
    if (entry.is === 'pcs_order') this.#told.orders += 1
    if (entry.is === 'unsent') this.#countOrder(entry, -1)
    if (entry.is === 'answer' && entry.error !== null) this.#told.failed_orders += 1
    const is_read = (entry.is === 'answer' || entry.is === 'limit') && entry.found
    if (is_read || (entry.is === 'pcs' && entry.obeys !== 'silent')) this.#told.read_backs += 1
  }

  #countOrder({ inverter_id, at }: { inverter_id: number; at: number }, more: 1 | -1): void {
    this.#told.orders = Math.max(0, this.#told.orders + more)
    const by_day = this.#device_orders.get(inverter_id) ?? new Map<string, number>()
    this.#device_orders.set(inverter_id, by_day)
    const day = utcDate(at)
    by_day.set(day, Math.max(0, (by_day.get(day) ?? 0) + more))
  }

  #lookForGap(entry: ControlEntry): void {
    const { at } = entry
    const last_at = this.#last?.at ?? this.#period.from_at
    const is_first = this.#last === null
    if (entry.is === 'started' && !is_first) {
      this.#gap(this.#last?.is === 'stopped' ? 'stopped' : 'ended', last_at, at)
    } else if (at - Math.max(last_at, this.#period.from_at) > gap_ms) {
      this.#gap(this.#whySilent(), last_at, at)
    } else if (at < last_at - clock_ms) this.#gap('clock', at, last_at)
    if (entry.is === 'lost') {
      this.#gap('lost', last_at, at, `${entry.entries} entries could not be written`)
    }
  }

  #whySilent(): 'stopped' | 'silent' | 'no log' {
    if (this.#last === null) return 'no log'
    return this.#last.is === 'stopped' ? 'stopped' : 'silent'
  }

  #gap(why: LogGap['why'], from_at: number, to_at: number, what = gapWords[why]): void {
    // One that is over as the period begins is none of it; what was lost may be of the instant.
    if (to_at <= this.#period.from_at && why !== 'lost') return
    this.#told.gaps.push({ why, from_at: Math.max(from_at, this.#period.from_at), to_at, what })
  }

  /** One device may be listed more than once: at the connections that it left as well. */
  #takeOfDevice(entry: ControlEntry): void {
    const inverter = 'inverter_id' in entry ? this.#inverters.get(entry.inverter_id) : undefined
    const all_pcs = 'pcs_idx' in entry ? this.#listed(entry) : []
    const parts = () => [
      ...(inverter ? [[inverter.logger_id, worstOfInverter(this.#state, inverter)] as const] : []),
      ...all_pcs.map((pcs) => [pcs.logger_id, worstOfPcs(this.#state, pcs)] as const),
    ]
    const before = parts()
    this.#state.take(entry)
    for (const [nth, [logger_id, worst_w]] of parts().entries()) {
      const more_w = worst_w - before[nth]![1]
      if (more_w === 0) continue
      for (const id of new Set([logger_id, null])) {
        this.#allowed_w.set(id, (this.#allowed_w.get(id) ?? 0) + more_w)
        this.#weigh(id, entry, more_w > 0)
      }
    }
  }

  #listed({ bess_id, pcs_idx }: PcsKey): ListedPcs[] {
    const { pcs: all = [] } = this.#state.site ?? {}
    return all.filter((pcs) => pcs.bess_id === bess_id && pcs.pcs_idx === pcs_idx)
  }

  #sumUp(): void {
    const { plants = [], pcs: all_pcs = [] } = this.#state.site ?? {}
    this.#inverters = new Map()
    this.#allowed_w.clear()
    let all_w = 0
    const add = (logger_id: number | null, worst_w: number) => {
      all_w += worst_w
      if (logger_id === null) return
      this.#allowed_w.set(logger_id, (this.#allowed_w.get(logger_id) ?? 0) + worst_w)
    }
    for (const { logger_id, inverters } of plants) {
      this.#allowed_w.set(logger_id, 0)
      for (const inverter of inverters) {
        this.#inverters.set(inverter.inverter_id, { logger_id, ...inverter })
        add(logger_id, worstOfInverter(this.#state, inverter))
      }
    }
    for (const pcs of all_pcs) add(pcs.logger_id, worstOfPcs(this.#state, pcs))
    this.#allowed_w.set(null, all_w)
  }

  #permitOf(logger_id: number | null): number | null {
    const permit = this.#state.permit_file ?? this.#state.permit
    if (logger_id === null) return permit?.site_w ?? null
    return permit?.plants.find((plant) => plant.logger_id === logger_id)?.permit_w ?? null
  }

  #weighAll(entry: ControlEntry): void {
    for (const logger_id of this.#allowed_w.keys()) {
      this.#notePermit(logger_id, entry)
      this.#weigh(logger_id, entry, false)
    }
    // Of a plant that is no more.
    for (const [logger_id, open] of this.#oversteps) {
      if (this.#allowed_w.has(logger_id)) continue
      open.to_at = entry.at
      this.#oversteps.delete(logger_id)
    }
  }

  #notePermit(logger_id: number | null, { is, at }: ControlEntry): void {
    const permit_w = this.#permitOf(logger_id)
    const before = this.#permits.get(logger_id) ?? { permit_w: null, lower_at: -coming_down_ms }
    const is_lower = permit_w !== null && permit_w < (before.permit_w ?? Number.POSITIVE_INFINITY)
    const is_news = is_lower && (is === 'permit' || is === 'permit_file')
    this.#permits.set(logger_id, { permit_w, lower_at: is_news ? at : before.lower_at })
  }

  #noteMissingPermit({ logger_id }: { logger_id: number }): void {
    if (this.#permitOf(logger_id) === null) this.#without_permit.add(logger_id)
  }

  #weigh(logger_id: number | null, entry: ControlEntry, is_more: boolean): void {
    const allowed_w = this.#allowed_w.get(logger_id) ?? 0
    const permit_w = this.#permitOf(logger_id)
    const open = this.#oversteps.get(logger_id)
    if (permit_w === null || allowed_w <= permit_w) {
      if (open) open.to_at = entry.at
      this.#oversteps.delete(logger_id)
      return
    }
    const by: Pick<Overstep, 'cause' | 'inverter_id' | 'pcs_id'> = {
      cause: this.#causeOf(entry),
      inverter_id: 'inverter_id' in entry ? entry.inverter_id : null,
      ...('pcs_idx' in entry && { pcs_id: pcsId(entry) }),
    }
    if (open) {
      open.allowed_max_w = Math.max(open.allowed_max_w, allowed_w)
      // Whatever it was that began it: a raise of ours while it holds is the worse fault.
      // What is coming down, and then goes up, is not coming down.
      if (is_more && (by.cause === 'write' || open.cause === 'permit')) Object.assign(open, by)
      return
    }
    const of = { logger_id, permit_w, allowed_max_w: allowed_w }
    const overstep: Overstep = { from_at: entry.at, to_at: null, ...of, ...by }
    this.#oversteps.set(logger_id, overstep)
    this.#told.oversteps.push(overstep)
  }

  #causeOf(entry: ControlEntry): Cause {
    const { is } = entry
    if (is === 'order' || is === 'pcs_order') return 'write'
    if (is === 'pcs') return entry.obeys === 'silent' ? 'silence' : 'device'
    if (is === 'gone' || is === 'sun') return 'silence'
    if (is === 'limit' || is === 'answer') return 'device'
    if (is === 'permit' || is === 'permit_file') return 'permit'
    return is === 'site' ? 'site' : 'unknown'
  }

  /** What was measured in one poll round: what it proves, and what it leaves open. */
  #measureRound({ plants, batteries, at }: RoundEntry): void {
    const alone = batteries
      .filter(({ logger_id }) => logger_id === null)
      .map(({ power_w, at_most_w }) => {
        const discharge_w = power_w === null ? null : Math.max(0, power_w)
        return { power_w: discharge_w, ...(at_most_w !== undefined && { at_most_w }) }
      })
    for (const plant of plants) {
      this.#holdAgainst(plant.logger_id, boundsOf([plant]), at)
    }
    this.#holdAgainst(null, boundsOf([...plants, ...alone]), at)
    if (at < this.#period.from_at) return
    for (const { logger_id, ...measured } of plants) {
      this.#quarters.add({ logger_id, permit_w: this.#permitOf(logger_id) }, measured, at)
    }
    for (const { logger_id, bess_id, ...measured } of batteries) {
      this.#quarters.add({ logger_id, bess_id, permit_w: null }, measured, at)
    }
  }

  /** Accuses only of what was measured in one round; what goes beyond that is possible. */
  #holdAgainst(logger_id: number | null, { power_w, at_most_w }: Bounds, at: number): void {
    const permit_w = this.#permitOf(logger_id)
    const isAbove = (one_w: number | null) =>
      permit_w !== null && one_w !== null && one_w > permit_w * (1 + tolerance_ratio)
    const { lower_at = -coming_down_ms } = this.#permits.get(logger_id) ?? {}
    const is_coming_down = at - lower_at < coming_down_ms
    const since = { from_at: at, to_at: null, logger_id, permit_w: permit_w ?? 0 }

    const is_proven = isAbove(power_w)
    const overpower = openIn(this.#overpowers, logger_id, is_proven, at)
    if (overpower) overpower.power_max_w = Math.max(overpower.power_max_w, power_w!)
    else if (is_proven && !is_coming_down) {
      const found = { ...since, power_max_w: power_w! }
      this.#overpowers.set(logger_id, found)
      this.#told.overpowers.push(found)
    }

    const is_possible = isAbove(at_most_w) && !is_proven
    const possible = openIn(this.#possible, logger_id, is_possible, at)
    const bounds = { why: 'incomplete', power_w, at_most_w } as const
    if (possible && possible.at_most_w < bounds.at_most_w) Object.assign(possible, bounds)
    else if (!possible && is_possible && !is_coming_down) {
      const found = { ...since, ...bounds }
      this.#possible.set(logger_id, found)
      this.#told.possible_excesses.push(found)
    }
  }
}

/** The least (null: unknown) and the most that may have been fed in. */
type Bounds = Pick<PossibleExcess, 'power_w' | 'at_most_w'>

function boundsOf(parts: readonly MeasuredPower[]): Bounds {
  const known = parts.filter(({ power_w }) => power_w !== null)
  return {
    power_w: known.length === 0 ? null : sum(known, ({ power_w }) => power_w!),
    at_most_w: sum(parts, ({ power_w, at_most_w }) => at_most_w ?? power_w ?? 0),
  }
}

/** What is open there and goes on; what does not is closed. */
function openIn<Of extends Excess>(
  all: Map<number | null, Of>,
  logger_id: number | null,
  goes_on: boolean,
  at: number,
): Of | undefined {
  const open = all.get(logger_id)
  if (!open || goes_on) return open
  open.to_at = at
  all.delete(logger_id)
  return undefined
}

const gapWords: Readonly<Record<LogGap['why'], string>> = {
  stopped: 'the agent was stopped',
  ended: 'the agent ended without being stopped',
  silent: 'nothing was written: the agent was not running, or its disk took nothing',
  lost: 'entries could not be written',
  clock: 'the clock was set back, so that this time is told twice',
  'no log': 'there is no log of this time',
}

/** Measured power of a quarter of an hour. */
export interface PowerQuarter {
  from_at: number
  /** Of a battery, its connection; null: the common one. */
  logger_id: number | null
  /** Where it is of a battery: of that alone. */
  bess_id?: number
  samples: number
  /** Further poll rounds that did not measure all of it: their part counts in `max_w` alone. */
  incomplete: number
  min_w: number | null
  max_w: number | null
  /** Of the plant; of a battery null, which has none of its own. */
  permit_w: number | null
}

type Of = Pick<PowerQuarter, 'logger_id' | 'bess_id' | 'permit_w'>

class PowerQuarters {
  readonly #onQuarter: (quarter: PowerQuarter) => void
  readonly #open = new Map<string, PowerQuarter>()

  constructor(onQuarter: (quarter: PowerQuarter) => void) {
    this.#onQuarter = onQuarter
  }

  add(of: Of, { power_w, at_most_w }: MeasuredPower, at: number): void {
    const from_at = Math.floor(at / quarter_ms) * quarter_ms
    const key = of.bess_id === undefined ? `plant ${of.logger_id}` : `battery ${of.bess_id}`
    let quarter = this.#open.get(key)
    if (quarter?.from_at !== from_at) {
      if (quarter) this.#onQuarter(quarter)
      quarter = { from_at, ...of, samples: 0, incomplete: 0, min_w: null, max_w: null }
      this.#open.set(key, quarter)
    }
    if (power_w === null) return
    quarter.max_w = Math.max(quarter.max_w ?? power_w, power_w)
    if (at_most_w !== undefined) {
      quarter.incomplete += 1
      return
    }
    quarter.samples += 1
    quarter.min_w = Math.min(quarter.min_w ?? power_w, power_w)
  }

  end(): void {
    for (const quarter of this.#open.values()) this.#onQuarter(quarter)
  }
}

/* What a device may deliver at worst by the entries of the control log alone. Whole watts. */

interface ListedInverter {
  inverter_id: number
  max_w: number
}

/**
 * Its limit as read last, or a raise that was begun since, where that is higher; its own persistent
 * ceiling while no limit is enabled or it does not answer; its largest power by site.yaml while it
 * was never read. Nothing while it does not answer and the sun is low.
 */
function worstOfInverter(state: ControlState, { inverter_id, max_w }: ListedInverter): number {
  const { found, begun_w, gone } = state.device(inverter_id)
  const is_day = (state.sun?.sun ?? 'day') === 'day'
  if (!is_day && (!found || gone !== 'no')) return 0
  if (!found) return max_w
  if (gone === 'yes') return found.static_max_w
  const { limit_w, static_max_w } = found
  return Math.max(limit_w ?? static_max_w, Math.min(begun_w, static_max_w))
}

/**
 * The highest of its setpoint as read last, of all that was begun and may come through yet, and of
 * what it falls back to; all that it can while no setpoint is enabled, it is not read, or it obeys
 * another; its rating while it was never read. Charging counts as nothing.
 */
function worstOfPcs(state: ControlState, pcs: ListedPcs): number {
  const { found, begun } = state.pcs(pcs)
  if (!found) return pcs.max_w
  const { setpoint_w, held_max_w, discharge_max_w, falls_back_to_w } = found
  const begun_w = Math.max(held_max_w, begun?.power_w ?? 0)
  if (found.obeys !== 'yes') return Math.max(discharge_max_w, begun_w)
  return Math.max(0, setpoint_w ?? discharge_max_w, begun_w, falls_back_to_w ?? 0)
}
