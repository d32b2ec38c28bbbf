import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type DaylightHour, judgePlants } from './performance.ts'

const thresholds = {
  inverter: { shortfall_pct: 15, irradiance_w_m2: 200 },
  logger: { shortfall_pct: 20, irradiance_w_m2: 200 },
}

interface Course {
  /** Delivered by expected, hour by hour. */
  ratios: readonly number[]
  changes?: Partial<DaylightHour>
}

const hoursOf = (inverters: readonly Course[]): DaylightHour[] =>
  inverters.flatMap(({ ratios, changes }, nth) =>
    ratios.map((ratio, hour) => ({
      inverter_id: nth + 1,
      logger_id: 1,
      hour_at: new Date(Date.UTC(2026, 5, 21, 8 + hour)),
      irradiance_w_m2: 700,
      light_s: 3600,
      expected_kwh: 70,
      is_excused: false,
      delivered_kwh: 70 * ratio,
      ...changes,
    })),
  )
const found = (...inverters: Course[]) =>
  judgePlants(hoursOf(inverters), thresholds)
    .filter(({ is_short }) => is_short)
    .map(({ inverter_id, shortfall_pct, since }) => {
      const who = inverter_id === null ? 'plant' : inverter_id
      return `${who} ${shortfall_pct.toFixed(0)} % since ${since.getUTCHours()}`
    })

const good = { ratios: [0.95, 0.96, 0.95] }
const cases: [what: string, inverters: Course[], expected: string[]][] = [
  ['all is well', [good, good, good], []],
  ['one is weak', [good, good, { ratios: [0.7, 0.7, 0.7] }], ['3 27 % since 8']],
  ['one got weak', [good, good, { ratios: [0.95, 0.5, 0.5] }], ['3 32 % since 9']],
  ['one is down', [good, good, { ratios: [0, 0, 0] }], ['3 100 % since 8']],
  ['one of two is weak', [good, { ratios: [0.75, 0.75, 0.75] }], ['2 21 % since 8']],
  ['one is a little weak', [good, good, { ratios: [0.85, 0.85, 0.85] }], []],
  [
    'one was held back or in fault',
    [good, good, { ratios: [0.3, 0.3, 0.3], changes: { is_excused: true } }],
    [],
  ],
  ['it rains', [good, good, { ratios: [0, 0, 0], changes: { irradiance_w_m2: 150 } }], []],
  ['too short a time', [good, good, { ratios: [0.3] }], []],
  ['no model of its panels', [good, good, { ratios: [0.3], changes: { expected_kwh: 0 } }], []],
  [
    'a whole plant is weak',
    [{ ratios: [0.95, 0.7, 0.7] }, { ratios: [0.9, 0.6, 0.6] }],
    ['plant 26 % since 9'],
  ],
  ['a plant of one inverter', [{ ratios: [0.6, 0.6] }], ['plant 40 % since 8']],
  ['a weak one does not weigh on its plant', [good, good, { ratios: [0, 0] }], ['3 100 % since 8']],
]
for (const [what, inverters, expected] of cases) {
  test(`delivering less: ${what}`, () => assert.deepEqual(found(...inverters), expected))
}

test('each plant is judged by itself', () => {
  const other = hoursOf([{ ratios: [0.3, 0.3] }]).map((hour) => ({
    ...hour,
    logger_id: 2,
    inverter_id: 9,
  }))
  const judged = judgePlants([...hoursOf([good, good]), ...other], thresholds)
  assert.deepEqual(
    judged.filter(({ is_short }) => is_short).map(({ logger_id }) => logger_id),
    [2],
  )
})

test('what is excused, dark or short of time never leads to anything', () => {
  const hour = fc.record({
    ratio: fc.double({ min: 0, max: 1.2, noNaN: true }),
    lack: fc.constantFrom({ is_excused: true }, { irradiance_w_m2: 199 }, { light_s: 400 }),
  })
  const inverters = fc.array(fc.array(hour, { maxLength: 4 }), { maxLength: 5 })
  fc.assert(
    fc.property(inverters, (all) => {
      const hours = all.flatMap((own, nth) =>
        own.flatMap(({ ratio, lack }, at) =>
          hoursOf([{ ratios: [ratio], changes: lack }]).map((each) => ({
            ...each,
            inverter_id: nth,
            hour_at: new Date(Date.UTC(2026, 5, 21, at)),
          })),
        ),
      )
      assert.deepEqual(judgePlants(hours, thresholds), [])
    }),
  )
})

test('what a person saw to is judged by the full hours after that', () => {
  const judge = (key: string, hour: number, ...inverters: Course[]) => {
    const at = new Date(Date.UTC(2026, 5, 21, hour, 5))
    const judged = judgePlants(hoursOf(inverters), thresholds, (of) =>
      of === key ? at : undefined,
    )
    return judged.map(({ inverter_id, is_short }) => `${inverter_id ?? 'plant'} ${is_short}`)
  }
  const sound = { ratios: [0.95, 0.95, 0.95, 0.95] }
  const repaired = { ratios: [0.3, 0.3, 0.95, 0.95] }
  const suspects = { ratios: [0.3, 0.3, 0.3, 0.3] }
  const own = 'inverter_underperformance:inverter:3'
  const others = ['1 false', '2 false']
  assert.deepEqual(judge('', 9, sound, sound, repaired), [...others, '3 true', 'plant false'])
  assert.deepEqual(judge(own, 9, sound, sound, repaired), [...others, '3 false', 'plant false'])
  assert.deepEqual(judge(own, 9, sound, sound, suspects), [...others, '3 true', 'plant false'])
  assert.deepEqual(judge(own, 10, sound, sound, suspects), [...others, 'plant false'], 'too little')
  const plant = 'logger_underperformance:logger:1'
  assert.deepEqual(judge('', 9, repaired, repaired), [...others, 'plant true'])
  assert.deepEqual(judge(plant, 9, repaired, repaired), [...others, 'plant false'])
  assert.deepEqual(judge(plant, 9, suspects, suspects), [...others, 'plant true'])
})
