/**
 * Values derived from the hourly sums of inverters: the energy of gaps and the hours of loggers.
 * Both are computed from stored sums for all hours that may have changed, so that they do not
 * depend on the order in which hours were summed up.
 */
import { hour_ms } from '@heliograph/domain/durations'
import type { Transaction } from '../../storage/database.ts'
import { isoTime } from '../../storage/values.ts'
import { type GapSource, gap_days_max, type SunHeight, shareGaps } from './counter-gaps.ts'
import { slot_ms } from './inverter-hour.ts'
import { storeLoggerDays } from './logger-days.ts'
import type { Plant } from './raw.ts'

/** Must run in the transaction that stores the sums of the hours. */
export async function storeEnergyHours(
  transaction: Transaction,
  site_id: string,
  { plant, sun }: { plant: Plant; sun: SunHeight },
  summed: ReadonlyMap<number, readonly number[]>,
): Promise<void> {
  const ranges = [...summed].map(([inverter_id, hours]) => ({
    inverter_id,
    from_at: new Date(Math.min(...hours)),
    to_at: new Date(Math.max(...hours)),
  }))
  const reaches = await reachOf(transaction, site_id, ranges)
  const sources = await readSources(transaction, site_id, reaches)
  const shared = reaches.flatMap(({ inverter_id }) =>
    shareGaps(sources.get(inverter_id) ?? [], plant.inverters.get(inverter_id)!, sun).map(
      (hour) => ({ inverter_id, ...hour }),
    ),
  )
  const gone = await replaceGaps(transaction, site_id, reaches, shared)
  const changed = [...gone, ...shared].map(({ hour_at }) => hour_at.getTime())
  const hours = new Set([...summed.values()].flat().concat(changed))
  await storeLoggerHours(transaction, site_id, [...hours])
}

/** Hours of one inverter, inclusive. */
interface Reach {
  inverter_id: number
  from_at: Date
  to_at: Date
}

const columnsOf = (reaches: readonly Reach[]) => [
  reaches.map(({ inverter_id }) => inverter_id),
  reaches.map(({ from_at }) => from_at.toISOString()),
  reaches.map(({ to_at }) => to_at.toISOString()),
]

/**
 * From the last hour with a counter reading before the updated hours to the first one after: only
 * gaps that start within, excluding the last hour, can have changed.
 */
function reachOf(transaction: Transaction, site_id: string, ranges: readonly Reach[]) {
  const nearest = (where: string, order: 'asc' | 'desc') => `
    left join lateral (
      select hour_at from inverter_hours
      where site_id = $1 and inverter_id = t.inverter_id and counter_first_at is not null
        and ${where}
      order by hour_at ${order} limit 1)`
  const days = `interval '${gap_days_max} days'`
  return transaction.query<Reach>(
    `select t.inverter_id, coalesce(b.hour_at, t.first_at - ${days} - interval '1 hour') as from_at,
            coalesce(a.hour_at, t.last_at + interval '1 hour') as to_at
     from unnest($2::int[], $3::timestamptz[], $4::timestamptz[])
       as t (inverter_id, first_at, last_at)
     ${nearest(`hour_at < t.first_at and hour_at >= t.first_at - ${days}`, 'desc')} b on true
     ${nearest(`hour_at > t.last_at and hour_at <= t.last_at + ${days} + interval '1 hour'`, 'asc')}
       a on true
     order by t.inverter_id`,
    [site_id, ...columnsOf(ranges)],
  )
}

async function readSources(
  transaction: Transaction,
  site_id: string,
  reaches: readonly Reach[],
): Promise<Map<number, GapSource[]>> {
  const rows = await transaction.query<GapSource & { inverter_id: number }>(
    `select h.inverter_id, h.hour_at, ac_energy_kwh, covered_s, sun_covered_s, expected_energy_kwh,
            counter_first_at, counter_first_kwh, counter_last_at, counter_last_kwh,
            head_kwh, head_covered_s, tail_kwh, tail_covered_s
     from unnest($2::int[], $3::timestamptz[], $4::timestamptz[]) as t (inverter_id, from_at, to_at)
     join inverter_hours h on h.site_id = $1 and h.inverter_id = t.inverter_id
       and h.hour_at >= t.from_at and h.hour_at <= t.to_at
     order by h.inverter_id, h.hour_at`,
    [site_id, ...columnsOf(reaches)],
  )
  return Map.groupBy(rows, ({ inverter_id }) => inverter_id)
}

