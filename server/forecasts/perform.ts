/** Tasks of the forecast thread. */
import { day_ms } from '@heliograph/domain/durations'
import { fitLeadErrors, published_lead_errors } from '@heliograph/forecast/lead-errors'
import { predictPhysical } from '@heliograph/forecast/physical-forecast'
import type { ProductionForecast } from '@heliograph/forecast/production-forecast'
import { holdOut } from '@heliograph/forecast/production-holdout'
import {
  deserialiseProduction,
  predictProduction,
  serialiseProduction,
} from '@heliograph/forecast/production-model'
import { productionScorer } from '@heliograph/forecast/production-scores'
import { addSums, noSums, type ScoreSums, scoresOf } from '@heliograph/forecast/score-sums'
import { seededRandom } from '@heliograph/forecast/seeded-random'
import type { HoldOutScores } from './model-store.ts'
import { predictPrices, readable, trainPrices } from './perform-prices.ts'
import { measuredIn, samplesOf, stepsOf } from './samples.ts'
import type { Answers, DayScores, PredictItem, ScoreTask, Task, TrainTask } from './tasks.ts'

export function perform(task: Task): Answers[Task['kind']] {
  if (task.kind === 'train') return train(task)
  if (task.kind === 'predict') return task.items.map(predict)
  if (task.kind === 'score') return scoreDays(task)
  return task.kind === 'train_prices' ? trainPrices(task) : predictPrices(task)
}

function predict({ plant, days, model, history }: PredictItem): ProductionForecast[] | null {
  const known = days.map(({ grid, weather }) => stepsOf(grid, weather))
  if (model !== null) {
    const learnt = readable(model, deserialiseProduction)
    return learnt && known.map((steps) => predictProduction(learnt, plant, steps))
  }
  const errors = history ? fitLeadErrors(samplesOf(history).flat(), plant) : published_lead_errors
  return known.map((steps) => predictPhysical(plant, steps, errors))
}

function train({ plant, history, hold_out_days, previous, seed }: TrainTask): Answers['train'] {
  const from_ms = Math.floor(history.grid.to_ms / day_ms - hold_out_days) * day_ms
  const current = previous && readable(previous, deserialiseProduction)
  const { sample_count, held_out } = holdOut(
    samplesOf(history),
    plant,
    { from_ms, current },
    seededRandom(seed),
  )
  if (held_out === null) return { trained: null, sample_count }
  const { model, scores, scores_to_beat, is_worse, hindcasts } = held_out
  const { step_minutes, trained_from_ms, trained_to_ms, excluded } = model.facts
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
      scores: holdOutScores(scores, scores_to_beat),
      is_worse,
      hindcasts,
    },
  }
}

function holdOutScores(sums: ScoreSums, sums_to_beat: ScoreSums): HoldOutScores {
  const scores = scoresOf(sums)
  return {
    sample_count: sums.count,
    pinball_loss_kw: scores.pinball,
    previous_pinball_loss_kw: scoresOf(sums_to_beat).pinball,
    mae_kw: scores.mae,
    bias_kw: scores.bias,
    p10_p90_coverage_pct: scores.coverage_pct,
  }
}

function scoreDays({ plant, course, days }: ScoreTask): DayScores[] {
  const score = productionScorer(plant, (span) => measuredIn(course, span))
  return days.map(({ target_date, lead_time, steps }) => ({
    target_date,
    lead_time,
    sums: steps.reduce((sums, step) => addSums(sums, score(step)), noSums),
  }))
}
