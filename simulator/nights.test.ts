import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import type { Readings } from '@heliograph/domain/link'
import type { Site } from '@heliograph/domain/site'
import { initialCounters } from './counters.ts'
import { dayWith } from './fixtures/days.ts'
import { smallSite } from './fixtures/site.ts'
import { historyFrames } from './history.ts'
import { answersAtNight } from './nights.ts'
import { createPlant } from './plant.ts'
import { createSimulation } from './site.ts'

const seed = 11
const midnight = dayWith(seed, 'clear')
const [one, two] = smallSite.loggers[0]!.inverters
/** Inverter 1 is off at night, 2 answers. */
const site: Site = {
  ...smallSite,
  loggers: [{ ...smallSite.loggers[0]!, inverters: [{ ...one!, answers_at_night: false }, two!] }],
}

function plantAt(time_ms: number) {
  const now = { ms: time_ms }
  const simulation = createSimulation(site, seed)
  const clock = { now: () => new Date(now.ms) }
  const plant = createPlant(simulation, initialCounters(site, time_ms), { clock })
  const look = () => {
    const { inverters } = plant.snapshot()
    return inverters.map(({ inverter_id, state, ac_power_kw, available_power_kw }) => {
      return { is_away: plant.isAway(inverter_id), state, ac_power_kw, available_power_kw }
    })
  }
  return { plant, now, look }
}

/** A look each 5 s from 3 h UTC on, when it is night, until 6 h. */
function dawn() {
  const { plant, now, look } = plantAt(midnight + 2 * hour_ms)
  plant.snapshot()
  for (const id of [1, 2]) plant.limits.tell(id, { is_enabled: true, limit_pct: 40 })
  const looks: ReturnType<typeof look>[] = []
  for (let ms = hour_ms; ms <= 4 * hour_ms; ms += 5000) {
    now.ms = midnight + 2 * hour_ms + ms
    looks.push(look())
  }
  return { plant, looks }
}

test('an inverter without power at night answers by day alone, another one always', () => {
  const night = plantAt(midnight).look()
  assert.deepEqual(
    night.map(({ is_away }) => is_away),
    [true, false],
  )
  const { now, look } = plantAt(midnight + 7 * hour_ms)
  assert.deepEqual(
    look().map(({ is_away, state }) => [is_away, state]),
    [
      [false, 'mppt'],
      [false, 'mppt'],
    ],
  )
  now.ms = midnight + 22 * hour_ms
  assert.deepEqual(
    look().map(({ is_away, state }) => [is_away, state]),
    [
      [true, 'sleeping'],
      [false, 'sleeping'],
    ],
  )
})

test('a start takes a minute at least, and power rises by a tenth of the rating a minute', () => {
  const { looks } = dawn()
  for (const nth of [0, 1]) {
    const states = looks.map((all) => all[nth]!.state)
    const feeding = states.indexOf('mppt')
    const starting = states.slice(0, feeding).filter((state) => state === 'starting').length
    assert.ok(starting >= 12, `${starting} looks`)
    const powers = looks.map((all) => Math.max(0, all[nth]!.ac_power_kw))
    for (const [at, kw] of powers.entries()) {
      const rise_kw = kw - (powers[at - 1] ?? 0)
      assert.ok(rise_kw <= (33 * 0.1 * 5) / 60 + 0.01, `${rise_kw} kW in 5 s`)
      if (states[at] === 'starting') assert.equal(kw, 0)
    }
    assert.ok(powers.at(-1)! > 1, 'it starts')
  }
})

test('an inverter that was off has lost its limit, another one holds it', () => {
  const { plant } = dawn()
  assert.equal(plant.limits.stateOf(1).is_enabled, false)
  assert.equal(plant.limits.stateOf(2).limit_pct, 40)
  assert.equal(plant.limits.stateOf(2).is_enabled, true)
})

test('the first start breaks down for lack of power, and the inverter is away again', () => {
  const { looks } = dawn()
  const away = looks.map(([first]) => first!.is_away)
  const first_answer = away.indexOf(false)
  assert.ok(away.slice(first_answer).includes(true))
  assert.ok(looks.every(([, second]) => !second!.is_away))
})

test('a start does not show as a limit, nor as restart of a device that had power', () => {
  const { plant, looks } = dawn()
  assert.ok(looks.length > 0)
  assert.equal(plant.limits.stateOf(2).restarted_at_ms, null)
  assert.equal(plant.limits.shownOf(1).is_enabled, false)
})

test('by default SUN2000 are off at night', () => {
  const answering = (['sunspec', 'huawei_sun2000', 'sma', 'sungrow_sg'] as const).filter((driver) =>
    answersAtNight({ ...one!, driver }),
  )
  assert.deepEqual(answering, ['sunspec', 'sma', 'sungrow_sg'])
})

test('history has no readings of an inverter that is off', () => {
  const counters = initialCounters(site, midnight + 24 * hour_ms)
  const rows = [...historyFrames(createSimulation(site, seed), { counters, days: 1 })].flatMap(
    ({ kind, payload }) =>
      kind === 'readings' ? ((payload as Readings).inverter?.rows ?? []) : [],
  )
  assert.ok(rows.length > 1440 + 600 && rows.length < 2 * 1440 - 300, `${rows.length} rows`)
})
