import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { limitLoss, outputState, plateauSamples } from './clipping.ts'
import { scored, testOnMeasured, testOnReference } from './fixtures/reference-answers.ts'

interface Answers {
  time: string[]
  power: (number | null)[]
  label: boolean[]
}

const what = 'clipping of a measured inverter is found by its flat top'

function check({ time, power, label }: Answers, t: TestContext): void {
  const found: boolean[] = []
  for (const day of new Set(time.map(dayOf))) {
    const indices = [...time.keys()].filter((index) => dayOf(time[index] as string) === day)
    const clipped = plateauSamples(
      indices.map((index) => power[index] as number | null),
      indices.map((index) => Date.parse(time[index] as string)),
    )
    for (const [place, index] of indices.entries()) found[index] = clipped[place] as boolean
  }
  const { precision, recall } = scored(found, label, t)
  assert.ok(precision >= 0.907)
  assert.equal(recall, 1)
}

const dayOf = (time: string) => time.slice(0, 10)

testOnReference<Answers>('diag_clipping_inv7539', what, check)

testOnMeasured('pvanalytics_MIT/ac_power_inv_7539.csv', `${what}, as published`, (rows, t) =>
  check(
    {
      time: rows.map(([time]) => time as string),
      power: rows.map(([, power]) => (power === '' ? null : Number(power))),
      label: rows.map(([, , label]) => label === 'True'),
    },
    t,
  ),
)

/** Power of a horizontal array on a clear day, limited. */
function clearDay(
  { latitude_deg, declination_deg }: { latitude_deg: number; declination_deg: number },
  step_min: number,
  offset_min: number,
  limit_ratio: number,
) {
  const [latitude, declination] = [latitude_deg, declination_deg].map(
    (deg) => (deg * Math.PI) / 180,
  )
  const times_ms: number[] = []
  const power_kw: number[] = []
  for (let minute = offset_min; minute < 1440; minute += step_min) {
    const hour_angle = ((minute - 720) / 720) * Math.PI
    const cos_zenith = (cos: number) =>
      Math.sin(latitude as number) * Math.sin(declination as number) +
      Math.cos(latitude as number) * Math.cos(declination as number) * cos
    times_ms.push(minute * minute_ms)
    const highest = cos_zenith(1)
    power_kw.push(
      100 * Math.max(0, Math.min(cos_zenith(Math.cos(hour_angle)), limit_ratio * highest)),
    )
  }
  return { times_ms, power_kw }
}

test('a clear day is not clipped, one cut at 90 % is, exactly where it is cut', () => {
  const place = fc.record({
    latitude_deg: fc.integer({ min: -55, max: 55 }),
    declination_deg: fc.double({ min: -23.4, max: 23.4, noNaN: true }),
  })
  fc.assert(
    fc.property(place, fc.constantFrom(1, 5, 15), fc.nat(14), (site, step_min, offset_min) => {
      const clear = clearDay(site, step_min, offset_min, 2)
      assert.ok(!plateauSamples(clear.power_kw, clear.times_ms).includes(true))

      const cut = clearDay(site, step_min, offset_min, 0.9)
      const found = plateauSamples(cut.power_kw, cut.times_ms)
      const top_kw = Math.max(...cut.power_kw)
      for (const [index, power_kw] of cut.power_kw.entries()) {
        // Fast series are judged by quarters of an hour: the ones at the ends may be half cut.
        if (found[index]) assert.ok(power_kw > 0.95 * top_kw)
        else if (step_min === 15) assert.ok(power_kw < top_kw)
      }
      const at_top = cut.power_kw.filter((power_kw) => power_kw === top_kw).length
      const found_count = found.filter(Boolean).length
      assert.ok(found_count >= at_top - 30 / step_min && found_count <= at_top + 30 / step_min)
    }),
  )
})

test('a flat stretch below the top of the day is not clipping', () => {
  const power_kw = [10, 30, 40, 40, 40, 40, 40, 60, 80, 50, 10]
  const times_ms = power_kw.map((_, index) => index * 15 * minute_ms)
  assert.ok(!plateauSamples(power_kw, times_ms).includes(true))
})

