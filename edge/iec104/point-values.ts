/** What a monitored point is worth now, on the wire. */
import type { CurtailmentRow, OutsideSource } from '@heliograph/domain/curtailment'
import type { ReadingKind } from '@heliograph/domain/readings'
import { defaultPollIntervals, type Site } from '@heliograph/domain/site'
import type { Element } from './asdu-types.ts'
import { type MeaningName, meanings, type Owner } from './meanings.ts'
import { isCounter, isState, type Point } from './point-list.ts'

/** Quality bits of monitored values (IEC 60870-5-101, 7.2.6.3); a state has no overflow. */
const quality = { overflow: 0x01, not_topical: 0x40, invalid: 0x80 } as const
/** Double points: 0 and 3 are undetermined. */
const double = { off: 1, on: 2, unknown: 3 } as const
/** A counter on the wire has 31 bits. */
const counter_max = 2 ** 31

type Reading = Readonly<Record<string, unknown>> & { measured_at: number }

/** What the values are taken from. */
export interface ValueSource {
  site: Site
  /** The newest reading of a device; null: none since the start. */
  newest(kind: ReadingKind, id: number): Reading | null
  /** Orders in force, of everybody. */
  orders(): readonly CurtailmentRow[]
  /** Unix ms. */
  now: number
}

interface Value {
  /** In the unit of the meaning; null: not known. */
  value: number | null
  is_topical: boolean
}

const unknown: Value = { value: null, is_topical: false }
/** As `fresh_polls` of the loop. */
const fresh_polls = 3

/** Nodes send by themselves. */
const node_silence_ms = 180_000

const reading_kinds = {
  plant: ['logger', 'logger_s'],
  meter: ['meter', 'meter_s'],
  station: ['weather', 'weather_s'],
  battery: ['bess', 'battery_s'],
} as const

const reductionCauses: Readonly<Record<OutsideSource | 'none' | 'owner', number>> = {
  none: 0,
  grid_operator: 1,
  direct_marketer: 2,
  digital_input: 3,
  owner: 4,
}

/** @param by whose setpoint is mirrored */
export function elementOf(point: Point, from: ValueSource, by: OutsideSource): Element {
  const { value, is_topical } = nowOf(point, from, by)
  const stale = is_topical || value === null ? 0 : quality.not_topical
  const descriptor = value === null ? quality.invalid : stale
  if (isState(point)) return { value: stateOf(point, value), descriptor }
  // The descriptor of a counter has its sequence number, and one quality bit.
  if (isCounter(point)) {
    const counted = Math.round((value ?? 0) / point.scale) % counter_max
    return { value: counted, descriptor: descriptor & quality.invalid }
  }
  const { scale, minimum, maximum } = point
  const held = value ?? 0
  const is_beyond = held < (minimum ?? held) || held > (maximum ?? held)
  return { value: held / scale, descriptor: descriptor | (is_beyond ? quality.overflow : 0) }
}

function stateOf({ type }: Point, value: number | null): number {
  if (type.name.startsWith('M_SP')) return value === 1 ? 1 : 0
  if (value === null) return double.unknown
  return value === 1 ? double.on : double.off
}

function nowOf(point: Point, from: ValueSource, by: OutsideSource): Value {
  const { meaning, of } = point
  switch (meaning) {
    case 'availability_pct':
      return availability(of, from)
    case 'communication_ok': {
      const { value, is_topical } = availability(of, from)
      return { value: value === null ? null : Number(value >= 100), is_topical }
    }
    case 'contact_on':
      return contact(of, from)
    case 'setpoint_mirror_kw':
      return { value: mirrored(of, from, by).limit_kw, is_topical: true }
    case 'setpoint_mirror_pct': {
      const { limit_kw, rated_kw } = mirrored(of, from, by)
      return { value: (100 * limit_kw) / rated_kw, is_topical: true }
    }
    case 'is_reduced':
      return { value: Number(lowest(of, from) !== null), is_topical: true }
    case 'reduction_cause': {
      const order = lowest(of, from)
      const cause = order === null ? 'none' : (order.source ?? 'owner')
      return { value: reductionCauses[cause], is_topical: true }
    }
    default:
      return of.kind === 'site' ? ofSite(meaning, from) : measured(meaning, of, from)
  }
}

