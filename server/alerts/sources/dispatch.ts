/** Batteries that deviate from their approved schedule. */
import { minute_ms } from '@heliograph/domain/durations'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import { type ApprovedPlan, plannedPower, readPlans } from '../../batteries/unit-day.ts'
import { type AlertSource, type Finding, ofUnit, type SourceContext } from '../finding.ts'

const looked_back_minutes_min = 30

interface PlannedUnit {
  bess_id: number
  name: string
  rated_power_kw: number
  plans: ApprovedPlan[]
}

interface MinutePower {
  bess_id: number
  start_ms: number
  power_kw: number
}

/** Compares means of whole minutes, so that a ramp within a minute does not count. */
export const findDispatch: AlertSource = async (context) => {
  const { settings, now } = context
  const units = await readPlanned(context)
  if (units.length === 0) return { findings: [], isUnknown: () => false }
  const { thresholds, raise_delay_s } = settings.rules.dispatch_deviation
  const looked_back = Math.max(looked_back_minutes_min, Math.ceil(raise_delay_s / 30))
  const end_ms = Math.floor(now.getTime() / minute_ms) * minute_ms
  const minutes = await readMinutes(context, {
    ids: units.map(({ bess_id }) => bess_id),
    end_ms,
    // Only the plans of today are read.
    start_ms: Math.max(end_ms - looked_back * minute_ms, utcDayStart(now.getTime())),
  })
  const unread = new Set<number>()
  const findings = units.flatMap((unit) => {
    const own = minutes.filter(({ bess_id }) => bess_id === unit.bess_id)
    if (own.at(-1)?.start_ms !== end_ms - minute_ms) unread.add(unit.bess_id)
    return deviationOf(unit, own, thresholds.deviation_pct) ?? []
  })
  return {
    findings,
    isUnknown: ({ bess_id }) => bess_id !== null && unread.has(bess_id),
  }
}

/** Units with all plans approved for today; plans count days in UTC. */
async function readPlanned({ db, site: { site_id }, now }: SourceContext): Promise<PlannedUnit[]> {
  const units = await db.query<Omit<PlannedUnit, 'plans'>>(
    `select bess_id, name,
       greatest(rated_charge_power_kw, rated_discharge_power_kw) as rated_power_kw
     from batteries where site_id = $1 and retired_at is null order by bess_id`,
    [site_id],
  )
  const planned = units.map(async (unit) => ({
    ...unit,
    plans: await readPlans(db, { ...unit, site_id }, utcDate(now)),
  }))
  return (await Promise.all(planned)).filter(({ plans }) => plans.length > 0)
}

const readMinutes = (
  { db, site }: SourceContext,
  { ids, start_ms, end_ms }: { ids: number[]; start_ms: number; end_ms: number },
) =>
  db.query<MinutePower>(
    `select bess_id, (60000 * floor(extract(epoch from measured_at) / 60))::float8 as start_ms,
       avg(power_kw)::float8 as power_kw
     from bess_readings
     where site_id = $1 and bess_id = any($2) and measured_at >= $3 and measured_at < $4
       and power_kw is not null
     group by 1, 2
     order by 1, 2`,
    [site.site_id, ids, new Date(start_ms), new Date(end_ms)],
  )

/** The deviation of the last minute, since it exceeds the threshold on the same side; pure. */
export function deviationOf(
  { bess_id, name, rated_power_kw, plans }: PlannedUnit,
  minutes: readonly MinutePower[],
  deviation_pct: number,
): Finding | null {
  const threshold = (deviation_pct / 100) * rated_power_kw
  const deviations = minutes.map(({ start_ms, power_kw }) => {
    const planned_kw = plannedPower(plans, { start_ms, end_ms: start_ms + minute_ms })
    return {
      start_ms,
      power_kw,
      planned_kw,
      by_kw: planned_kw === null ? 0 : power_kw - planned_kw,
    }
  })
  const last = deviations.at(-1)
  if (!last || Math.abs(last.by_kw) <= threshold) return null
  const last_within = deviations.findLastIndex(
    ({ by_kw }) => Math.abs(by_kw) <= threshold || by_kw > 0 !== last.by_kw > 0,
  )
  const power_kw = Math.round(10 * last.power_kw) / 10
  const by_kw = Math.round(10 * Math.abs(last.by_kw)) / 10
  const way = last.by_kw > 0 ? 'above' : 'below'
  return {
    code: 'dispatch_deviation',
    ...ofUnit(bess_id),
    since: new Date(deviations[last_within + 1]!.start_ms),
    message: `${name} delivers ${power_kw} kW, ${by_kw} kW ${way} its approved schedule.`,
    value: by_kw,
    threshold,
    unit: 'kW',
  }
}
