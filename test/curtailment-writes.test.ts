/** The writes of curtailment done once and whole, whatever dies, and refused where they must be. */

import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { noon } from '../server/link/fixtures/plant.ts'
import type { Database } from '../server/storage/database.ts'
import {
  type CurtailmentPlant,
  curtailmentPlant,
  forgetCurtailment,
  fromTo,
  isReleased,
  plant_1,
  reportOf,
  site_60,
  untilDesired,
} from './curtailment-plant.ts'

let plant: CurtailmentPlant

before(async () => {
  plant = await curtailmentPlant()
})
after(() => plant.close())
beforeEach(() => forgetCurtailment(plant))

const window = { ...plant_1, ...fromTo(1, 2) }

test('a group is there whole or not at all', async () => {
  await plant.db.query(`
    create function refuse() returns trigger language plpgsql as
      $$ begin if new.logger_id = 2 then raise 'broken'; end if; return new; end $$;
    create trigger refuse before insert on curtailment_rows for each row execute function refuse()`)
  const failed = await plant.call('POST', '/curtailment/immediate', site_60, 'whole')
  assert.equal(failed.status, 500)
  assert.equal(await plant.groups(), 0)
  assert.equal((await plant.call('GET', '/curtailment')).body.meta.count, 0)
  await plant.db.query('drop trigger refuse on curtailment_rows; drop function refuse()')
  const made = await plant.call('POST', '/curtailment/immediate', site_60, 'whole')
  assert.deepEqual([made.status, made.body.schedules.length], [201, 2])
})

const writes = [
  ['/curtailment/window', window],
  ['/curtailment/immediate', plant_1],
] as const

test('one key is one command: at once from two connections, with another body, a day later', async () => {
  const other = await plant.replica()
  for (const [nth, [path, body]] of writes.entries()) {
    const post = (replica: Pick<CurtailmentPlant, 'call'>, sent: object = body) =>
      replica.call('POST', path, sent, `key-${nth}`)
    const answers = await Promise.all([post(plant), post(other), post(plant), post(other)])
    const made = answers.filter(({ status }) => status === 201)
    assert.equal(new Set(made.map(({ text }) => text)).size, 1)
    for (const { status, body } of answers) {
      if (status !== 201) assert.equal(body.error.code, 'idempotency_in_progress')
    }
    assert.equal(await plant.groups(), nth + 1)
    const replayed = await post(other)
    assert.equal(replayed.headers.get('idempotent-replayed'), 'true')
    assert.equal(replayed.text, made[0]!.text)
    assert.equal(made[0]!.body.schedules[0].idempotency_key, `key-${nth}`)
    const conflict = await post(other, { ...body, limit_value: 49 })
    assert.deepEqual([conflict.status, conflict.body.error.code], [422, 'idempotency_conflict'])
    assert.equal(await plant.groups(), nth + 1)
  }
  plant.clock.pass(24 * hour_ms)
  const anew = await plant.call('POST', '/curtailment/immediate', plant_1, 'key-1')
  assert.equal(anew.headers.get('idempotent-replayed'), null)
  assert.equal(await plant.groups(), 3)
})

/** Another replica, whose process dies with the first transaction of a request. */
async function dyingReplica(dies: 'before' | 'after') {
  const lost = () => Promise.reject(new Error('Connection terminated'))
  let is_started = false
  const db: Database = {
    ...plant.db,
    async transaction(work, options) {
      if (!is_started) return plant.db.transaction(work, options)
      if (dies === 'after') {
        await plant.db.transaction(work, options)
        return lost()
      }
      return plant.db.transaction(async (tx) => {
        await work(tx)
        return lost()
      }, options)
    },
    // Nor can it clear up.
    execute: (statement, values) =>
      String(statement).includes('delete from idempotency_records')
        ? lost()
        : plant.db.execute(statement, values),
  }
  const replica = await plant.replica({ db })
  is_started = true
  return replica
}

test('a command is done once though the process dies before or after its commit', async () => {
  const post = (replica: Pick<CurtailmentPlant, 'call'>, key: string) =>
    replica.call('POST', '/curtailment/immediate', plant_1, key)
  const after = await dyingReplica('after')
  assert.equal((await post(after, 'after')).status, 503)
  const replayed = await post(plant, 'after')
  assert.deepEqual([replayed.status, replayed.headers.get('idempotent-replayed')], [201, 'true'])
  assert.equal(await plant.groups(), 1)

  const before = await dyingReplica('before')
  assert.equal((await post(before, 'before')).status, 503)
  assert.equal(await plant.groups(), 1)
  assert.equal((await post(plant, 'before')).body.error.code, 'idempotency_in_progress')
  plant.clock.pass(60_000)
  assert.equal((await post(plant, 'before')).status, 201)
  assert.equal(await plant.groups(), 2)
})

test('a release whose process dies is done by its repetition, and confirmed', async () => {
  const edge = await plant.edge()
  const { group_id } = (await plant.call('POST', '/curtailment/immediate', plant_1)).body
  const [row] = await untilDesired(edge, (rows) => rows.length > 0)
  await plant.report(edge, reportOf(row!, noon))
  const path = `/curtailment/group/${group_id}`
  const dead = await dyingReplica('after')
  assert.equal((await dead.call('DELETE', path, undefined, 'k')).status, 503)
  const [released] = await untilDesired(edge, isReleased(group_id))
  await plant.report(edge, reportOf(released!, noon + 1, { restored_at: noon + 1 }))
  const early = await plant.call('DELETE', path, undefined, 'k')
  assert.equal(early.body.error.code, 'idempotency_in_progress')
  plant.clock.pass(60_000)
  const { status, body } = await plant.call('DELETE', path, undefined, 'k')
  assert.deepEqual([status, body.status, body.restored_count], [200, 'cancelled', 1])
  assert.equal(body.schedules[0].release_requested_at, new Date(noon).toISOString())
  assert.equal(body.schedules[0].cancelled_at, new Date(noon + 1).toISOString())
})

test('the writes share the rate of writes, and safe mode refuses all of them', async () => {
  const { group_id } = (await plant.call('POST', '/curtailment/immediate', plant_1)).body
  await plant.db.execute('update sites set safe_mode_since_at = now()')
  await plant.db.execute("select pg_notify('site_changed', 'park')")
  plant.clock.pass(1001)
  for (const [method, path, body] of [
    ['POST', ...writes[0]],
    ['POST', ...writes[1]],
    ['DELETE', `/curtailment/group/${group_id}`, undefined],
  ] as const) {
    const refused = await plant.call(method, path, body)
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'conflict_safe_mode'])
  }
  await plant.db.execute('update sites set safe_mode_since_at = null')
  plant.clock.pass(1001)
  await plant.db.execute('update api_keys set write_per_minute = 3')
  plant.clock.pass(60_000)
  // Several servers count by the clock of the database, which the test does not move.
  await plant.db.execute('delete from rate_windows')
  const statuses: number[] = []
  for (const [path, body] of [...writes, ...writes]) {
    statuses.push((await plant.call('POST', path, body)).status)
  }
  assert.deepEqual(statuses, [201, 201, 201, 429])
  assert.equal((await plant.call('DELETE', `/curtailment/group/${group_id}`)).status, 429)
  await plant.db.execute('update api_keys set write_per_minute = 100000')
  plant.clock.pass(60_000)
})
