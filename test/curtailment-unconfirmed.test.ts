/** Curtailment that is over, and whose end the edge confirms late or never. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test, { after, before, beforeEach } from 'node:test'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { createEdge, revokeEdge } from '../server/access/edges.ts'
import type { EdgeClient } from '../server/link/fixtures/edge-client.ts'
import { edge_id, noon, site_id } from '../server/link/fixtures/plant.ts'
import { closeGroup } from '../server/storage/curtailment.ts'
import {
  type CurtailmentPlant,
  curtailmentPlant,
  forgetCurtailment,
  fromTo,
  hasGroup,
  isReleased,
  manualTimers,
  plant_1,
  type Replica,
  reportOf,
  untilDesired,
} from './curtailment-plant.ts'

let plant: CurtailmentPlant

before(async () => {
  plant = await curtailmentPlant()
})
after(() => plant.close())
beforeEach(() => forgetCurtailment(plant))

const window = { ...plant_1, ...fromTo(1, 2) }
const iso = (at_ms: number) => new Date(at_ms).toISOString()

/** A command that the edge applied before its uplink was lost. */
async function limited(path: string, body: object): Promise<string> {
  const edge = await plant.edge()
  const { group_id } = (await plant.call('POST', path, body)).body
  const [row] = await untilDesired(edge, hasGroup(group_id))
  await plant.report(edge, reportOf(row!, noon, { applied_at: noon + 1000 }))
  await plant.loseEdges()
  return group_id
}

/** Without waiting for the edge. */
async function release(replica: Replica & { elapse: (ms: number) => Promise<void> }, id: string) {
  const releasing = replica.call('DELETE', `/curtailment/group/${id}`)
  await replica.elapse(10_000)
  return (await releasing).body
}

async function impatient() {
  const { timers, elapse } = manualTimers()
  return { ...(await plant.replica({ timers })), elapse }
}

const stateOf = async (path?: string) =>
  (await plant.listed(path)).map((row) => [
    row['status'],
    row['release_requested_at'],
    row['cancelled_at'],
    row['completed_at'],
  ])

test('a release that the edge never confirms stays open on every server, however late', async () => {
  const group_id = await limited('/curtailment/immediate', { ...plant_1, duration_minutes: 60 })
  const [one, other] = [await impatient(), await impatient()]
  plant.clock.pass(60_000)
  const asked_at = iso(noon + 60_000)
  const first = await release(one, group_id)
  assert.deepEqual([first.status, first.pending_restore_count], ['releasing', 1])
  assert.equal(first.schedules[0].release_requested_at, asked_at)
  assert.equal(first.schedules[0].cancelled_at, null)
  for (const later_ms of [61 * 60_000, 2 * hour_ms, 100 * day_ms]) {
    plant.clock.set(noon + later_ms)
    const again = await release(other, group_id)
    assert.equal(again.status, 'releasing')
    assert.deepEqual(again.schedules[0], (await plant.listed())[0], 'one state on both')
    assert.deepEqual(await stateOf(), [['releasing', asked_at, null, null]])
    assert.deepEqual(await stateOf('/curtailment/history'), [])
  }
  const back = await plant.edge()
  // Past its end it is sent all the same, so that an edge that lost it confirms, too.
  const [row] = await untilDesired(back, isReleased(group_id))
  const restored_at = noon + 100 * day_ms + 5000
  plant.clock.set(restored_at)
  const report = reportOf(row!, restored_at, { applied_at: noon + 1000, restored_at })
  await plant.report(back, report)
  await plant.report(back, report)
  assert.deepEqual(await stateOf(), [])
  const cancelled = ['cancelled', asked_at, iso(restored_at), null]
  assert.deepEqual(await stateOf('/curtailment/history'), [cancelled], 'it was over just now')
  const repeated = await plant.call('DELETE', `/curtailment/group/${group_id}`)
  assert.equal(repeated.body.status, 'cancelled')
  assert.equal(repeated.body.schedules[0].cancelled_at, iso(restored_at))
})

