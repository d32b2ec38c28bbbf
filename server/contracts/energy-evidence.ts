/** Whether the energy of a plant in an hour is known, and whether missing readings may arrive. */
import { hour_ms } from '@heliograph/domain/durations'
import { reach_ms } from '@heliograph/domain/reach'
import type { Queries } from '../storage/database.ts'
import type { PlantHour } from './plant-quarters.ts'

/**
 * `known`: complete. `settling`: complete by a counter, while readings may still arrive. `night`:
 * no energy, as expected. `not_yet`: the hour is running and has no energy so far. `missing`:
 * incomplete, readings may still arrive. `lost`: incomplete, no readings are expected.
 */
export type EnergyState = 'known' | 'settling' | 'night' | 'not_yet' | 'missing' | 'lost'

export type EnergyStateAt = (start_ms: number, hour: PlantHour | undefined) => EnergyState

export interface EvidenceQuery {
  site_id: string
  /** null: all plants. */
  logger_id: number | null
  from_ms: number
  to_ms: number
  now_ms: number
  /** Daylight seconds of the hour up to `until_ms`, when inverters must run; null when unknown. */
  awake: (hour: number, until_ms: number) => number | null
}

/** Share of a plant's hour that may be missing before its energy counts as incomplete. */
const missing_ratio_max = 0.05

/** Judged by the inverter gaps that are not back-filled and by the coverage of each hour. */
export async function readEnergyStates(
  db: Queries,
  query: EvidenceQuery,
): Promise<(logger_id: number) => EnergyStateAt> {
  const { site_id, logger_id, from_ms, to_ms, now_ms } = query
  const values = [site_id, logger_id, new Date(from_ms), new Date(to_ms), new Date(now_ms)]
  const spans = await db.query<GapSpan>(gapSpans, values)
  const cut = spans.length === 0 ? [] : await db.query<CutHour>(cutHours, values)
  const spansOf = Map.groupBy(spans, (span) => span.logger_id)
  const cutOf = Map.groupBy(cut, (hour) => hour.logger_id)
  return (id) => energyStateAt(gapHours(spansOf.get(id) ?? [], cutOf.get(id) ?? []), query)
}

interface GapHour {
  /** Readings of a gap may still arrive. */
  may_come: boolean
  /** A gap starts or ends within the hour, and no counter covers its energy. */
  is_cut: boolean
}

function energyStateAt(
  gaps: ReadonlyMap<number, GapHour>,
  { now_ms, awake }: Pick<EvidenceQuery, 'now_ms' | 'awake'>,
): EnergyStateAt {
  return (start_ms, hour) => {
    const end_ms = start_ms + hour_ms
    const has_energy = hour !== undefined && !hour.energy_wh.includes(null)
    const is_complete = has_energy && hour.known_count >= hour.inverter_count
    const gap = gaps.get(start_ms)
    if (end_ms <= now_ms && is_complete && gap === undefined) return 'known'
    const awake_s = awake(start_ms, end_ms)
    if (awake_s === 0) return has_energy ? 'known' : 'night'
    if (end_ms > now_ms) return has_energy ? 'known' : 'not_yet'
    const lacks_readings = gap?.is_cut && isUndercovered(hour, awake_s)
    if (is_complete && !lacks_readings) return gap?.may_come ? 'settling' : 'known'
    if (gap !== undefined) return gap.may_come ? 'missing' : 'lost'
    // Around sunrise and sunset inverters may start late and stop early.
    if (awake_s !== null && awake_s < hour_ms / 1000) return has_energy ? 'known' : 'night'
    return 'lost'
  }
}

function isUndercovered(hour: PlantHour | undefined, awake_s: number | null): boolean {
  if (hour === undefined || awake_s === null) return true
  return hour.awake_covered_s < (1 - missing_ratio_max) * awake_s * hour.inverter_count
}

interface GapSpan {
  logger_id: number
  may_come: boolean
  from_ms: number
  to_ms: number
}

interface CutHour {
  logger_id: number
  start_ms: number
}

function gapHours(spans: readonly GapSpan[], cut: readonly CutHour[]): Map<number, GapHour> {
  const hours = new Map<number, GapHour>()
  for (const { may_come, from_ms, to_ms } of spans) {
    for (let at = from_ms - (from_ms % hour_ms); at < to_ms; at += hour_ms) {
      const other = hours.get(at)
      hours.set(at, { may_come: may_come || other?.may_come === true, is_cut: false })
    }
  }
  for (const { start_ms } of cut) {
    const hour = hours.get(start_ms)
    if (hour !== undefined) hour.is_cut = true
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
 * Hours in which a gap starts or ends and whose energy no counter covers. The counter's increase
 * belongs to the hour when the gap lies within it or is short; otherwise it is spread over hours.
 */
const cutHours = `
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
