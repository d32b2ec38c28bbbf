/** Deletes forecast runs of days that are no longer scored, except those that are still read. */
import { day_ms } from '@heliograph/domain/durations'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import type { Queries } from '../storage/database.ts'
import { type Gate, usualGate } from './gate-closure.ts'
import { scored_days_max } from './score-runs.ts'
import type { Target } from './targets.ts'
import { leadSpans } from './vintage-steps.ts'

interface RunDay {
  site_id: string
  target: Target
  target_date: string
}

/**
 * For each target and UTC day before the scored days, keeps the newest run and the last run before
 * each gate closure of every market, as contracts may be corrected later. Hindcasts are deleted by
 * `replaceHindcasts`.
 */
export async function thinRuns(db: Queries, now: Date, signal: AbortSignal): Promise<void> {
  const scored_from_ms = utcDayStart(now) - scored_days_max * day_ms
  const gates = await readGates(db)
  const kept_count_max = gateInstants(gates, scored_from_ms).length + 1
  const days = await db.query<RunDay>(
    `select site_id, target, target_date::text as target_date from forecast_runs
     where target_date < $1 and not is_hindcast
     group by site_id, target, target_date having count(*) > $2`,
    [utcDate(scored_from_ms), kept_count_max],
  )
  for (const day of days) {
    signal.throwIfAborted()
    await thinDay(db, day, gateInstants(gates, Date.parse(day.target_date)))
  }
}

const readGates = async (db: Queries): Promise<Gate[]> => [
  usualGate,
  ...(await db.query<Gate>(
    `select distinct timezone, coalesce(gate_closure_local, $1) as gate_closure_local from markets`,
    [usualGate.gate_closure_local],
  )),
]

/** Distinct gate closures of all markets for a UTC day, Unix ms. */
function gateInstants(gates: readonly Gate[], day_start_ms: number): number[] {
  const day = { from_ms: day_start_ms, to_ms: day_start_ms + day_ms }
  const spans = gates.flatMap((gate) => leadSpans('day_ahead', day, gate))
  return [...new Set(spans.map(({ gate_ms }) => gate_ms))]
}

async function thinDay(db: Queries, day: RunDay, gates_ms: readonly number[]): Promise<void> {
  const instants = [...gates_ms.map((ms) => new Date(ms).toISOString()), 'infinity']
  await db.execute(
    `delete from forecast_runs
     where site_id = $1 and target = $2 and target_date = $3 and not is_hindcast
       and run_id not in (
         select last.run_id
         from unnest($4::timestamptz[]) as known (at)
         cross join lateral (
           select run_id from forecast_runs
           where site_id = $1 and target = $2 and target_date = $3 and not is_hindcast
             and issued_at <= known.at
           order by issued_at desc, run_id desc limit 1
         ) as last)`,
    [day.site_id, day.target, day.target_date, instants],
  )
}
