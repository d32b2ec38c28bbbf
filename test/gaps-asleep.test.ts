/** Nights of a plant whose logger is composed of inverters alone, through link and roll-up. */
import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import {
  clear,
  dropPlant,
  execute,
  foundPlant,
  frame,
  gaps,
  heard,
  hour,
  inWords,
  minutes,
  rollUp,
  store,
  ten,
  watch,
} from './gap-plant.ts'

const evening = ten + 8.8 * hour
const morning = ten + 18 * hour

before(foundPlant)
after(dropPlant)
beforeEach(async () => {
  await clear()
  await execute('update stations set retired_at = $1', [new Date(ten - 24 * hour)])
})

const devices = (times: readonly number[]) => [
  frame('inverter', [1, 2], times),
  frame('logger', [1], times),
]

test('a logger without a met station sleeps with its inverters', async () => {
  await store(devices(minutes(ten, evening)))
  await rollUp(morning - hour)
  await watch(morning - hour)
  assert.deepEqual(await gaps(), [])
  await store(devices(minutes(morning - hour / 6, morning + hour)))
  await heard(morning + hour)
  await rollUp(morning + hour)
  await watch(morning + hour)
  assert.deepEqual(await gaps(), [])
})

test('where its devices are dead by day the logger has a gap as they have', async () => {
  await store(devices(minutes(ten, ten + hour)))
  await heard(ten + 2 * hour)
  await rollUp(ten + 2 * hour)
  await watch(ten + 2 * hour)
  assert.deepEqual(
    inWords(await gaps()).map((text) => text.split(',')[0]),
    ['inverter 1', 'inverter 2', 'logger 1'].map((name) => `${name}: 21 10:59 to null`),
  )
})

test('a logger with a met station has something to say at night too', async () => {
  await execute('update stations set retired_at = null')
  await store([...devices(minutes(ten, evening)), frame('weather', [1], minutes(ten, morning))])
  await heard(morning - hour)
  await rollUp(morning - hour)
  await watch(morning - hour)
  const [gap, ...others] = inWords(await gaps())
  assert.match(gap ?? '', /^logger 1: 21 18:4\d to null/)
  assert.deepEqual(others, [])
})
