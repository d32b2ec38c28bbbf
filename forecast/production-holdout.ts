/** Compares a newly learnt model with the one in use, on days unknown to both. */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { fitLeadErrors } from './lead-errors.ts'
import { predictPhysical } from './physical-forecast.ts'
import type { Plant } from './plant.ts'
import { utcDay } from './production-features.ts'
import type { ProductionForecast } from './production-forecast.ts'
import {
  type ProductionModel,
  predictProduction,
  renewProduction,
  trainProduction,
} from './production-model.ts'
import type { ProductionSample } from './production-samples.ts'
import { productionScorer } from './production-scores.ts'
import { short_history_days_max } from './production-spread.ts'
import { addSums, noSums, type ScoreSums, scoresOf } from './score-sums.ts'

interface HoldOutOptions {
  /** Start of the hold-out, which is not learnt from: midnight UTC, Unix ms. */
  from_ms: number
  /** The model in use; null for none. */
  current: ProductionModel | null
}

/** A day of the hold-out as it would have been forecast. */
export interface Hindcast {
  from_ms: number
  forecast: ProductionForecast
}

interface HoldOut {
  /**
   * Learnt from the days before; if the history is short and the model not worse, also from the
   * hold-out, with the tried model in its `trial`.
   */
  model: ProductionModel
  scores: ScoreSums
  /** Scores of the model in use on the same steps; of physics without one. */
  scores_to_beat: ScoreSums
  /** The mean pinball loss of P10, P50 and P90 is above that to beat. */
  is_worse: boolean
  /** Of the model; of physics if a first model is worse; none if another model stays in use. */
  hindcasts: Hindcast[]
}

/**
 * Learns a plant from the older part of its history and tests the model on the newer part, day by
 * day, against the model in use, or against physics without one of its step length: no model is
 * replaced by a worse one. Days known to the model in use do not count; a model that has learnt its
 * hold-out is compared by its tried version. Of several series of samples, each of the same steps
 * at another lead time, the first is compared. `held_out` is null if `trainProduction` has too
 * little data, or no step of the newer part can be scored. Throws as `trainProduction` does.
 */
export function holdOut(
  series: readonly (readonly ProductionSample[])[],
  plant: Plant,
  { from_ms, current }: HoldOutOptions,
  random: () => number,
): { sample_count: number; held_out: HoldOut | null } {
  const before = series.flat().filter(({ end_ms }) => end_ms <= from_ms)
  const { model, sample_count } = trainProduction(before, plant, random)
  if (model === null) return { sample_count, held_out: null }
  const tried = current?.trial?.tried ?? current
  const rival = tried?.facts.step_minutes === model.facts.step_minutes ? tried : null
  const days = daysFrom(series[0] ?? [], from_ms)
  const forecast = (of: (day: readonly ProductionSample[]) => ProductionForecast) =>
    days.map((day) => ({ from_ms: utcDay(day[0]!) * day_ms, forecast: of(day) }))
  const own = forecast((day) => predictProduction(model, plant, day))
  const errors = fitLeadErrors(before, plant)
  const other = forecast((day) =>
    rival ? predictProduction(rival, plant, day) : predictPhysical(plant, day, errors),
  )
  const score = scorerOf(series[0] ?? [], plant, rival?.facts.trained_to_ms ?? from_ms)
  const [scores, scores_to_beat] = [score(own), score(other)]
  if (scores.count === 0) return { sample_count, held_out: null }
  const is_worse = scoresOf(scores).pinball! > scoresOf(scores_to_beat).pinball!
  const hindcasts = !is_worse ? own : rival ? [] : other
  const { coverage_pct } = scoresOf(scores)
  const is_short = model.facts.day_count <= short_history_days_max
  const renewed =
    is_short && !is_worse ? renewProduction(model, series.flat(), plant, random) : null
  const trial = { coverage_pct: coverage_pct!, tried: renewed && model }
  const kept = { ...(renewed ?? model), trial }
  return { sample_count, held_out: { model: kept, scores, scores_to_beat, is_worse, hindcasts } }
}

function daysFrom(samples: readonly ProductionSample[], from_ms: number): ProductionSample[][] {
  const days = Map.groupBy(
    samples.filter(({ start_ms }) => start_ms >= from_ms),
    utcDay,
  )
  return [...days.values()].filter((day) => day.some(({ weather }) => weather !== null))
}

function scorerOf(samples: readonly ProductionSample[], plant: Plant, since_ms: number) {
  const known = new Map(samples.map((sample) => [sample.start_ms, sample]))
  const score = productionScorer(plant, ({ start_ms }) => known.get(start_ms) ?? null)
  return (hindcasts: readonly Hindcast[]): ScoreSums =>
    hindcasts
      .flatMap(({ forecast }) => forecast.points)
      .filter(({ start_ms }) => start_ms >= since_ms)
      .reduce((sums, point) => {
        const known_ms = point.start_ms - known.get(point.start_ms)!.lead_time_h * hour_ms
        return addSums(sums, score({ ...point, known_ms, is_hindcast: true }))
      }, noSums)
}
