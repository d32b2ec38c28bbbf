/**
 * Charged and discharged energy of a unit by quarter hour, with state of charge and completeness.
 */

import { counterIncrease } from '@heliograph/domain/counter'
import { hour_ms, quarter_ms } from '@heliograph/domain/durations'
import { firstIndex } from '@heliograph/domain/first-index'
import type { BessReading } from '@heliograph/domain/readings'
import { significant } from '@heliograph/domain/significant'
import { isExchanged, readExchanges } from '../plant/device-exchanges.ts'
import type { Queries } from '../storage/database.ts'
import { isoTime } from '../storage/values.ts'
import { readReadings, rowsSince } from '../telemetry/stored-readings.ts'

/** Over gaps up to this long, counters are assumed to rise evenly. */
const bridged_ms = hour_ms
/** Without a later reading, one up to this long before an instant is used for it. */
const standing_ms = 60_000
/** Longest time that a power reading holds; thinned history has one reading per minute. */
const held_s = 90
/** Coverage required to integrate power; the rest is filled with its mean. */
const covered_ratio_min = 0.9

export interface Unit {
  site_id: string
  bess_id: number
  rated_charge_power_kw: number
  rated_discharge_power_kw: number
}

/** Unix ms, half-open. */
export interface Span {
  start_ms: number
  end_ms: number
}

/** A quarter hour, cut to the requested span. */
export interface UnitQuarter extends Span {
  /** 0 or more; null where unknown. */
  charged_kwh: number | null
  discharged_kwh: number | null
  /** At `start_ms` and `end_ms`; null without a reading around then. */
  soc_start_pct: number | null
  soc_end_pct: number | null
}

/** Intervals of three minutes with a reading, and all intervals. */
export interface Heard {
  heard_spans: number
  spans: number
}

const heard_span_s = 180

/**
 * The quarter hours of a span, ascending. Energy is the difference of the counters. Where the
 * counters give no value (none, reset, exchange, or a gap of more than an hour), energy is the
 * integral of power, if nine tenths of the quarter hour were read.
 */
export async function readUnitQuarters(
  db: Queries,
  unit: Unit,
  span: Span,
): Promise<UnitQuarter[]> {
  const pieces = quartersOf(span)
  if (pieces.length === 0) return []
  const edges_ms = [pieces[0]!.start_ms, ...pieces.map(({ end_ms }) => end_ms)]
  const exchanges = await readExchanges(db, unit.site_id, 'bess')
  const exchanged_ms = exchanges.get(`${unit.bess_id}`) ?? []
  const edges = await readEdges(db, { ...unit, exchanged_ms }, edges_ms)
  const quarters = pieces.map((piece, nth): UnitQuarter => {
    const rise = (name: 'charged_kwh' | 'discharged_kwh', rated_kw: number) =>
      riseOf(edges[nth]![name], edges[nth + 1]![name], { ...piece, rated_kw, exchanged_ms })
    return {
      ...piece,
      charged_kwh: rise('charged_kwh', unit.rated_charge_power_kw),
      discharged_kwh: rise('discharged_kwh', unit.rated_discharge_power_kw),
      soc_start_pct: edges[nth]!.soc_pct,
      soc_end_pct: edges[nth + 1]!.soc_pct,
    }
  })
  return byPower(db, unit, quarters)
}

/** Discharged minus charged energy, kWh; null where unknown. */
export const netEnergy = ({ charged_kwh, discharged_kwh }: UnitQuarter): number | null =>
  charged_kwh === null || discharged_kwh === null ? null : discharged_kwh - charged_kwh

/** Null where a value is unknown. */
export function sumOrNull(values: readonly (number | null)[]): number | null {
  if (values.includes(null)) return null
  return values.reduce<number>((sum, value) => sum + value!, 0)
}