function measured(meaning: MeaningName, of: Owner, from: ValueSource): Value {
  const column = meanings[meaning].owners[of.kind]
  if (of.kind === 'site' || of.kind === 'node' || !column) return unknown
  const [kind, interval] = reading_kinds[of.kind]
  const reading = from.newest(kind, of.id)
  const value = reading?.[column]
  if (typeof value !== 'number') return unknown
  const interval_s = { ...defaultPollIntervals, ...from.site.poll }[interval]
  return { value, is_topical: from.now - reading!.measured_at <= fresh_polls * interval_s * 1000 }
}

/** The meter at the grid connection, where there is one alone; else all plants together. */
function ofSite(meaning: MeaningName, from: ValueSource): Value {
  const { meters = [], loggers } = from.site
  const meter_ids = meters.filter(({ role }) => role === 'grid_connection')
  if (meter_ids.length === 1 && meanings[meaning].owners.meter) {
    return measured(meaning, { ...no_owner, kind: 'meter', id: meter_ids[0]!.meter_id }, from)
  }
  const values = loggers.map(({ logger_id }) =>
    measured(meaning, { ...no_owner, kind: 'plant', id: logger_id }, from),
  )
  return together(values, (known) => known.reduce((sum, value) => sum + value, 0))
}

const no_owner = { id: 0, node_id: '', channel: '' }

/** Not known unless each is. */
function together(values: readonly Value[], join: (known: number[]) => number): Value {
  const known = values.flatMap(({ value }) => (value === null ? [] : [value]))
  if (known.length < values.length || known.length === 0) return unknown
  return { value: join(known), is_topical: values.every(({ is_topical }) => is_topical) }
}

function availability(of: Owner, from: ValueSource): Value {
  const plants = plantsOf(of, from.site)
  const interval_s = { ...defaultPollIntervals, ...from.site.poll }.logger_s
  let online = 0
  let total = 0
  let is_topical = true
  for (const { logger_id, inverters } of plants) {
    const reading = from.newest('logger', logger_id)
    const value = reading?.['inverters_online']
    if (typeof value !== 'number') return unknown
    online += value
    total += inverters.length
    is_topical &&= from.now - reading!.measured_at <= fresh_polls * interval_s * 1000
  }
  return { value: (100 * online) / total, is_topical }
}

function contact({ node_id, channel }: Owner, from: ValueSource): Value {
  const node = from.site.nodes?.find((one) => one.node_id === node_id)
  const nth = node?.channels.findIndex((one) => one.channel === channel) ?? -1
  const reading = node ? from.newest('node', node.node_number) : null
  const values = reading?.['channel_values'] as readonly (number | null)[] | undefined
  const value = values?.[nth]
  if (typeof value !== 'number') return unknown
  return { value, is_topical: from.now - reading!.measured_at <= node_silence_ms }
}

export const plantsOf = ({ kind, id }: Owner, { loggers }: Site) =>
  loggers.filter(({ logger_id }) => kind === 'site' || logger_id === id)

/** What a source lets the plants deliver. */
export function mirrored(
  of: Owner,
  { site, orders }: Pick<ValueSource, 'site' | 'orders'>,
  by: OutsideSource,
): { limit_kw: number; rated_kw: number } {
  const limits = new Map(
    orders()
      .filter(({ source }) => source === by)
      .map(({ logger_id, max_power_kw }) => [logger_id, max_power_kw]),
  )
  let limit_kw = 0
  let rated_kw = 0
  for (const { logger_id, rated_power_kw } of plantsOf(of, site)) {
    limit_kw += limits.get(logger_id) ?? rated_power_kw
    rated_kw += rated_power_kw
  }
  return { limit_kw, rated_kw }
}

/** The order that binds most, in proportion to the rated power of its plant; null: none binds. */
function lowest(of: Owner, { site, orders }: ValueSource): CurtailmentRow | null {
  let found: CurtailmentRow | null = null
  let least = 1
  for (const { logger_id, rated_power_kw } of plantsOf(of, site)) {
    for (const row of orders()) {
      const share = row.max_power_kw / rated_power_kw
      if (row.logger_id !== logger_id || share >= least) continue
      least = share
      found = row
    }
  }
  return found
}