/** Replaces the gaps that start within the reaches; returns the old gaps. */
async function replaceGaps(
  transaction: Transaction,
  site_id: string,
  reaches: readonly Reach[],
  shared: readonly object[],
): Promise<{ hour_at: Date }[]> {
  const gone = await transaction.query<{ hour_at: Date }>(
    `delete from inverter_gap_hours g
     using unnest($2::int[], $3::timestamptz[], $4::timestamptz[]) as t (inverter_id, from_at, to_at)
     where g.site_id = $1 and g.inverter_id = t.inverter_id
       and g.gap_start_at >= t.from_at and g.gap_start_at < t.to_at
     returning g.hour_at`,
    [site_id, ...columnsOf(reaches)],
  )
  await transaction.execute(
    `insert into inverter_gap_hours (site_id, inverter_id, hour_at, gap_start_at, energy_kwh)
     select $1, inverter_id, hour_at, gap_start_at, energy_kwh
     from jsonb_populate_recordset(null::inverter_gap_hours, $2::jsonb)`,
    [site_id, JSON.stringify(shared)],
  )
  return gone
}

/** Recomputes the hours of all loggers from their inverters in service. */
async function storeLoggerHours(
  transaction: Transaction,
  site_id: string,
  hours: readonly number[],
): Promise<void> {
  const touched = hours.map(isoTime)
  const values = [site_id, touched]
  await transaction.execute(
    'delete from logger_hours where site_id = $1 and hour_at = any($2::timestamptz[])',
    values,
  )
  await transaction.execute(loggerHours, values)
  await storeLoggerDays(transaction, site_id, touched)
}

const columns = [
  'hour_at',
  'logger_id',
  'inverter_count',
  'known_count',
  'energy_kwh',
  'estimated_energy_kwh',
  'energy_source',
  'sample_count',
  'awake_covered_s',
  'sun_covered_s',
  'expected_energy_kwh',
  'curtailment_loss_kwh',
  'insolation_kwh_m2',
  'first_production_at',
  'last_production_at',
  'clipped_s',
  'fault_s',
].join(', ')

/** Peak power over the inverters with readings. */
const peaks = `
  select distinct on (logger_id, hour_at) logger_id, hour_at, power_kw as peak_power_kw,
         hour_at + (slot - 1) * interval '${slot_ms} milliseconds' as peak_power_at
  from (
    select logger_id, hour_at, slot, sum(power_kw order by inverter_id) as power_kw
    from parts, unnest(slot_power_kw) with ordinality as s (power_kw, slot)
    where power_kw is not null
    group by logger_id, hour_at, slot
  ) as slots
  order by logger_id, hour_at, power_kw desc, slot`

const slots = hour_ms / slot_ms
const slots_each = slots / 4
/** Ratio above which counter energy must come from unmeasured time. */
const unmeasured_ratio = 1.05

/**
 * Query of the quarters of the hours in `parts`: the energy of each logger and quarter, kWh, which
 * adds up to the energy of the inverters, and the number of known five-minute means. Energy is
 * distributed by mean power. Counter energy clearly above the measured power is distributed evenly
 * to the time without power readings, or to the whole hour without any. A fixed order of summation
 * keeps the last digits reproducible.
 */