/** Mean power, kW, of the complete and known hours of a day, by UTC hour. */
export function hourlyPowers(quarters: readonly UnitQuarter[]): Map<number, number> {
  const powers = new Map<number, number>()
  const byHour = Map.groupBy(quarters, ({ start_ms }) => new Date(start_ms).getUTCHours())
  for (const [hour, pieces] of byHour) {
    const length_ms = pieces.reduce((sum, { start_ms, end_ms }) => sum + end_ms - start_ms, 0)
    const net_kwh = sumOrNull(pieces.map(netEnergy))
    if (length_ms < hour_ms || net_kwh === null) continue
    // The energy of an hour in kWh equals its mean power in kW.
    powers.set(hour, significant(net_kwh) + 0)
  }
  return powers
}

/** The quarter hours of a span, cut to it. */
export function quartersOf({ start_ms, end_ms }: Span): Span[] {
  const pieces: Span[] = []
  for (let from_ms = start_ms; from_ms < end_ms; from_ms = pieces.at(-1)!.end_ms) {
    const next_ms = (Math.floor(from_ms / quarter_ms) + 1) * quarter_ms
    pieces.push({ start_ms: from_ms, end_ms: Math.min(next_ms, end_ms) })
  }
  return pieces
}

interface RatedCounter {
  rated_kw: number
  /** When other devices took the place of this one, Unix ms. */
  exchanged_ms: readonly number[]
}

function riseOf(
  before_kwh: number | null,
  after_kwh: number | null,
  { start_ms, end_ms, rated_kw, exchanged_ms }: Span & RatedCounter,
): number | null {
  if (before_kwh === null || after_kwh === null) return null
  if (isExchanged(exchanged_ms, start_ms, end_ms)) return null
  return counterIncrease(before_kwh, after_kwh, { elapsed_s: (end_ms - start_ms) / 1000, rated_kw })
}

interface Edge {
  charged_kwh: number | null
  discharged_kwh: number | null
  soc_pct: number | null
}

interface Reading extends Edge {
  at_ms: number
}

interface Around {
  before: Reading | null
  after: Reading | null
}

type CountedUnit = Unit & Pick<RatedCounter, 'exchanged_ms'>

async function readEdges(
  db: Queries,
  { site_id, bess_id, ...counters }: CountedUnit,
  edges_ms: readonly number[],
): Promise<Edge[]> {
  const span = { start_ms: edges_ms[0]!, end_ms: edges_ms.at(-1)! }
  const packed = await readPacked(db, { site_id, bess_id }, span)
  const rows =
    packed?.edges(edges_ms) ??
    (await db.query<Around>(edgesIn, [site_id, bess_id, edges_ms.map(isoTime)]))
  return rows.map((row, nth) => edgeOf(row, edges_ms[nth]!, counters))
}

const unknown: Edge = { charged_kwh: null, discharged_kwh: null, soc_pct: null }

/** Counters and state of charge at an instant, interpolated between the readings around it. */
function edgeOf(
  { before, after }: Around,
  at_ms: number,
  counters: Omit<CountedUnit, 'site_id' | 'bess_id'>,
): Edge {
  if (before === null) return unknown
  if (after === null || after.at_ms - before.at_ms > bridged_ms) {
    return at_ms - before.at_ms > standing_ms ? unknown : before
  }
  const span = { start_ms: before.at_ms, end_ms: after.at_ms }
  const { exchanged_ms } = counters
  const length_ms = after.at_ms - before.at_ms
  const ratio = length_ms === 0 ? 0 : (at_ms - before.at_ms) / length_ms
  const between = (name: 'charged_kwh' | 'discharged_kwh', rated_kw: number) => {
    const rise_kwh = riseOf(before[name], after[name], { ...span, rated_kw, exchanged_ms })
    return rise_kwh === null ? null : before[name]! + ratio * rise_kwh
  }
  return {
    charged_kwh: between('charged_kwh', counters.rated_charge_power_kw),
    discharged_kwh: between('discharged_kwh', counters.rated_discharge_power_kw),
    soc_pct:
      before.soc_pct === null || after.soc_pct === null
        ? null
        : before.soc_pct + ratio * (after.soc_pct - before.soc_pct),
  }
}

