/**
 * Curtailed energy by row, hour and quarter: available power (SunSpec model 122, WAval) less
 * delivered power of inverters that are limited by curtailment, not by the permit or others.
 * Integrated between readings that both report available power, never across a gap. Where rows
 * overlap, the lowest row gets all of the energy.
 */
import { hour_ms } from '@heliograph/domain/durations'
import { defaultPollIntervals } from '@heliograph/domain/site'
import { beginRoundOf, shareRound } from '../jobs/site-rounds.ts'
import { heldUntil } from '../storage/curtailment.ts'
import type { Database, Queries } from '../storage/database.ts'
import { rowsJson } from '../storage/values.ts'
import { readReadings, rowsSince } from '../telemetry/stored-readings.ts'

const gap_s_min = 60

interface Plant {
  site_id: string
  logger_id: number
}

interface AppliedRow {
  group_id: string
  max_power_kw: number
  row_id: number
  /** While the row limited its plant: from applied until its end or its confirmed release. */
  from_ms: number
  to_ms: number
}

interface Span {
  group_id: string
  from_ms: number
  to_ms: number
}

/** When each row was the lowest limit of its plant; the earlier of two equal rows wins. */
export function lowestSpans(rows: readonly AppliedRow[]): Span[] {
  const bounds = [...new Set(rows.flatMap(({ from_ms, to_ms }) => [from_ms, to_ms]))]
  bounds.sort((a, b) => a - b)
  const ranked = [...rows].sort((a, b) => a.max_power_kw - b.max_power_kw || a.row_id - b.row_id)
  return bounds.flatMap((from_ms, nth) => {
    const to_ms = bounds[nth + 1]
    const lowest = ranked.find((row) => row.from_ms <= from_ms && from_ms < row.to_ms)
    return lowest && to_ms !== undefined ? [{ group_id: lowest.group_id, from_ms, to_ms }] : []
  })
}

interface Run {
  /** The job of the run, whose servers share the sites. */
  job: string
  /** Earlier hours are not changed. */
  since: Date
  now: Date
  /** Ends the run between two hours. */
  signal: AbortSignal
}

/** A site has some plants with up to 200 hours of some milliseconds each. */
const claim_s = 600

/** Recomputes the hours of a run from the present readings, with the help of other servers. */
export async function sumCurtailedEnergy(db: Database, run: Run): Promise<void> {
  const limited = `select distinct site_id from ${held} where ${isHeld} order by site_id`
  await beginRoundOf(db, run.job, limited, [firstHour(run), run.now])
  await shareCurtailedEnergy(db, run)
}

/** Recomputes the hours of sites of a run that are still due. */
export const shareCurtailedEnergy = (db: Database, run: Run): Promise<void> =>
  shareRound(db, run.job, {
    work: (site_id) => sumSite(db, site_id, run),
    signal: run.signal,
    claim_s,
  })

const firstHour = ({ since }: Run) => new Date(Math.floor(since.getTime() / hour_ms) * hour_ms)

async function sumSite(db: Database, site_id: string, run: Run): Promise<void> {
  const { now, signal } = run
  const first_ms = firstHour(run).getTime()
  for (const [plant, rows] of await appliedRows(db, site_id, new Date(first_ms), now)) {
    const spans = lowestSpans(rows)
    const begin_ms = Math.floor((spans[0]?.from_ms ?? now.getTime()) / hour_ms) * hour_ms
    // Also hours after the last span: they may have been summed before a release was known.
    for (let hour = Math.max(first_ms, begin_ms); hour < now.getTime(); hour += hour_ms) {
      signal.throwIfAborted()
      await sumHour(db, plant, { hour, spans: spansWithin(spans, hour) })
    }
    if (rows.some((row) => row.to_ms === now.getTime())) await noteAvailable(db, plant, now)
  }
}

/** The rows that limited their plant, at or before $2. */
const held = `(
  select *, greatest(start_at, applied_at) as from_at, ${heldUntil('$2::timestamptz')} as to_at
  from curtailment_rows r where applied_at is not null
) as held`
/** Since $1. */
const isHeld = 'to_at > from_at and to_at > $1'

async function appliedRows(
  db: Queries,
  site_id: string,
  since: Date,
  now: Date,
): Promise<[Plant, AppliedRow[]][]> {
  const rows = await db.query<
    Plant & Omit<AppliedRow, 'from_ms' | 'to_ms'> & { from_at: Date; to_at: Date }
  >(
    `select site_id, logger_id, group_id, row_id, max_power_kw, from_at, to_at
     from ${held}
     where site_id = $3 and ${isHeld}
     order by logger_id, row_id`,
    [since, now, site_id],
  )
  return [...Map.groupBy(rows, ({ logger_id }) => logger_id)].map(([logger_id, of]) => [
    { site_id, logger_id },
    of.map(({ from_at, to_at, ...row }) => ({
      ...row,
      from_ms: from_at.getTime(),
      to_ms: to_at.getTime(),
    })),
  ])
}

const spansWithin = (spans: readonly Span[], hour: number): Span[] =>
  spans
    .map(({ group_id, from_ms, to_ms }) => ({
      group_id,
      from_ms: Math.max(from_ms, hour),
      to_ms: Math.min(to_ms, hour + hour_ms),
    }))
    .filter(({ from_ms, to_ms }) => to_ms > from_ms)