const quarters = `
  select logger_id, hour_at, array_agg(kwh order by quarter) as quarter_kwh,
         array_agg(slots order by quarter) as quarter_slot_count
  from (
    select logger_id, hour_at, quarter, sum(slots)::int as slots,
           sum(case when open_slots > 0 and kwh > ${unmeasured_ratio} * all_known_kwh
                      then known_kwh
                        + (kwh - all_known_kwh) * (${slots_each} - slots) / open_slots
                    when all_known_kwh > 0 then kwh * known_kwh / all_known_kwh
                    else kwh / 4 end order by inverter_id) as kwh
    from (
      select logger_id, inverter_id, hour_at, quarter, kwh, known_kwh, slots,
             sum(known_kwh) over of_hour as all_known_kwh,
             ${slots} - sum(slots) over of_hour as open_slots
      from parts
      cross join generate_series(0, 3) as quarter
      cross join lateral (
        select coalesce(sum(greatest(kw, 0)), 0) / ${slots} as known_kwh, count(kw) as slots
        from unnest(slot_power_kw[${slots_each} * quarter + 1 : ${slots_each} * quarter + ${slots_each}])
          as kw
      ) as of_quarter
      where source is not null
      window of_hour as (partition by inverter_id, hour_at order by quarter
        rows between unbounded preceding and unbounded following)
    ) as shares
    group by logger_id, hour_at, quarter
  ) as of_logger
  group by logger_id, hour_at`

/** Fixed order of summation, for reproducible last digits. */
const sum = (of: string) => `sum(${of} order by inverter_id)`

const loggerHours = `
  with parts as (
    select i.inverter_id, i.logger_id, i.dc_capacity_kwp, t.hour_at, h.*, g.gap_kwh,
           coalesce(h.ac_energy_kwh, 0) + coalesce(g.gap_kwh, 0) as kwh,
           case when h.energy_source is null then
                  case when g.gap_kwh is not null then 'counter_over_gap' end
                when coalesce(g.gap_kwh, 0) = 0 then h.energy_source
                else 'mixed' end as source
    from unnest($2::timestamptz[]) as t (hour_at)
    join inverters i on i.site_id = $1 and (i.retired_at is null or i.retired_at > t.hour_at)
    left join lateral (
      select ac_energy_kwh, energy_source, sample_count,
             coalesce(awake_covered_s, daylight_covered_s) as awake_covered_s, sun_covered_s,
             expected_energy_kwh, curtailment_loss_kwh, insolation_kwh_m2, slot_power_kw,
             first_production_at, last_production_at, clipped_s, fault_s
      from inverter_hours
      where site_id = $1 and inverter_id = i.inverter_id and hour_at = t.hour_at
    ) as h on true
    left join lateral (
      select sum(energy_kwh order by gap_start_at) as gap_kwh from inverter_gap_hours
      where site_id = $1 and inverter_id = i.inverter_id and hour_at = t.hour_at
    ) as g on true
  ), peaks as (${peaks}), quarters as (${quarters}), totals as (
    select hour_at, logger_id, count(*)::int as inverter_count, count(source)::int as known_count,
           ${sum('kwh')} filter (where source is not null) as energy_kwh,
           coalesce(${sum('gap_kwh')}, 0) as estimated_energy_kwh,
           case count(distinct source) when 0 then null when 1 then min(source) else 'mixed' end
             as energy_source,
           sum(sample_count)::int as sample_count,
           coalesce(${sum('awake_covered_s')}, 0) as awake_covered_s,
           coalesce(${sum('sun_covered_s')}, 0) as sun_covered_s,
           ${sum('expected_energy_kwh')} filter (where sun_covered_s > 0) as expected_energy_kwh,
           ${sum('curtailment_loss_kwh')} filter (where sun_covered_s > 0) as curtailment_loss_kwh,
           ${sum('insolation_kwh_m2 * dc_capacity_kwp')} filter (where sun_covered_s > 0)
             / nullif(${sum('dc_capacity_kwp')} filter (where sun_covered_s > 0), 0)
             as insolation_kwh_m2,
           min(first_production_at) as first_production_at,
           max(last_production_at) as last_production_at,
           ${sum('clipped_s')} filter (where source is not null) as clipped_s,
           ${sum('fault_s')} filter (where source is not null) as fault_s,
           count(sun_covered_s) + count(source) as heard
    from parts group by hour_at, logger_id
  )
  insert into logger_hours (site_id, ${columns}, peak_power_kw, peak_power_at, quarter_kwh,
    quarter_slot_count)
  select $1, ${columns}, peak_power_kw, peak_power_at, quarter_kwh, quarter_slot_count
  from totals left join peaks using (hour_at, logger_id)
    left join quarters using (hour_at, logger_id)
  where heard > 0`
