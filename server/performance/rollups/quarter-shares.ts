/** SQL that distributes the energy of an inverter's hour to its quarters. */
import { hour_ms } from '@heliograph/domain/durations'
import { slot_ms } from './hour-facts.ts'

const slots = hour_ms / slot_ms
const slots_each = slots / 4
/** Ratio above which counter energy must come from unmeasured time. */
const unmeasured_ratio = 1.05

/**
 * Query of the quarters of the hours in `parts` (inverter_id, logger_id, hour_at, kwh, source,
 * slot_power_kw): the energy of the quarters of each logger and hour, kWh, which adds up to the
 * energy of its inverters, and the number of known five-minute means. Energy is distributed by mean
 * power. Counter energy clearly above the measured power is distributed evenly to the time without
 * power readings, or to the whole hour without any. A fixed order of summation keeps the last
 * digits reproducible.
 */
export const quartersOf = (parts: string) => `
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
      from ${parts}
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
