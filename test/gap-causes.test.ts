/** Why gaps are, by what edge and server noticed, through the link into the database. */
import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import {
  clear,
  dropPlant,
  event,
  execute,
  foundPlant,
  frame,
  gaps,
  heard,
  hour,
  inWords,
  minute,
  minutes,
  plantFrames,
  query,
  rollUp,
  site,
  store,
  ten,
  watch,
} from './gap-plant.ts'

before(foundPlant)
after(dropPlant)
beforeEach(clear)

test('a device that did not answer leaves a gap that stays', async () => {
  const silence = minutes(ten + 20 * minute, ten + 50 * minute)
  const times = minutes(ten, ten + 2 * hour)
  await store([
    ...plantFrames(times.filter((time) => !silence.includes(time))),
    frame('inverter', [1], silence),
    frame('weather', [1], silence),
    frame('logger', [1], silence),
    event(ten + 21 * minute, 'device_offline', 'rising', {
      source_kind: 'inverter',
      source_id: '2',
    }),
    event(ten + 50 * minute, 'device_offline', 'falling', {
      source_kind: 'inverter',
      source_id: '2',
    }),
  ])
  await heard(ten + 2 * hour)
  await rollUp(ten + 2 * hour)
  await watch(ten + 2 * hour)
  assert.deepEqual(inWords(await gaps()), [
    'inverter 2: 21 10:19 to 21 10:50, unrecoverable, device_fault',
  ])
  // An import brings a part of it after all.
  await store([frame('inverter', [2], silence.slice(0, 10))])
  await rollUp(ten + 2 * hour)
  await watch(ten + 2 * hour)
  assert.deepEqual(
    (await gaps()).map(({ start, status, backfilled }) => [start, status, backfilled]),
    [['21 10:29', 'unrecoverable', 10]],
  )
})

test('what a journal dropped cannot come any more', async () => {
  const times = minutes(ten, ten + 2 * hour)
  const lost = (time: number) => time > ten + 10 * minute && time < ten + 30 * minute
  await store(plantFrames(times.filter((time) => !lost(time))))
  const dropped = { from_at: ten + 11 * minute, to_at: ten + 29 * minute, frames: 20 }
  await store([event(ten + 2 * hour, 'journal_dropped', 'once', undefined, dropped)])
  // Details that make no sense tell nothing, and stop nothing.
  await store([event(ten + 2 * hour, 'clock_jumped', 'once', undefined, { jump_ms: 'far' })])
  await heard(ten + 2 * hour)
  await rollUp(ten + 2 * hour)
  await watch(ten + 2 * hour)
  const found = inWords(await gaps())
  assert.equal(found.length, 4)
  assert.equal(found[0], 'inverter 1: 21 10:10 to 21 10:30, unrecoverable, buffer_overflow')
})

test('nothing is missed of an inverter that was taken away', async () => {
  const times = minutes(ten, ten + 4 * hour)
  await store([frame('weather', [1], times), frame('logger', [1], times)])
  await store([frame('inverter', [1], times), frame('inverter', [2], minutes(ten, ten + hour))])
  await watch(ten + 2 * hour)
  assert.equal((await gaps("source_id = '2'"))[0]!.end, null)
  await execute('update inverters set retired_at = $1 where inverter_id = 2', [
    new Date(ten + 3 * hour),
  ])
  await heard(ten + 4 * hour)
  await watch(ten + 4 * hour)
  assert.deepEqual(inWords(await gaps()), [
    'inverter 2: 21 10:59 to 21 13:00, unrecoverable, configuration',
  ])
})

test('power that was lost is told from an agent that was stopped', async () => {
  const down = (time: number, from: number) =>
    time > ten + from * minute && time < ten + (from + 20) * minute
  const times = minutes(ten, ten + 3 * hour)
  await store(plantFrames(times.filter((time) => !down(time, 30) && !down(time, 90))))
  const started = (at: number, unclean: boolean) =>
    event(at, 'agent_started', 'once', undefined, {
      unclean,
      rebooted: unclean,
      down_from_at: at - 20 * minute,
    })
  await store([started(ten + 50 * minute, true), started(ten + 110 * minute, false)])
  await heard(ten + 4 * hour)
  await rollUp(ten + 3 * hour)
  await watch(ten + 3 * hour)
  const found = inWords(await gaps())
  assert.equal(found.length, 8)
  assert.deepEqual(found.slice(0, 2), [
    'inverter 1: 21 10:30 to 21 10:50, unrecoverable, power_loss',
    'inverter 1: 21 11:30 to 21 11:50, unrecoverable, agent_stopped',
  ])
})

test('a device that was out of the site file for a while', async () => {
  const [south] = site.loggers
  const without = { ...site, loggers: [{ ...south!, inverters: south!.inverters.slice(0, 1) }] }
  const out = (time: number) => time > ten + hour && time < ten + 3 * hour
  const times = minutes(ten, ten + 5 * hour)
  await store([
    frame(
      'inverter',
      [2],
      times.filter((time) => !out(time)),
    ),
  ])
  await store([{ seq: 100_001, kind: 'inventory', payload: without }], ten + hour + 30_000)
  await store([{ seq: 100_002, kind: 'inventory', payload: site }], ten + 3 * hour - 30_000)
  await heard(ten + 6 * hour)
  await rollUp(ten + 5 * hour)
  await watch(ten + 5 * hour)
  assert.deepEqual(inWords(await gaps("source_id = '2'")), [
    'inverter 2: 21 11:00 to 21 13:00, unrecoverable, configuration',
  ])
  assert.deepEqual(
    await query('select code, source_kind, source_id, edge from events order by at'),
    ['rising', 'falling'].map((edge) => ({
      code: 'device_retired',
      source_kind: 'inverter',
      source_id: '2',
      edge,
    })),
  )
})
