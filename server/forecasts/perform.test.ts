import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import type { Plant } from '@heliograph/forecast/plant'
import { plantPhysics } from '@heliograph/forecast/plant-physics'
import { seededRandom } from '@heliograph/forecast/seeded-random'
import { type Course, emptyCourse } from './course.ts'
import { perform } from './perform.ts'
import type { Answers, TrainTask } from './tasks.ts'
import { type GridStep, packSteps } from './weather-grid.ts'

const from_ms = Date.parse('2026-04-01T00:00:00Z')
const days = 40
const grid = { from_ms, to_ms: from_ms + days * day_ms, step_ms: hour_ms }
const plant: Plant = {
  rated_power_kw: 100,
  dc_capacity_kwp: 110,
  place: { latitude: 48.6, longitude: 12.2, elevation_m: 300 },
  arrays: [{ tilt_deg: 25, azimuth_deg: 180, dc_capacity_kwp: 110 }],
}

/** Skies that change from hour to hour, forecast as they came. */
function weatherOf(): GridStep[] {
  const random = seededRandom(7)
  const steps = Array.from({ length: 24 * days }, (_, nth) => ({
    start_ms: from_ms + nth * hour_ms,
    end_ms: from_ms + (nth + 1) * hour_ms,
  }))
  const clear = plantPhysics(
    plant,
    steps,
    steps.map(() => null),
  ).clear_ghi_w_m2
  return steps.map((step, nth) => ({
    ...step,
    issued_ms: step.start_ms - day_ms,
    ghi_w_m2: clear[nth]! * (0.2 + 0.8 * random()),
    dni_w_m2: null,
    dhi_w_m2: null,
    temperature_c: 15,
    wind_speed_m_s: 2,
    cloud_cover_pct: null,
    relative_humidity_pct: null,
    ghi_spread_w_m2: null,
  }))
}
const weather = weatherOf()
const { ac_ratio } = plantPhysics(plant, weather, weather)

/** The plant gives a part of what physics says, by the day and the hour. */
function courseOf(partOf: (day: number, hour: number) => number): Course {
  const course = emptyCourse(from_ms, days * 96)
  course.completeness_pct.fill(100)
  for (let nth = 0; nth < days * 96; nth += 1) {
    const part = partOf(Math.floor(nth / 96), Math.floor(nth / 4) % 24)
    const power_kw = part * ac_ratio[Math.floor(nth / 4)]! * 100
    course.available_wh[nth] = power_kw * 250
    course.energy_wh[nth] = power_kw * 250
  }
  return course
}

function train(course: Course, change: Partial<TrainTask> = {}): Answers['train'] {
  const packed = packSteps(weather)
  return perform({
    kind: 'train',
    plant,
    hold_out_days: 7,
    previous: null,
    seed: 1,
    history: { course, weather: [packed], grid },
    ...change,
  }) as Answers['train']
}

const hold_out_from_day = days - 7

/** A hill stands before the morning sun, of which physics knows nothing. */
const shaded = (hour: number) => (hour < 10 ? 0.4 : 0.9)

test('a model that is worse on the days that neither has seen does not follow', () => {
  const good = train(courseOf((_, hour) => shaded(hour))).trained!
  assert.equal(good.is_worse, false)
  assert.ok(good.scores.pinball_loss_kw! < 0.8 * good.scores.previous_pinball_loss_kw!)
  assert.equal(good.hindcasts.length, 7)
  assert.equal(good.hindcasts[0]!.from_ms, from_ms + hold_out_from_day * day_ms)
  // It has learnt them since, being short of days.
  assert.ok(Date.parse(good.facts.to_at) > from_ms + (days - 1) * day_ms)
  // One that learned from a plant at half its output, which is whole again on the last days.
  const course = courseOf((day, hour) => shaded(hour) * (day < hold_out_from_day ? 0.5 : 1))
  const misled = train(course, { previous: good.model }).trained!
  assert.equal(misled.is_worse, true)
  assert.equal(misled.scores.previous_pinball_loss_kw, good.scores.pinball_loss_kw)
  assert.deepEqual(misled.hindcasts, [])
  assert.ok(misled.scores.pinball_loss_kw! > 2 * good.scores.pinball_loss_kw!)
  // Bytes that are no model are not compared with.
  const over = train(course, { previous: Buffer.from('no model') }).trained!
  assert.notEqual(over.scores.previous_pinball_loss_kw, good.scores.pinball_loss_kw)
})

test('a first model that is worse than physics does not follow', () => {
  // The hill is gone on the last days: what was learnt of it misleads.
  const course = courseOf((day, hour) => (day < hold_out_from_day ? shaded(hour) ** 3 : 0.9))
  const misled = train(course).trained!
  assert.ok(misled.scores.pinball_loss_kw! > misled.scores.previous_pinball_loss_kw!)
  assert.equal(misled.is_worse, true)
  assert.equal(misled.hindcasts.length, 7)
})

test('too short a history comes to no model', () => {
  const short = { ...grid, to_ms: from_ms + 16 * day_ms }
  const history = { course: courseOf(() => 0.9), weather: [packSteps(weather)], grid: short }
  const { trained, sample_count } = train(history.course, { history })
  assert.ok(trained === null)
  assert.ok(sample_count > 100)
})
