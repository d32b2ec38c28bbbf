/** What the forecast thread does for each kind of task. */
import {
  fitPhysicalErrors,
  type PhysicalErrors,
  predictPhysical,
  published_errors,
} from '@heliograph/forecast/physical-forecast'
import type { Plant } from '@heliograph/forecast/plant'
import type { ProductionForecast } from '@heliograph/forecast/production-forecast'
import {
  deserialiseProduction,
  type ProductionModel,
  predictProduction,
  serialiseProduction,
  trainability,
  trainProduction,
} from '@heliograph/forecast/production-model'
import { isScorable, type ProductionSample } from '@heliograph/forecast/production-samples'
import { seededRandom } from '@heliograph/forecast/seeded-random'
import type { HoldOutScores } from './model-store.ts'
import { predictPrices, trainPrices } from './perform-prices.ts'
import { leadHours, samplesOf } from './samples.ts'
import { scoreDays } from './score-days.ts'
import { addSums, noSums, scoresOf, sumsOf } from './score-sums.ts'
import type { Answers, Grid, Hindcast, PredictItem, Task, TrainTask } from './tasks.ts'
import { type GridStep, unpackSteps } from './weather-grid.ts'

const day_ms = 86_400_000

export function perform(task: Task): Answers[Task['kind']] {
  if (task.kind === 'train') return train(task)
  if (task.kind === 'predict') return task.items.map(predict)
  if (task.kind === 'score') return scoreDays(task)
  return task.kind === 'train_prices' ? trainPrices(task) : predictPrices(task)
}

function predict({ plant, grid, weather, model, history }: PredictItem): ProductionForecast {
  const question = { plant, grid, known: unpackSteps(weather) }
  if (model !== null) return forecastOf(deserialiseProduction(model), question)
  const errors = history ? fitPhysicalErrors(samplesOf(history), plant) : published_errors
  return physicalOf(errors, question)
}

interface Question {
  plant: Plant
  grid: Grid
  known: readonly GridStep[]
}

function forecastOf(model: ProductionModel, { plant, grid, known }: Question): ProductionForecast {
  const { steps, weather } = stepsOf(grid, known)
  const lead_time_h = weather.map((step) => (step === null ? 0 : leadHours(step)))
  return predictProduction(model, { plant, steps, weather, lead_time_h })
}

function physicalOf(errors: PhysicalErrors, { plant, grid, known }: Question): ProductionForecast {
  const { steps, weather } = stepsOf(grid, known)
  return predictPhysical(plant, steps, weather, errors)
}

/** Every step of the grid, with its weather where that is known. */
function stepsOf({ from_ms, to_ms, step_ms }: Grid, known: readonly GridStep[]) {
  const found = new Map(known.map((step) => [step.start_ms, step]))
  const steps = Array.from({ length: Math.round((to_ms - from_ms) / step_ms) }, (_, nth) => ({
    start_ms: from_ms + nth * step_ms,
    end_ms: from_ms + (nth + 1) * step_ms,
  }))
  return { steps, weather: steps.map(({ start_ms }) => found.get(start_ms) ?? null) }
}

