/**
 * Score of power forecasts as they are served: `npm run score:plants`. At each origin a plant has a
 * history of some days; its model is trained and its next days are forecast by the tasks of the
 * forecast thread (`server/forecasts/perform.ts`), each day at once. Physics is what is served
 * without a model, with the errors of the plant's last 30 days. Settings may be chosen on
 * `--set tuning` alone: other plants and later months than those of `--set held-out`.
 */
import { parseArgs } from 'node:util'
import { day_ms, hour_ms, quarter_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import type { ProductionForecast } from '@heliograph/forecast/production-forecast'
import type { ProductionSample } from '@heliograph/forecast/production-samples'
import { productionScorer } from '@heliograph/forecast/production-scores'
import { addSums, noSums, type ScoreSums, scoresOf } from '@heliograph/forecast/score-sums'
import { seedOf } from '@heliograph/forecast/seeded-random'
import { type Course, emptyCourse, flag } from '../server/forecasts/course.ts'
import { perform } from '../server/forecasts/perform.ts'
import type { Answers, History, PredictItem } from '../server/forecasts/tasks.ts'
import { holdOutDays } from '../server/forecasts/train.ts'
import { type GridStep, packSteps } from '../server/forecasts/weather-grid.ts'
import { type ScoredPlant, scoredPlants } from './scored-plants.ts'

const { values } = parseArgs({
  options: {
    set: { type: 'string', default: 'held-out' },
    history: { type: 'string', default: '7,30,90,365' },
    plants: { type: 'string', default: '' },
    every: { type: 'string', default: '28' },
  },
})

/** Days forecast at an origin. */
const days_ahead = 7
/** History of the errors of physics. */
const recent_days = 30
const coverage_limits = [77, 83] as const

/** Plants and origins of each set; origins begin after the first date. */
const sets: Record<string, Record<string, { from: string; to: string }>> = {
  tuning: {
    zone1: { from: '2012-04-01', to: '2013-07-01' },
    R15: { from: '2018-04-01', to: '2019-04-01' },
    north5: { from: '2024-04-01', to: '2025-07-01' },
  },
  'held-out': {
    zone2: { from: '2013-07-01', to: '2014-01-01' },
    zone3: { from: '2013-07-01', to: '2014-01-01' },
    R10: { from: '2018-04-01', to: '2019-04-01' },
    north6: { from: '2024-04-01', to: '2025-07-01' },
  },
}

interface Outcome {
  served: ScoreSums
  physics: ScoreSums
  /** 1 if the trained model is served. */
  learnt: number
  origins: number
}

const nothing: Outcome = { served: noSums, physics: noSums, learnt: 0, origins: 0 }

const add = (a: Outcome, b: Outcome): Outcome => ({
  served: addSums(a.served, b.served),
  physics: addSums(a.physics, b.physics),
  learnt: a.learnt + b.learnt,
  origins: a.origins + b.origins,
})

function main(): void {
  const set = sets[values.set]
  if (!set) throw new RangeError(`--set is ${values.set}, not ${Object.keys(sets).join(' or ')}`)
  const named = values.plants === '' ? Object.keys(set) : values.plants.split(',')
  const plants = scoredPlants().filter(({ name }) => set[name] && named.includes(name))
  print([
    'plant',
    'history',
    'origins',
    'learnt',
    'hours',
    'coverage',
    'pinball',
    'physics',
    'cover.ph',
    'better',
    'bias',
    'seconds',
  ]) // percent of the rated power
  for (const history_days of values.history.split(',').map(Number)) {
    for (const scored of plants) {
      const started = process.cpuUsage()
      const { from, to } = set[scored.name]!
      const span = { from_ms: Date.parse(from), to_ms: Date.parse(to) }
      const outcome = originsOf(scored, history_days, span)
        .map((at_ms) => scoreOrigin(scored, history_days, at_ms))
        .reduce(add, nothing)
      const seconds = process.cpuUsage(started).user / 1e6
      if (outcome.served.count > 0) printOutcome(scored, history_days, outcome, seconds)
    }
  }
}

/** Each `--every` days from the first day after a whole history, within the span. */
function originsOf(
  { samples }: ScoredPlant,
  history_days: number,
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): number[] {
  const first_ms = Math.max(from_ms, samples[0]!.start_ms + history_days * day_ms)
  const last_ms = Math.min(to_ms, samples.at(-1)!.end_ms) - days_ahead * day_ms
  const step_ms = Number(values.every) * day_ms
  const count = Math.max(0, Math.floor((last_ms - first_ms) / step_ms) + 1)
  return Array.from({ length: count }, (_, nth) => first_ms + nth * step_ms)
}

function scoreOrigin(scored: ScoredPlant, history_days: number, at_ms: number): Outcome {
  const { name, plant, samples } = scored
  const history = historyOf(samples, at_ms - history_days * day_ms, at_ms)
  const { trained } = perform({
    kind: 'train',
    plant,
    history,
    hold_out_days: holdOutDays(history_days),
    previous: null,
    seed: seedOf(`${name} ${history_days} ${utcDate(at_ms)}`),
  }) as Answers['train']
  const days = Array.from({ length: days_ahead }, (_, day) => {
    const { grid, weather } = historyOf(samples, at_ms + day * day_ms, at_ms + (day + 1) * day_ms)
    return { grid, weather: weather[0]! }
  })
  const recent = historyOf(samples, at_ms - Math.min(history_days, recent_days) * day_ms, at_ms)
  const physics: PredictItem = { plant, days, model: null, history: recent }
  const model = trained && !trained.is_worse ? trained.model : null
  const items = [physics, model === null ? physics : { plant, days, model, history: null }]
  const forecasts = perform({ kind: 'predict', items }) as Answers['predict']
  const [by_physics, served] = forecasts.map((of_days) => sumsOf(scored, of_days!))
  return { served: served!, physics: by_physics!, learnt: model === null ? 0 : 1, origins: 1 }
}

function sumsOf({ plant, samples }: ScoredPlant, days: readonly ProductionForecast[]): ScoreSums {
  const first_ms = samples[0]!.start_ms
  const sampleAt = (at_ms: number) => samples[(at_ms - first_ms) / hour_ms]!
  const score = productionScorer(plant, ({ start_ms }) => sampleAt(start_ms) ?? null)
  return days
    .flatMap(({ points }) => points)
    .filter(({ start_ms }) => sampleAt(start_ms).weather !== null)
    .map((point) => score({ ...point, known_ms: point.start_ms - day_ms, is_hindcast: true }))
    .reduce(addSums, noSums)
}

/** Whole UTC days as the server reads them. */
function historyOf(samples: readonly ProductionSample[], from_ms: number, to_ms: number): History {
  const first_ms = samples[0]!.start_ms
  const within = samples.slice((from_ms - first_ms) / hour_ms, (to_ms - first_ms) / hour_ms)
  return {
    course: courseOf(within, from_ms),
    weather: [packSteps(within.flatMap(gridStepOf))],
    grid: { from_ms, to_ms, step_ms: hour_ms },
  }
}

function courseOf(samples: readonly ProductionSample[], from_ms: number): Course {
  const per_hour = hour_ms / quarter_ms
  const course = emptyCourse(from_ms, samples.length * per_hour)
  for (const [nth, { available_kwh, completeness_pct, is_clipped }] of samples.entries()) {
    const [start, end] = [nth * per_hour, (nth + 1) * per_hour]
    const energy_wh = ((available_kwh ?? Number.NaN) * 1000) / per_hour
    course.available_wh.fill(energy_wh, start, end)
    course.energy_wh.fill(energy_wh, start, end)
    course.completeness_pct.fill(completeness_pct, start, end)
    course.flags.fill(is_clipped ? flag.clipped : 0, start, end)
  }
  return course
}

function gridStepOf({ weather, start_ms, lead_time_h }: ProductionSample): GridStep[] {
  if (weather === null) return []
  const issued_ms = start_ms - lead_time_h * hour_ms
  return [{ ...weather, ghi_spread_w_m2: weather.ghi_spread_w_m2 ?? null, issued_ms }]
}

function printOutcome(
  { name, plant }: ScoredPlant,
  history_days: number,
  { served, physics, learnt, origins }: Outcome,
  seconds: number,
): void {
  const [own, other] = [scoresOf(served), scoresOf(physics)]
  const pct = (value: number | null) => ((100 * value!) / plant.rated_power_kw).toFixed(3)
  const coverage = own.coverage_pct!
  print([
    name,
    `${history_days}`,
    `${origins}`,
    `${learnt}`,
    `${served.count}`,
    `${coverage.toFixed(1)}${coverage < coverage_limits[0] || coverage > coverage_limits[1] ? '*' : ' '}`,
    pct(own.pinball),
    pct(other.pinball),
    other.coverage_pct!.toFixed(1),
    `${(100 * (1 - own.pinball! / other.pinball!)).toFixed(1)}%`,
    pct(own.bias),
    seconds.toFixed(0),
  ])
}

function print(cells: readonly string[]): void {
  process.stdout.write(`${cells.map((cell) => cell.padStart(9)).join('')}\n`)
}

main()
