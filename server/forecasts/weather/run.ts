/** Issued weather forecasts, and the newest of them known at an instant. */
import { day_ms, minute_ms, quarter_ms } from '@heliograph/domain/durations'
import { type WeatherStep, weather_quantities } from '@heliograph/forecast/weather-step'
import { SourceFault } from '../../markets/sources/source.ts'

export interface ForecastStep extends WeatherStep {
  /** Quantiles of the ensemble; null without one. */
  ghi_p10_w_m2: number | null
  ghi_p90_w_m2: number | null
}

export type Quantity = Exclude<keyof ForecastStep, 'start_ms' | 'end_ms'>

/** In the order of their columns. */
export const quantities = [
  ...weather_quantities,
  'ghi_p10_w_m2',
  'ghi_p90_w_m2',
] as const satisfies readonly Quantity[]

/** A forecast as issued, in consecutive steps of one length. */
export interface NewRun {
  site_id: string
  source: string
  /** `previous`: from an archive, each step issued `lead_minutes` before its end. */
  kind: 'live' | 'previous'
  /**
   * As reported by the source, at most `fetched_at`, which is the default. For `previous` the issue
   * time of the last step.
   */
  issued_at: Date
  fetched_at: Date
  /** Weather model, as named by the source. */
  model: string | null
  lead_minutes: number | null
  steps: readonly ForecastStep[]
}

export interface WeatherRun extends NewRun {
  run_id: number
}

export interface RunFacts extends Omit<WeatherRun, 'steps'> {
  resolution_minutes: number
  from_at: Date
  to_at: Date
}

export interface KnownStep extends ForecastStep {
  issued_at: Date
  source: string
}

export const run_days_max = 16

/** Supported step lengths: multiples of a quarter hour that divide an hour. */
export const resolutions_minutes = [15, 30, 60] as const

/** Issue time of a step, Unix ms. */
function issueOf(run: NewRun, step: ForecastStep): number {
  if (run.lead_minutes === null) return run.issued_at.getTime()
  return step.end_ms - run.lead_minutes * minute_ms
}

/**
 * For each step that overlaps [from_ms, to_ms), the newest forecast known at `knownBy` of its
 * start: issued by then and, for live runs, fetched by then. Ascending and without overlap; where
 * step lengths differ, the newest run takes precedence. Steps without any value are ignored.
 */
export function newestKnown(
  runs: readonly NewRun[],
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
  knownBy: (start_ms: number) => number,
): KnownStep[] {
  const candidates = runs.flatMap((run) =>
    run.steps.flatMap((step) => {
      if (step.end_ms <= from_ms || step.start_ms >= to_ms || isEmpty(step)) return []
      const issued_ms = issueOf(run, step)
      const known_ms = run.kind === 'live' ? run.fetched_at.getTime() : issued_ms
      const by_ms = knownBy(step.start_ms)
      return issued_ms <= by_ms && known_ms <= by_ms ? [{ run, step, issued_ms }] : []
    }),
  )
  candidates.sort(
    (a, b) => b.issued_ms - a.issued_ms || Number(b.run.fetched_at) - Number(a.run.fetched_at),
  )
  const taken = new Set<number>()
  const known: KnownStep[] = []
  for (const { run, step, issued_ms } of candidates) {
    const slots = slotsOf(step)
    if (slots.some((slot) => taken.has(slot))) continue
    for (const slot of slots) taken.add(slot)
    known.push({ ...step, issued_at: new Date(issued_ms), source: run.source })
  }
  return known.sort((a, b) => a.start_ms - b.start_ms)
}

const isEmpty = (step: ForecastStep) => quantities.every((quantity) => step[quantity] === null)

function slotsOf({ start_ms, end_ms }: ForecastStep): number[] {
  const first = Math.floor(start_ms / quarter_ms)
  return Array.from({ length: (end_ms - start_ms) / quarter_ms }, (_, index) => first + index)
}

/** @throws {SourceFault} for a run that must not be stored */
export function checkRun({ source, kind, lead_minutes, issued_at, fetched_at, steps }: NewRun) {
  const fault = (why: string) => new SourceFault(`${source}: ${why}`)
  const [first] = steps
  if (!first) throw fault('it has no steps')
  const step_ms = first.end_ms - first.start_ms
  const resolution_minutes = resolutions_minutes.find((minutes) => minutes * minute_ms === step_ms)
  if (!resolution_minutes) throw fault(`steps of ${step_ms / minute_ms} minutes`)
  if (first.start_ms % step_ms !== 0) throw fault('its steps do not begin on the hour')
  if (steps.length * step_ms > run_days_max * day_ms) {
    throw fault(`it reaches further than ${run_days_max} days`)
  }
  for (const [index, { start_ms, end_ms }] of steps.entries()) {
    const expected_ms = first.start_ms + index * step_ms
    if (start_ms !== expected_ms || end_ms !== expected_ms + step_ms) {
      throw fault(`step ${index} does not follow the one before it`)
    }
  }
  if ((kind === 'previous') !== (lead_minutes !== null)) throw fault('a lead is of previous runs')
  if (issued_at > fetched_at) throw fault('issued after it was fetched')
  return { resolution_minutes }
}
