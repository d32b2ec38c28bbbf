import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { history_plant, plantHistory } from './fixtures/plant-history.ts'
import { holdOut } from './production-holdout.ts'
import { type ProductionModel, predictProduction, trainProduction } from './production-model.ts'
import type { ProductionSample } from './production-samples.ts'
import { scoresOf } from './score-sums.ts'
import { seededRandom } from './seeded-random.ts'

const plant = history_plant

/** A short history, to learn from quickly, and the days after it. */
const weeks = plantHistory({ from_ms: Date.UTC(2024, 3, 1), days: 36, seed: 12 })
const weeks_end_ms = weeks.at(-1)!.end_ms
const later = plantHistory({ from_ms: weeks_end_ms, days: 12, seed: 12 })
const good = trainProduction(weeks, plant, seededRandom(6)).model!

const tried = (
  samples: readonly ProductionSample[],
  from_ms: number,
  current: ProductionModel | null = null,
) => holdOut([samples], plant, { from_ms, current }, seededRandom(1))

/** The first model of a site. */
const first_trial = tried([...weeks, ...later], weeks_end_ms)

const weakened = (share: number) =>
  weeks.map((sample) => ({ ...sample, available_kwh: share * sample.available_kwh! }))

test('on unknown days a model beats physics and smart persistence', () => {
  const history = plantHistory({ from_ms: Date.UTC(2024, 1, 1), days: 190, seed: 7 })
  const from_ms = history.at(-1)!.end_ms - 40 * day_ms
  const { held_out, sample_count } = tried(history, from_ms)
  const { model, scores: sums, scores_to_beat, is_worse, hindcasts } = held_out!
  assert.equal(is_worse, false)
  assert.ok(model.facts.trained_to_ms <= from_ms)
  // Of a longer history it stays the one that was tried.
  assert.deepEqual(model.trial, { coverage_pct: scoresOf(sums).coverage_pct, tried: null })
  assert.equal(model.facts.sample_count, sample_count)
  assert.deepEqual([hindcasts.length, hindcasts[0]!.from_ms], [40, from_ms])
  const [scores, physical] = [scoresOf(sums), scoresOf(scores_to_beat)]
  assert.ok(sums.count > 500 && sums.count === scores_to_beat.count)
  assert.ok(scores.pinball! < 0.97 * physical.pinball!, `${scores.pinball}, ${physical.pinball}`)
  assert.ok(scores.skill_pct! > 50, `${scores.skill_pct} %`)
  assert.ok(Math.abs(scores.bias!) < 10, `${scores.bias} kW`)
  // About 80 % of what comes.
  assert.ok(scores.coverage_pct! > 75 && scores.coverage_pct! < 88, `${scores.coverage_pct} %`)
})

test('clipping is forecast as often as it occurs, though it is not learnt from', () => {
  const arrays = plant.arrays.map((array) => ({
    ...array,
    dc_capacity_kwp: 1.35 * array.dc_capacity_kwp,
  }))
  const wide = { ...plant, arrays, dc_capacity_kwp: 1.35 * plant.dc_capacity_kwp }
  const samples = plantHistory({ from_ms: Date.UTC(2024, 3, 10), days: 70, seed: 8, plant: wide })
  const from_ms = samples.at(-1)!.end_ms - 20 * day_ms
  const { held_out } = holdOut([samples], wide, { from_ms, current: null }, seededRandom(4))
  assert.ok(held_out!.model.facts.excluded.clipped > 100)
  const scores = scoresOf(held_out!.scores)
  assert.ok(Math.abs(scores.bias!) < 15, `${scores.bias} kW`)
  assert.ok(scores.coverage_pct! > 72, `${scores.coverage_pct} %`)
})

test('a candidate worse than the model in use is reported, and makes no forecasts', () => {
  const { held_out } = tried([...weakened(0.3), ...later], weeks_end_ms, good)
  assert.equal(held_out!.is_worse, true)
  assert.deepEqual(held_out!.hindcasts, [])
  const [worse, better] = [scoresOf(held_out!.scores), scoresOf(held_out!.scores_to_beat)]
  assert.ok(better.pinball! < 0.6 * worse.pinball!)
})

test('days known to the model in use do not count for either', () => {
  const seen = { ...good, facts: { ...good.facts, trained_to_ms: weeks_end_ms + 5 * day_ms } }
  const { held_out } = tried([...weeks, ...later], weeks_end_ms, seen)
  assert.ok(held_out!.scores.count < first_trial.held_out!.scores.count)
  assert.equal(held_out!.scores.count, held_out!.scores_to_beat.count)
})

test('the hold-out of a short history is learnt after the model has won on it', () => {
  const { held_out } = first_trial
  const { model, scores, is_worse, hindcasts } = held_out!
  const judged = model.trial!.tried!
  assert.equal(is_worse, false)
  assert.ok(judged.facts.trained_to_ms <= weeks_end_ms)
  assert.equal(judged.facts.day_count, 36)
  assert.ok(model.facts.trained_to_ms > weeks_end_ms + 11 * day_ms)
  assert.equal(model.facts.day_count, 48)
  assert.equal(model.trial!.coverage_pct, scoresOf(scores).coverage_pct)
  // What the days held out would have been told comes from who had not seen them.
  const [first] = hindcasts
  const day = later.slice(0, 24)
  assert.deepEqual(first!.forecast.points, predictProduction(judged, plant, day).points)
  assert.notDeepEqual(first!.forecast.points, predictProduction(model, plant, day).points)
  // The next is held against it on all of the days held out, none of which it may have seen.
  const next = tried([...weeks, ...later], weeks_end_ms, model).held_out!
  assert.deepEqual(next.scores_to_beat, scores)
})

test('a model with another step length is not compared', () => {
  const quarters = { ...good, facts: { ...good.facts, step_minutes: 15 } }
  const { held_out } = tried([...weeks, ...later], weeks_end_ms, quarters)
  assert.deepEqual(held_out!.scores_to_beat, first_trial.held_out!.scores_to_beat)
})

test('without enough training data, or any hold-out, there is no model', () => {
  const short = tried([...weeks.slice(0, 24 * 9), ...later], weeks_end_ms)
  assert.ok(short.held_out === null)
  // Hours of daylight, of 9 spring days.
  assert.ok(short.sample_count > 90 && short.sample_count < 144, `${short.sample_count}`)
  const dark = later.map((sample) => ({ ...sample, available_kwh: null }))
  assert.equal(tried([...weeks.slice(0, 24 * 12), ...dark], weeks_end_ms).held_out, null)
  assert.deepEqual(tried([], weeks_end_ms), { sample_count: 0, held_out: null })
})