const reading = `
  select (extract(epoch from measured_at) * 1000)::float8 as at_ms, soc_pct,
         charged_total_kwh as charged_kwh, discharged_total_kwh as discharged_kwh
  from bess_readings where site_id = $1 and bess_id = $2`

const edgesIn = {
  name: 'battery_edges_in',
  text: `
    select to_jsonb(before) as before, to_jsonb(after) as after
    from unnest($3::timestamptz[]) with ordinality as e (at, nth)
    left join lateral (
      ${reading} and measured_at <= at
        and measured_at > at - interval '${bridged_ms} milliseconds'
      order by measured_at desc limit 1
    ) before on true
    left join lateral (
      ${reading} and measured_at >= at
        and measured_at < at + interval '${bridged_ms} milliseconds'
      order by measured_at limit 1
    ) after on true
    order by nth`,
}

/** Probes each interval: counting readings would take ten times as long. */
export async function readHeard(
  db: Queries,
  { site_id, bess_id }: Pick<Unit, 'site_id' | 'bess_id'>,
  span: Span,
): Promise<Heard[]> {
  const pieces = quartersOf(span)
  const packed = await readPacked(db, { site_id, bess_id }, span)
  const rows =
    packed?.heard(pieces) ??
    (await db.query<{ nth: number; heard_spans: number }>(heardIn, [
      site_id,
      bess_id,
      ...boundsOf(pieces),
    ]))
  const heard = new Map(rows.map(({ nth, heard_spans }) => [nth - 1, heard_spans]))
  return pieces.map(({ start_ms, end_ms }, nth) => ({
    heard_spans: heard.get(nth) ?? 0,
    spans: Math.ceil((end_ms - start_ms) / 1000 / heard_span_s),
  }))
}

const heardIn = {
  name: 'battery_heard_in',
  text: `
    select nth::int as nth, count(*)::int as heard_spans
    from unnest($3::timestamptz[], $4::timestamptz[]) with ordinality as p (start_at, end_at, nth),
      generate_series(start_at, end_at - interval '1 microsecond',
        interval '${heard_span_s} seconds') as s (at),
      lateral (
        select from bess_readings where site_id = $1 and bess_id = $2 and measured_at >= s.at
          and measured_at < s.at + interval '${heard_span_s} seconds' limit 1
      ) as read
    group by nth`,
}

/** Energy by power of the `nth` quarter hour, counted from 1, in the time that was read. */
interface Powers {
  nth: number
  charged_kwh: number
  discharged_kwh: number
  covered_s: number
}

/** Fills in energy from power where the counters give no value. */
async function byPower(db: Queries, unit: Unit, quarters: UnitQuarter[]): Promise<UnitQuarter[]> {
  const without = quarters.filter((quarter) => netEnergy(quarter) === null)
  if (without.length === 0) return quarters
  const span = { start_ms: without[0]!.start_ms, end_ms: without.at(-1)!.end_ms }
  const packed = await readPacked(db, unit, span)
  const rows =
    packed?.powers(without) ??
    (await db.query<Powers>(powerIn, [unit.site_id, unit.bess_id, ...boundsOf(without)]))
  for (const { nth, charged_kwh, discharged_kwh, covered_s } of rows) {
    const quarter = without[nth - 1]!
    const length_s = (quarter.end_ms - quarter.start_ms) / 1000
    if (covered_s < covered_ratio_min * length_s) continue
    quarter.charged_kwh = (charged_kwh * length_s) / covered_s
    quarter.discharged_kwh = (discharged_kwh * length_s) / covered_s
  }
  return quarters
}

