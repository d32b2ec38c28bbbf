/** Stores the charged and discharged energy of batteries on past UTC days. */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import type { Database, Queries } from '../storage/database.ts'
import { holdBatteryMarks, marked_day } from '../telemetry/battery-day-marks.ts'
import { type BatteryDay, readBatteryDay } from './battery-days.ts'
import type { Unit } from './unit-energy.ts'

/** Counters are interpolated across midnight, so the last quarter hour needs later readings. */
const settled_ms = hour_ms

interface Run {
  /** Sums of this many last days are recomputed in every run. */
  again_days: number
  /** Sums of older days are not recomputed, as their readings may be thinned. Null: no limit. */
  kept_days: number | null
  now: Date
  /** Ends the run between two days. */
  signal: AbortSignal
}

/**
 * Computes days without a sum, days with later readings, and the last days again. Only energy is
 * stored, so that changes of prices and contracts need no new sums.
 */
export async function sumBatteryDays(
  db: Database,
  { again_days, kept_days, now, signal }: Run,
): Promise<void> {
  const last_ms = utcDayStart(now.getTime() - settled_ms) - day_ms
  const daysAgo = (days: number) => new Date(now.getTime() - days * day_ms)
  const due = await dueDays(db, {
    last: new Date(last_ms),
    again_from: daysAgo(Math.min(again_days, kept_days ?? again_days)),
    kept_from: kept_days === null ? null : daysAgo(kept_days),
  })
  for (const { at, ...unit } of due) {
    signal.throwIfAborted()
    await sumDay(db, unit, { start_ms: at.getTime(), now })
  }
}

/** Newest first. */
function dueDays(
  db: Queries,
  { last, again_from, kept_from }: { last: Date; again_from: Date; kept_from: Date | null },
): Promise<(Unit & { at: Date })[]> {
  return db.query(
    `select b.site_id, b.bess_id, b.rated_charge_power_kw, b.rated_discharge_power_kw, day.at
     from batteries b
     cross join lateral (
       select date_trunc('day', measured_at) as at from bess_readings r
       where r.site_id = b.site_id and r.bess_id = b.bess_id
       order by measured_at limit 1
     ) as first
     cross join lateral generate_series(first.at, least($1, b.retired_at), '1 day') as day (at)
     left join battery_days d
       on d.site_id = b.site_id and d.bess_id = b.bess_id and d.date = day.at::date
     where d.date is null or day.at >= $2
       or (d.summed_at = ${marked_day} and ($3::timestamptz is null or day.at >= $3))
     order by day.at desc, b.site_id, b.bess_id`,
    [last, again_from, kept_from],
  )
}

async function sumDay(
  db: Database,
  unit: Unit,
  { start_ms, now }: { start_ms: number; now: Date },
): Promise<void> {
  await db.transaction(async (transaction) => {
    await holdBatteryMarks(transaction)
    const day = await readBatteryDay(transaction, unit, { start_ms, end_ms: start_ms + day_ms })
    await storeDay(transaction, unit, { start_ms, now, day })
  })
}

async function storeDay(
  db: Queries,
  unit: Unit,
  { start_ms, now, day }: { start_ms: number; now: Date; day: BatteryDay },
): Promise<void> {
  await db.execute(
    `insert into battery_days (site_id, bess_id, date, charged_wh, discharged_wh, summed_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (site_id, bess_id, date) do update
       set charged_wh = excluded.charged_wh, discharged_wh = excluded.discharged_wh,
         summed_at = excluded.summed_at`,
    [unit.site_id, unit.bess_id, utcDate(start_ms), day.charged_wh, day.discharged_wh, now],
  )
}
