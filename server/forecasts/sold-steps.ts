/** Energy offered day-ahead: the last forecast before the gate closure, minus known outages. */
import type { Queries } from '../storage/database.ts'
import type { Span } from './course.ts'
import type { Gate } from './gate-closure.ts'
import { isOutage, readKnownLimits } from './limits.ts'
import { inService, type PlantShare } from './outages.ts'
import { targetOf } from './targets.ts'
import { leadSpans, readVintageSteps, type VintageStep } from './vintage-steps.ts'

/** The span is widened to the UTC days that overlap it. */
interface SoldQuery extends Span {
  site_id: string
  /** null: the site, whose plants are `logger_ids`. */
  logger_id: number | null
  logger_ids: readonly number[]
}

/** Steps, ascending, with the forecast and the planned outages known at the gate closure. */
export async function readSoldSteps(
  db: Queries,
  { site_id, logger_id, logger_ids, from_ms, to_ms }: SoldQuery,
  gate: Gate,
): Promise<VintageStep[]> {
  const target = targetOf(logger_id)
  const asked = {
    lead_time: 'day_ahead',
    spans: leadSpans('day_ahead', { from_ms, to_ms }, gate),
  } as const
  const issued = await readVintageSteps(db, { site_id, target }, asked)
  const outages = await readOutages(db, site_id, issued)
  if (outages.length === 0) return issued
  const shares = logger_id === null ? await plantShares(db, { site_id, logger_ids }, asked) : []
  return issued.map((step) => {
    const known = outages.filter(
      ({ reported_ms }) => reported_ms === null || reported_ms <= step.known_ms,
    )
    return known.length === 0 ? step : lowered(step, inService(target, known, shares)(step))
  })
}

async function readOutages(db: Queries, site_id: string, steps: readonly VintageStep[]) {
  const [first, last] = [steps.at(0), steps.at(-1)]
  if (first === undefined || last === undefined) return []
  const window = { from: new Date(first.start_ms), to: new Date(last.end_ms) }
  return (await readKnownLimits(db, site_id, window)).filter(isOutage)
}

/** Forecast of each plant on the same steps. */
async function plantShares(
  db: Queries,
  { site_id, logger_ids }: { site_id: string; logger_ids: readonly number[] },
  asked: Parameters<typeof readVintageSteps>[2],
): Promise<PlantShare[]> {
  const shares: PlantShare[] = []
  for (const logger_id of logger_ids) {
    const steps = await readVintageSteps(db, { site_id, target: targetOf(logger_id) }, asked)
    const known = new Map(steps.map((step) => [step.start_ms, step.p50_kw]))
    shares.push({ logger_id, power: ({ start_ms }) => known.get(start_ms) ?? 0 })
  }
  return shares
}

function lowered(step: VintageStep, left: number): VintageStep {
  const scaled = (power_kw: number | null) => (power_kw === null ? null : power_kw * left)
  const [p10_kw, p90_kw] = [scaled(step.p10_kw), scaled(step.p90_kw)]
  return { ...step, p10_kw, p50_kw: scaled(step.p50_kw), p90_kw }
}