const powerIn = {
  name: 'battery_power_in',
  text: `
    select nth::int as nth, sum(greatest(-power_kw, 0) * held_s) / 3600 as charged_kwh,
           sum(greatest(power_kw, 0) * held_s) / 3600 as discharged_kwh,
           sum(held_s) as covered_s
    from unnest($3::timestamptz[], $4::timestamptz[]) with ordinality as p (start_at, end_at, nth)
    cross join lateral (
      select power_kw::float8 as power_kw, date_part('epoch',
          least(next_at, measured_at + interval '${held_s} seconds')
            - greatest(measured_at, p.start_at)) as held_s
      from (
        select measured_at, power_kw,
               lead(measured_at, 1, p.end_at) over (order by measured_at) as next_at
        from bess_readings
        where site_id = $1 and bess_id = $2 and measured_at < p.end_at
          and measured_at > p.start_at - interval '${held_s} seconds'
      ) as readings
    ) as held
    where held_s > 0 and power_kw is not null
    group by nth`,
}

/**
 * What the statements above find, for a span that is partly in blocks; null for a span in rows,
 * whose indexes spare reading them all.
 */
async function readPacked(
  db: Queries,
  { site_id, bess_id }: Pick<Unit, 'site_id' | 'bess_id'>,
  span: Span,
) {
  const [from_ms, to_ms] = [span.start_ms - bridged_ms, span.end_ms + bridged_ms]
  if (from_ms >= (await rowsSince(db, 'bess'))) return null
  const around = { site_id, device_ids: [bess_id], from_ms, to_ms }
  const columns = ['soc_pct', 'power_kw', 'charged_total_kwh', 'discharged_total_kwh']
  const stored = await readReadings<BessReading>(db, 'bess', around, columns)
  const readings = stored.map((one) => ({
    at_ms: one.measured_at,
    power_kw: one.power_kw,
    soc_pct: one.soc_pct,
    charged_kwh: one.charged_total_kwh,
    discharged_kwh: one.discharged_total_kwh,
  }))
  const placeOf = (instant_ms: number) =>
    firstIndex(readings.length, (nth) => readings[nth]!.at_ms >= instant_ms)
  return {
    edges: (edges_ms: readonly number[]): Around[] =>
      edges_ms.map((at_ms) => {
        const before = readings[placeOf(at_ms + 1) - 1]
        const after = readings[placeOf(at_ms)]
        return {
          before: before && before.at_ms > at_ms - bridged_ms ? before : null,
          after: after && after.at_ms < at_ms + bridged_ms ? after : null,
        }
      }),
    heard: (pieces: readonly Span[]) =>
      pieces.map(({ start_ms, end_ms }, nth) => {
        let heard_spans = 0
        for (let at_ms = start_ms; at_ms < end_ms; at_ms += heard_span_s * 1000) {
          if (placeOf(at_ms) < placeOf(at_ms + heard_span_s * 1000)) heard_spans += 1
        }
        return { nth: nth + 1, heard_spans }
      }),
    powers: (quarters: readonly Span[]) =>
      quarters.map(({ start_ms, end_ms }, nth): Powers => {
        let [charged_kws, discharged_kws, covered_s] = [0, 0, 0]
        const within = readings.slice(placeOf(start_ms - held_s * 1000 + 1), placeOf(end_ms))
        for (const [place, { at_ms, power_kw }] of within.entries()) {
          const next_ms = within[place + 1]?.at_ms ?? end_ms
          const until_ms = Math.min(next_ms, at_ms + held_s * 1000)
          const own_s = (until_ms - Math.max(at_ms, start_ms)) / 1000
          if (own_s <= 0 || power_kw === null) continue
          charged_kws += Math.max(-power_kw, 0) * own_s
          discharged_kws += Math.max(power_kw, 0) * own_s
          covered_s += own_s
        }
        const [charged_kwh, discharged_kwh] = [charged_kws / 3600, discharged_kws / 3600]
        return { nth: nth + 1, charged_kwh, discharged_kwh, covered_s }
      }),
  }
}

/** Starts and ends of spans as SQL arrays. */
const boundsOf = (spans: readonly Span[]) => [
  spans.map(({ start_ms }) => isoTime(start_ms)),
  spans.map(({ end_ms }) => isoTime(end_ms)),
]