test('nights, nulls and nothing are not clipped', () => {
  const times_ms = Array.from({ length: 20 }, (_, index) => index * 15 * minute_ms)
  assert.ok(!plateauSamples(new Array(20).fill(0), times_ms).includes(true))
  assert.ok(!plateauSamples(new Array(20).fill(-0.3), times_ms).includes(true))
  assert.ok(!plateauSamples(new Array(20).fill(null), times_ms).includes(true))
  assert.deepEqual(plateauSamples([], []), [])
  assert.throws(() => plateauSamples([1], []), /times_ms has 0 items/)
})

const free = { rated_kw: 100, curtailed_to_kw: null }
const curtailed = { rated_kw: 100, curtailed_to_kw: 60 }

test('at its rating under more sun an inverter is clipped, under less it is free', () => {
  assert.equal(outputState({ power_kw: 98.5, expected_kw: 120 }, free), 'clipped')
  assert.equal(outputState({ power_kw: 98.4, expected_kw: 120 }, free), 'free')
  assert.equal(outputState({ power_kw: 99.5, expected_kw: 99.7 }, free), 'free')
  assert.equal(outputState({ power_kw: 99.5, expected_kw: null }, free), 'clipped')
  assert.equal(outputState({ power_kw: null, expected_kw: 120 }, free), null)
})

test('curtailment decides first', () => {
  assert.equal(outputState({ power_kw: 59.5, expected_kw: 120 }, curtailed), 'curtailed')
  const to_rating = { ...curtailed, curtailed_to_kw: 100 }
  assert.equal(outputState({ power_kw: 99.5, expected_kw: 120 }, to_rating), 'clipped')
  const to_zero = { rated_kw: 100, curtailed_to_kw: 0 }
  assert.equal(outputState({ power_kw: -0.4, expected_kw: 50 }, to_zero), 'curtailed')
  assert.equal(outputState({ power_kw: -2.5, expected_kw: 50 }, to_zero), 'curtailed')
  assert.equal(outputState({ power_kw: -0.4, expected_kw: 0 }, to_zero), 'free')
})

test('what a curtailed inverter could not have given either is lost to clipping', () => {
  const output = { power_kw: 60, expected_kw: 120 }
  assert.deepEqual(limitLoss(output, curtailed), { clipping_kw: 20, curtailment_kw: 40 })
  assert.deepEqual(limitLoss({ ...output, power_kw: 100 }, free), {
    clipping_kw: 20,
    curtailment_kw: 0,
  })
  const held_lower = { ...output, power_kw: 30 }
  assert.deepEqual(limitLoss(held_lower, curtailed), { clipping_kw: 0, curtailment_kw: 0 })
  // A limit that is not obeyed yet has cost no more than is missing.
  const above = { ...output, power_kw: 90 }
  assert.deepEqual(limitLoss(above, curtailed), { clipping_kw: 20, curtailment_kw: 10 })
  assert.deepEqual(limitLoss({ ...output, power_kw: 104 }, curtailed), {
    clipping_kw: 16,
    curtailment_kw: 0,
  })
  assert.equal(limitLoss({ power_kw: 60, expected_kw: null }, curtailed), null)
  assert.equal(limitLoss({ power_kw: null, expected_kw: 120 }, curtailed), null)
})

test('the losses of a held output are never negative and add up to what is missing', () => {
  const kw = fc.double({ min: 0, max: 200, noNaN: true })
  fc.assert(
    fc.property(kw, kw, fc.option(kw), (power_kw, expected_kw, curtailed_to_kw) => {
      const limits = { rated_kw: 100, curtailed_to_kw }
      const loss = limitLoss({ power_kw, expected_kw }, limits)
      assert.ok(loss !== null && loss.clipping_kw >= 0 && loss.curtailment_kw >= 0)
      const sum_kw = loss.clipping_kw + loss.curtailment_kw
      const missing_kw = Math.max(0, expected_kw - power_kw)
      const is_held = outputState({ power_kw, expected_kw }, limits) !== 'free'
      assert.ok(Math.abs(sum_kw - (is_held ? missing_kw : 0)) < 1e-9)
      if (curtailed_to_kw === null) assert.equal(loss.curtailment_kw, 0)
    }),
  )
})
