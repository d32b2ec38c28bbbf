/** Whether the energy of a plant in an hour is known, and whether more of it may come. */
import { reach_ms } from '@heliograph/domain/reach'
import type { Queries } from '../storage/database.ts'
import { hour_ms } from '../telemetry/touched-hours.ts'
import type { PlantHour } from './plant-quarters.ts'

/**
 * `known`: all of it; `settling`: too, by a counter, while readings may still come. `asleep`: there
 * is none, and none must be. `not_yet`: the hour is running, and none was told so far. `missing`:
 * some is not known and may come; `lost`: some is not known, and nothing says that it comes.
 */
export type EnergyState = 'known' | 'settling' | 'asleep' | 'not_yet' | 'missing' | 'lost'

export type EnergyStateAt = (start_ms: number, hour: PlantHour | undefined) => EnergyState

export interface EvidenceAsked {
  site_id: string
  /** Of all plants where it is null. */
  logger_id: number | null
  /** Unix ms: [from_ms, to_ms). */
  from_ms: number
  to_ms: number
  now_ms: number
  /** Seconds of the hour, up to then, in which inverters must be awake; null: nobody knows. */
  awake: (hour: number, until_ms: number) => number | null
}

/** Part of an hour of a plant in gaps of power that is no matter. */
const open_ratio_max = 0.05

/** By the gaps of inverters that are not back-filled, and by what hours tell of themselves. */
export async function readEnergyStates(
  db: Queries,
  asked: EvidenceAsked,
): Promise<(logger_id: number) => EnergyStateAt> {
  const { site_id, logger_id, from_ms, to_ms, now_ms } = asked
  const values = [site_id, logger_id, new Date(from_ms), new Date(to_ms), new Date(now_ms)]
  const spans = await db.query<GapSpan>(gapSpans, values)
  const torn = spans.length === 0 ? [] : await db.query<TornHour>(tornHours, values)
  const tornOf = Map.groupBy(torn, (hour) => hour.logger_id)
  const gaps = new Map(
    [...Map.groupBy(spans, (span) => span.logger_id)].map(([id, of_plant]) => [
      id,
      gapHours(of_plant, tornOf.get(id) ?? []),
    ]),
  )
  return (id) => energyStateAt(gaps.get(id) ?? new Map(), asked)
}

interface GapHour {
  /** Readings of one of the gaps may still come. */
  may_come: boolean
  /** Within the hour an inverter fell silent, or was heard again, and no counter tells the rest. */
  is_torn: boolean
}

function energyStateAt(
  gaps: ReadonlyMap<number, GapHour>,
  { now_ms, awake }: Pick<EvidenceAsked, 'now_ms' | 'awake'>,
): EnergyStateAt {
  return (start_ms, hour) => {
    const end_ms = start_ms + hour_ms
    const is_told = hour !== undefined && !hour.energy_wh.includes(null)
    const is_whole = is_told && hour.known_count >= hour.inverter_count
    const gap = gaps.get(start_ms)
    if (end_ms <= now_ms && is_whole && gap === undefined) return 'known'
    const awake_s = awake(start_ms, end_ms)
    if (awake_s === 0) return is_told ? 'known' : 'asleep'
    if (end_ms > now_ms) return is_told ? 'known' : 'not_yet'
    const is_open = gap?.is_torn && isOpen(hour, awake_s)
    if (is_whole && !is_open) return gap?.may_come ? 'settling' : 'known'
    if (gap !== undefined) return gap.may_come ? 'missing' : 'lost'
    // At the edge of the day inverters may wake up late, and sleep early.
    if (awake_s !== null && awake_s < hour_ms / 1000) return is_told ? 'known' : 'asleep'
    return 'lost'
  }
}

function isOpen(hour: PlantHour | undefined, awake_s: number | null): boolean {
  if (hour === undefined || awake_s === null) return true
  return hour.awake_covered_s < (1 - open_ratio_max) * awake_s * hour.inverter_count
}

/** Of gaps that touch or overlap, together. */
interface GapSpan {
  logger_id: number
  may_come: boolean
  from_ms: number
  to_ms: number
}

interface TornHour {
  logger_id: number
  start_ms: number
}

function gapHours(spans: readonly GapSpan[], torn: readonly TornHour[]): Map<number, GapHour> {
  const hours = new Map<number, GapHour>()
  for (const { may_come, from_ms, to_ms } of spans) {
    for (let at = from_ms - (from_ms % hour_ms); at < to_ms; at += hour_ms) {
      const other = hours.get(at)
      hours.set(at, { may_come: may_come || other?.may_come === true, is_torn: false })
    }
  }
  for (const { start_ms } of torn) {
    const hour = hours.get(start_ms)
    if (hour !== undefined) hour.is_torn = true
  }
  return hours
}

const ms = (instant: string) => `(extract(epoch from ${instant}) * 1000)::float8`

const gaps = `
  select logger_id, device_id, status, start_at,
         greatest(start_at, coalesce(end_at, $5)) as end_at, end_at is null as is_lasting
  from gaps
  where site_id = $1 and source_type = 'inverter' and status <> 'backfilled'
    and ($2::int is null or logger_id = $2)
    and start_at < $4 and coalesce(end_at, 'infinity') > $3`

const gapSpans = `
  select logger_id, may_come, ${ms('greatest(lower(span), $3)')} as from_ms,
         ${ms('least(upper(span), $4)')} as to_ms
  from (
    select logger_id, status <> 'unrecoverable' as may_come,
           unnest(range_agg(tstzrange(start_at, end_at))) as span
    from (${gaps}) as living
    group by 1, 2
  ) as spans
  order by logger_id, from_ms`

const hourOf = (instant: string) => `date_bin('1 hour', ${instant}, 'epoch'::timestamptz)`

/**
 * The hours in which gaps begin and end, where the counter does not tell the energy: its rise is of
 * the hour where the gap is within it, or short; else it is shared out.
 */
const tornHours = `
  with gaps as (
    select *, ${hourOf('start_at')} as first_at,
           ${hourOf("end_at - interval '1 microsecond'")} as last_at
    from (${gaps}) as living
  )
  select distinct logger_id, ${ms('hour_at')} as start_ms
  from gaps cross join lateral (values (first_at), (last_at)) as ends (hour_at)
  where not exists (
      select from inverter_gap_hours h
      where h.site_id = $1 and h.inverter_id = device_id and h.hour_at = ends.hour_at
    )
    and (
      is_lasting
      or end_at - start_at > interval '${reach_ms} milliseconds' and first_at < last_at
      or 2 > (
        select count(counter_first_at) * (case when first_at = last_at then 2 else 1 end)
        from inverter_hours h
        where h.site_id = $1 and h.inverter_id = device_id and h.hour_at in (first_at, last_at)
      )
    )`
