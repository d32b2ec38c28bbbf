/** The release of a curtailment: asked for, proved by the edge, or left open without it. */

import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { noon } from '../server/link/fixtures/plant.ts'
import {
  type CurtailmentPlant,
  curtailmentPlant,
  type DesiredRow,
  forgetCurtailment,
  fromTo,
  hasGroup,
  isReleased,
  manualTimers,
  plant_1,
  reportOf,
  site_60,
  untilDesired,
  withoutListening,
} from './curtailment-plant.ts'

let plant: CurtailmentPlant

before(async () => {
  plant = await curtailmentPlant()
})
after(() => plant.close())
beforeEach(() => forgetCurtailment(plant))

const window = { ...plant_1, ...fromTo(1, 2) }

test('a release waits for the edge to prove it, and says so again', async () => {
  const edge = await plant.edge()
  const { group_id } = (await plant.call('POST', '/curtailment/immediate', plant_1)).body
  const [row] = await untilDesired(edge, hasGroup(group_id))
  await plant.report(edge, reportOf(row!, noon, { applied_at: noon }))
  // Where no time passes it hears of the report, or never knows.
  const timeless = await plant.replica({ timers: manualTimers().timers })
  const releasing = timeless.call('DELETE', `/curtailment/group/${group_id}`)
  const [released] = await untilDesired(edge, isReleased(group_id))
  // It is told that the release was heard, which is not yet that the plant is restored.
  await plant.report(edge, reportOf(released!, noon + 1, { applied_at: noon }))
  await plant.report(
    edge,
    reportOf(released!, noon + 2, { applied_at: noon, restored_at: noon + 2 }),
  )
  const answer = await releasing
  assert.equal(answer.status, 200)
  assert.equal(answer.body.status, 'cancelled')
  assert.deepEqual([answer.body.restored_count, answer.body.pending_restore_count], [1, 0])
  assert.equal(answer.body.schedules[0].cancelled_by, 'control room')
  assert.deepEqual((await plant.call('DELETE', `/curtailment/group/${group_id}`)).body, answer.body)
  assert.deepEqual(await plant.listed(), [])
  assert.equal((await plant.listed('/curtailment/history'))[0]!['status'], 'cancelled')
})

test('a release whose report is not notified is noticed all the same', async () => {
  const [edge, deaf] = [await plant.edge(), await plant.replica({ db: withoutListening(plant.db) })]
  const { group_id } = (await plant.call('POST', '/curtailment/immediate', plant_1)).body
  const [row] = await untilDesired(edge, hasGroup(group_id))
  await plant.report(edge, reportOf(row!, noon))
  const began_ms = performance.now()
  const releasing = deaf.call('DELETE', `/curtailment/group/${group_id}`)
  const [released] = await untilDesired(edge, isReleased(group_id))
  await plant.report(edge, reportOf(released!, noon + 1, { restored_at: noon + 1 }))
  assert.equal((await releasing).body.status, 'cancelled')
  assert.ok(performance.now() - began_ms < 5000, 'well before it gives up')
})

test('of an edge that does not confirm it a release says that it is not over', async () => {
  const edge = await plant.edge()
  const { group_id } = (await plant.call('POST', '/curtailment/immediate', site_60)).body
  const rows = await untilDesired(edge, hasGroup(group_id))
  await plant.report(edge, reportOf(rows[0]!, noon))
  const { timers, elapse } = manualTimers()
  const other = await plant.replica({ timers })
  const releasing = other.call('DELETE', `/curtailment/group/${group_id}`, undefined, 'release')
  await untilDesired(edge, isReleased(group_id))
  await elapse(10_000)
  const answer = await releasing
  assert.equal(answer.body.status, 'releasing')
  // Of the second plant nobody has answered: the edge may have begun with it.
  assert.deepEqual([answer.body.restored_count, answer.body.pending_restore_count], [0, 2])
  assert.equal((await plant.listed())[0]!['status'], 'releasing')
  const restored = (row: DesiredRow) =>
    reportOf({ ...row, released_at: noon }, noon + 1, { restored_at: noon })
  await plant.report(edge, ...rows.map(restored))
  const again = await plant.call('DELETE', `/curtailment/group/${group_id}`)
  assert.equal(again.body.status, 'cancelled')
  const path = `/curtailment/group/${group_id}`
  const replayed = await plant.call('DELETE', path, undefined, 'release')
  assert.equal(replayed.text, answer.text)
})

test('a release is not over as long as an edge may hold what it was told of', async () => {
  const edge = await plant.edge()
  const { group_id } = (await plant.call('POST', '/curtailment/immediate', plant_1)).body
  await untilDesired(edge, hasGroup(group_id))
  // It obeys, and is cut off before it can say so.
  await plant.loseEdges()
  const { timers, elapse } = manualTimers()
  const other = await plant.replica({ timers })
  const releasing = other.call('DELETE', `/curtailment/group/${group_id}`)
  await elapse(10_000)
  assert.equal((await releasing).body.status, 'releasing')
  plant.clock.pass(24 * hour_ms)
  assert.deepEqual(
    (await plant.listed()).map(({ status, cancelled_at, releasing_reason }) => [
      status,
      cancelled_at,
      releasing_reason,
    ]),
    [['releasing', null, 'edge_unreachable']],
  )
  assert.deepEqual(await plant.listed('/curtailment/history'), [])
  const back = await plant.edge()
  const [released] = await untilDesired(back, isReleased(group_id))
  const now = noon + 24 * hour_ms
  const held = { acknowledged_at: noon, applied_at: noon + 1 }
  await plant.report(back, reportOf(released!, now, { ...held, failure_code: 'raise_refused' }))
  const [known] = await plant.listed()
  assert.deepEqual([known!['status'], known!['failure_code']], ['releasing', 'raise_refused'])
  await plant.report(back, reportOf(released!, now + 1, { ...held, restored_at: now + 1 }))
  assert.equal((await plant.listed('/curtailment/history'))[0]!['status'], 'cancelled')
})

test('a release of what no edge has is done at once; of what is over it changes nothing', async () => {
  await plant.loseEdges()
  const { group_id } = (await plant.call('POST', '/curtailment/immediate', plant_1)).body
  const answer = await plant.call('DELETE', `/curtailment/group/${group_id}`)
  assert.deepEqual([answer.body.status, answer.body.restored_count], ['cancelled', 0])
  // The edge hears of it when it is over: that does not open it again, whatever keeps the plant,
  // and wherever its clock stands.
  const edge = await plant.edge()
  const [row] = await untilDesired(edge, isReleased(group_id))
  const heard = { acknowledged_at: noon - 1, failure_code: 'raise_refused' } as const
  await plant.report(edge, reportOf(row!, noon, heard))
  assert.deepEqual(await plant.listed(), [])
  const [past] = await plant.listed('/curtailment/history')
  assert.deepEqual([past!['status'], past!['applied']], ['cancelled', false])
  const unknown = await plant.call('DELETE', '/curtailment/group/nothing')
  assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'not_found'])
  await plant.loseEdges()
  const ended = (await plant.call('POST', '/curtailment/window', window)).body
  plant.clock.pass(3 * hour_ms)
  const late = await plant.call('DELETE', `/curtailment/group/${ended.group_id}`)
  assert.equal(late.body.status, 'failed')
  assert.equal(late.body.schedules[0].cancelled_at, null)
})
