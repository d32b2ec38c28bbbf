/** What plants could offer a day ahead: the last forecast in time, less outages told by then. */
import type { Queries } from '../storage/database.ts'
import type { Gate } from './gate-closure.ts'
import { isOutage, type KnownLimit, readKnownLimits } from './limits.ts'
import { inService, type PlantShare } from './outages.ts'
import { targetOf } from './targets.ts'
import { leadSpans, readVintageSteps, type VintageStep } from './vintage-steps.ts'

interface SoldAsked {
  site_id: string
  /** null: the site, of which these are the plants. */
  logger_id: number | null
  logger_ids: readonly number[]
  /** Unix ms: all steps of the days of UTC that share time with [from_ms, to_ms). */
  from_ms: number
  to_ms: number
}

/**
 * The steps, ascending, with what was forecast of each by the gate closure. Of planned outages
 * those count that had been told of by then.
 */
export async function readSoldSteps(
  db: Queries,
  { site_id, logger_id, logger_ids, from_ms, to_ms }: SoldAsked,
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
    const told = outages.filter(({ told_ms }) => told_ms === null || told_ms <= step.known_ms)
    return told.length === 0 ? step : lowered(step, inService(target, told, shares)(step))
  })
}

async function readOutages(
  db: Queries,
  site_id: string,
  steps: readonly VintageStep[],
): Promise<KnownLimit[]> {
  const [first, last] = [steps.at(0), steps.at(-1)]
  if (first === undefined || last === undefined) return []
  const window = { from: new Date(first.start_ms), to: new Date(last.end_ms) }
  return (await readKnownLimits(db, site_id, window)).filter(isOutage)
}

/** What was forecast of each plant on the same steps. */
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