async function sumHour(
  db: Database,
  { site_id, logger_id }: Plant,
  { hour, spans }: { hour: number; spans: readonly Span[] },
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(
      'delete from curtailment_hours where site_id = $1 and logger_id = $2 and hour_at = $3',
      [site_id, logger_id, new Date(hour)],
    )
    if (spans.length === 0) return
    const packed = await readPackedAround(tx, { site_id, logger_id }, hour)
    await tx.execute(insertHour(packed ? packedReadings : rows), [
      site_id,
      logger_id,
      new Date(hour),
      gap_s_min,
      defaultPollIntervals.inverter_s,
      spans.map(({ group_id }) => group_id),
      spans.map(({ from_ms }) => new Date(from_ms).toISOString()),
      spans.map(({ to_ms }) => new Date(to_ms).toISOString()),
      ...(packed ? [rowsJson(packed)] : []),
    ])
  })
}

/** The readings around an hour that is packed into blocks; null for an hour in rows. */
async function readPackedAround(db: Queries, { site_id, logger_id }: Plant, hour: number) {
  if (hour - hour_ms >= (await rowsSince(db, 'inverter'))) return null
  const inverters = await db.query<{ inverter_id: number }>(
    'select inverter_id from inverters where site_id = $1 and logger_id = $2',
    [site_id, logger_id],
  )
  const device_ids = inverters.map(({ inverter_id }) => inverter_id)
  const around = { site_id, device_ids, from_ms: hour - hour_ms, to_ms: hour + 2 * hour_ms }
  const columns = ['ac_power_kw', 'available_power_kw', 'limited_by']
  return readReadings(db, 'inverter', around, columns)
}

/** The consumption of an inverter at night is no curtailed power. */
const curtailed_kw = `
  case
    when available_power_kw is null or ac_power_kw is null then null
    when limited_by = 'curtailment'
      then greatest(available_power_kw - greatest(ac_power_kw, 0), 0)
    when limited_by <> 'unknown' then 0
  end`
const ofInverter = 'over (partition by inverter_id order by measured_at)'

/** Longest interval between readings of an inverter at site $1 that is not a gap. */
const gap = `
  select greatest($4::float8, 3 * coalesce((inventory->'poll'->>'inverter_s')::float8, $5))
    * interval '1 second' as longest
  from sites where site_id = $1`

/** The readings of a site: its rows, or those of $9. */
const rows = '(select * from inverter_readings where site_id = $1) as r'
const packedReadings = `jsonb_to_recordset($9) as r (inverter_id int, measured_at timestamptz,
  ac_power_kw real, available_power_kw real, limited_by text)`

const insertHour = (readings: string) => `
  with gap as (${gap}
  ), steps as (
    select measured_at as from_at, lead(measured_at) ${ofInverter} as to_at,
           (${curtailed_kw} + lead(${curtailed_kw}) ${ofInverter}) / 2 as curtailed_kw
    from ${readings}, gap
    where inverter_id in (select inverter_id from inverters where site_id = $1 and logger_id = $2)
      and measured_at >= $3::timestamptz - longest
      and measured_at < $3::timestamptz + interval '1 hour' + longest
  ), spans as (
    select * from unnest($6::text[], $7::timestamptz[], $8::timestamptz[]) as s (group_id, from_at, to_at)
  ), parts as (
    select group_id, quarter, greatest(from_at, begin_at) as from_at,
           least(to_at, begin_at + interval '15 minutes') as to_at
    from spans cross join generate_series(0, 3) as quarter
    cross join lateral (
      select $3::timestamptz + quarter * interval '15 minutes' as begin_at
    ) as of_quarter
  ), quarters as (
    select parts.group_id, parts.quarter, sum(steps.curtailed_kw * extract(epoch from
        least(steps.to_at, parts.to_at) - greatest(steps.from_at, parts.from_at)) / 3600) as kwh
    from parts
    left join steps on parts.from_at < parts.to_at
      and steps.from_at < parts.to_at and steps.to_at > parts.from_at
      and steps.curtailed_kw is not null and steps.to_at - steps.from_at <= (select longest from gap)
    group by parts.group_id, parts.quarter
  )
  insert into curtailment_hours
    (site_id, group_id, logger_id, hour_at, curtailed_energy_kwh, quarter_wh)
  select $1, group_id, $2, $3, sum(kwh),
         case when count(kwh) > 0
           then array_agg(coalesce(round(1000 * kwh), 0)::int order by quarter) end
  from quarters
  group by group_id`

/** Stores the present available power of a plant in its rows; stale readings do not count. */
async function noteAvailable(db: Queries, { site_id, logger_id }: Plant, now: Date): Promise<void> {
  await db.execute(
    `update curtailment_rows set available_power_kw = (
       select sum(l.available_power_kw) from inverter_latest l
       join inverters i on i.site_id = l.site_id and i.inverter_id = l.inverter_id
       where l.site_id = $1 and i.logger_id = $2 and i.retired_at is null
         and l.measured_at > $3::timestamptz - (${gap}))
     where site_id = $1 and logger_id = $2 and released_at is null
       and applied_at is not null and start_at <= $3 and end_at > $3`,
    [site_id, logger_id, now, gap_s_min, defaultPollIntervals.inverter_s],
  )
}