test('an end that comes by itself is open until the edge confirms it', async () => {
  await limited('/curtailment/window', window)
  plant.clock.set(noon + 3 * day_ms)
  const [open] = await plant.listed()
  assert.deepEqual([open!['status'], open!['releasing_reason']], ['releasing', 'edge_unreachable'])
  assert.deepEqual(await stateOf('/curtailment/history'), [])
  const back = await plant.edge()
  const [row] = await untilDesired(back, (rows) => rows.length === 1)
  const restored_at = noon + 2 * hour_ms + 2000
  await plant.report(
    back,
    reportOf(row!, noon + 3 * day_ms, { applied_at: noon + hour_ms, restored_at }),
  )
  assert.deepEqual(await stateOf('/curtailment/history'), [
    ['completed', null, null, iso(restored_at)],
  ])
})

const desiredCount = ({ messages }: EdgeClient) =>
  messages.filter(({ type }) => type === 'desired').length

test('a record that a person closes is over, and the edge is sent nothing', async () => {
  const group_id = await limited('/curtailment/immediate', plant_1)
  const replica = await impatient()
  await release(replica, group_id)
  const edge = await plant.edge()
  const [row] = await untilDesired(edge, isReleased(group_id))
  const sent = desiredCount(edge)
  plant.clock.set(noon + hour_ms)
  const waiting = replica.call('DELETE', `/curtailment/group/${group_id}`)
  await untilDesired(edge, () => desiredCount(edge) === sent + 1)
  const order = { site_id, group_id, by: 'Ada', note: 'Checked on site.' }
  const close = () =>
    plant.db.transaction((tx) => closeGroup(tx, { ...order, now: plant.clock.now() }))
  assert.equal(await close(), 1)
  assert.equal(await close(), 0, 'again')
  assert.equal((await waiting).body.status, 'cancelled', 'a release that waits ends')
  const [past] = await plant.listed('/curtailment/history')
  const { status, cancelled_at, closed_at, closed_reason, closed_by, close_note } = past!
  assert.deepEqual(
    [status, cancelled_at, closed_at, closed_reason, closed_by, close_note],
    ['cancelled', iso(noon + hour_ms), iso(noon + hour_ms), 'operator', 'Ada', 'Checked on site.'],
  )
  assert.equal(past!['restored'], false)
  // A round trip of the link: nothing more came before it.
  const restored_at = noon + 2 * hour_ms
  await plant.report(edge, reportOf(row!, restored_at, { applied_at: noon, restored_at }))
  assert.equal(desiredCount(edge), sent + 1)
  const [confirmed] = await plant.listed('/curtailment/history')
  assert.deepEqual(
    [confirmed!['restored'], confirmed!['cancelled_at']],
    [true, iso(noon + hour_ms)],
  )
})

test('the removal of the last edge of a site ends what waits for it', async () => {
  const admin = { db: plant.db, clock: plant.clock, randomBytes }
  const group_id = await limited('/curtailment/immediate', plant_1)
  const lasting = (await plant.call('POST', '/curtailment/window', plant_1_later)).body.group_id
  const edge = await plant.edge()
  await untilDesired(edge, hasGroup(lasting))
  await plant.loseEdges()
  const replica = await impatient()
  await release(replica, group_id)
  const spare = await createEdge(admin, { site_id, name: 'spare' })
  await revokeEdge(admin, { site_id, edge_id: spare.edge_id })
  assert.equal((await plant.listed())[0]!['status'], 'releasing', 'another edge can confirm')
  plant.clock.pass(hour_ms)
  await revokeEdge(admin, { site_id, edge_id })
  const [past] = await plant.listed('/curtailment/history')
  assert.deepEqual(
    [past!['status'], past!['closed_reason'], past!['cancelled_at']],
    ['cancelled', 'edge_removed', iso(noon + hour_ms)],
  )
  const answer = await plant.call('DELETE', `/curtailment/group/${lasting}`)
  assert.equal(answer.body.status, 'cancelled', 'no edge is left to wait for')
  assert.deepEqual(await plant.listed(), [])
})

const plant_1_later = { ...plant_1, ...fromTo(20, 40) }