/** The first series of a history is that of the gate closure, by which models are compared. */
function train({ plant, history, hold_out_days, previous, seed }: TrainTask): Answers['train'] {
  const { grid } = history
  const hold_out_from_ms = Math.floor(grid.to_ms / day_ms - hold_out_days) * day_ms
  const samples = samplesOf(history)
  const seen = samples.filter(({ end_ms }) => end_ms <= hold_out_from_ms)
  if (!trainability(seen, plant).is_enough) {
    return { trained: null, sample_count: seen.filter(isScorable).length }
  }
  const model = trainProduction(seen, plant, seededRandom(seed))
  const held_out = { from_ms: hold_out_from_ms, to_ms: grid.to_ms, step_ms: grid.step_ms }
  const question = { plant, grid: held_out, known: unpackSteps(history.weather[0]!) }
  const hindcasts = hindcastsOf(question, (of_day) => forecastOf(model, of_day))
  const outcomes = new Map(
    samples
      .filter((sample) => sample.start_ms >= hold_out_from_ms && isScorable(sample))
      .map((sample) => [sample.start_ms, sample]),
  )
  const sums = sumUp(hindcasts, outcomes, plant)
  const scores = scoresOf(sums)
  const beaten = previous && usable(previous, model.facts.step_minutes)
  // The first one has to beat what is used without any.
  const errors = beaten ? null : fitPhysicalErrors(seen, plant)
  const other = hindcastsOf(question, (of_day) =>
    beaten ? forecastOf(beaten, of_day) : physicalOf(errors!, of_day),
  )
  const old = scoresOf(sumUp(other, outcomes, plant))
  const is_worse =
    old.pinball !== null && (scores.pinball ?? Number.POSITIVE_INFINITY) > old.pinball
  const { step_minutes, trained_from_ms, trained_to_ms, sample_count, excluded } = model.facts
  return {
    sample_count,
    trained: {
      model: serialiseProduction(model),
      facts: {
        step_minutes,
        from_at: new Date(trained_from_ms).toISOString(),
        to_at: new Date(trained_to_ms).toISOString(),
        sample_count,
        excluded,
        hold_out_days,
      },
      scores: holdOutScores(sums.count, scores, old),
      is_worse,
      hindcasts: !is_worse ? hindcasts : beaten ? [] : other,
    },
  }
}

/** null for one of another form or other steps, which nothing can be compared with. */
function usable(bytes: Uint8Array, step_minutes: number): ProductionModel | null {
  try {
    const model = deserialiseProduction(bytes)
    return model.facts.step_minutes === step_minutes ? model : null
  } catch {
    return null
  }
}

/** Whole days, each from what was known when the gate closed for its first hour. */
function hindcastsOf(
  { plant, grid, known }: Question,
  forecast: (of_day: Question) => ProductionForecast,
): Hindcast[] {
  const hindcasts: Hindcast[] = []
  for (let day = grid.from_ms; day + day_ms <= grid.to_ms; day += day_ms) {
    const of_day = known.filter(({ start_ms }) => start_ms >= day && start_ms < day + day_ms)
    if (of_day.length === 0) continue
    const day_grid = { from_ms: day, to_ms: day + day_ms, step_ms: grid.step_ms }
    hindcasts.push({
      from_ms: day,
      forecast: forecast({ plant, grid: day_grid, known: of_day }),
    })
  }
  return hindcasts
}

function sumUp(
  hindcasts: readonly Hindcast[],
  outcomes: ReadonlyMap<number, ProductionSample>,
  { rated_power_kw }: Plant,
) {
  let sums = noSums
  for (const { points } of hindcasts.map(({ forecast }) => forecast)) {
    for (const { start_ms, end_ms, p10_kw, p50_kw, p90_kw, is_night } of points) {
      const outcome = outcomes.get(start_ms)
      if (is_night || !outcome) continue
      const actual_kw = Math.max(0, outcome.available_kwh!) / ((end_ms - start_ms) / 3_600_000)
      const step = { p10_kw, p50_kw, p90_kw, actual_kw, persistence_kw: null, is_hindcast: true }
      sums = addSums(sums, sumsOf(step, rated_power_kw))
    }
  }
  return sums
}

function holdOutScores(
  sample_count: number,
  scores: ReturnType<typeof scoresOf>,
  old: ReturnType<typeof scoresOf>,
): HoldOutScores {
  return {
    sample_count,
    pinball_loss_kw: scores.pinball,
    previous_pinball_loss_kw: old.pinball,
    mae_kw: scores.mae,
    bias_kw: scores.bias,
    p10_p90_coverage_pct: scores.coverage_pct,
  }
}
