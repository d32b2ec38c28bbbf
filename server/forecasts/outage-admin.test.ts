import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { AdminError } from '../access/admin.ts'
import { addOutage, listOutages, type NewOutage, removeOutage } from './outage-admin.ts'

let database: TestDatabase
before(async () => {
  database = await testDatabase()
  await database.db.query(`
    insert into clients (name, modules) values ('A', '{basic_scada}');
    insert into sites (site_id, client_id, name) values ('a', 1, 'A'), ('b', 1, 'B');
    insert into loggers (site_id, logger_id, name, rated_power_kw, dc_capacity_kwp, created_at,
      updated_at, retired_at)
    select site_id, id, 'Plant', 100, 120, now(), now(), case id when 3 then now() end
    from (values ('a', 1), ('a', 2), ('a', 3), ('b', 7)) as l (site_id, id)`)
})
after(() => database.drop())

const now = '2026-06-21T10:00:00.000Z'
const admin = () => ({ db: database.db, clock: { now: () => new Date(now) } })
const order = (change: Partial<NewOutage> = {}): NewOutage => ({
  site_id: 'a',
  logger_id: 1,
  unavailable_pct: 50,
  reason: 'transformer 2',
  start_at: new Date('2026-06-22T06:00Z'),
  end_at: new Date('2026-06-22T14:00Z'),
  ...change,
})
const refused = (code: string, why: RegExp) => (error: unknown) => {
  assert.ok(error instanceof AdminError)
  assert.equal(error.code, code)
  assert.match(error.message, why)
  return true
}
const ids = async (site_id: string, with_past: boolean) =>
  (await listOutages(admin(), { site_id, with_past })).map(({ outage_id }) => outage_id)

test('an outage is kept as it was told of, listed until it is over, and removed', async () => {
  const one = await addOutage(admin(), order())
  const { outage_id, ...kept } = one
  assert.deepEqual(kept, { ...order(), created_at: new Date(now) })
  const under_way = await addOutage(
    admin(),
    order({ logger_id: null, start_at: new Date('2026-06-20T00:00Z'), reason: null }),
  )
  const until_now = { start_at: new Date('2026-06-19T00:00Z'), end_at: new Date(now) }
  const over = await addOutage(admin(), order({ ...until_now, logger_id: 2 }))
  await addOutage(admin(), order({ site_id: 'b', logger_id: 7 }))
  assert.deepEqual(await ids('a', false), [under_way.outage_id, outage_id])
  assert.deepEqual(await ids('a', true), [over.outage_id, under_way.outage_id, outage_id])
  // Each site has its own.
  const of_b = removeOutage(admin(), { site_id: 'b', outage_id })
  await assert.rejects(of_b, refused('not_found', /site b has no outage/))
  assert.deepEqual(await removeOutage(admin(), { site_id: 'a', outage_id }), one)
  assert.deepEqual(await ids('a', false), [under_way.outage_id])
  const again = removeOutage(admin(), { site_id: 'a', outage_id })
  await assert.rejects(again, refused('not_found', /no outage/))
})

test('what cannot be is refused by the name of its field, and nothing is stored', async () => {
  const before = await ids('a', true)
  const bad = (change: Partial<NewOutage>) => addOutage(admin(), order(change))
  await assert.rejects(
    bad({ end_at: order().start_at, unavailable_pct: 0 }),
    refused('invalid', /^end_at must be after start_at\nunavailable_pct .* not 0$/),
  )
  await assert.rejects(bad({ unavailable_pct: 100.5 }), refused('invalid', /unavailable_pct/))
  await assert.rejects(bad({ unavailable_pct: Number.NaN }), refused('invalid', /unavailable_pct/))
  await assert.rejects(
    bad({ end_at: new Date('2062-06-22T14:00Z') }),
    refused('invalid', /end_at is over 400 days after/),
  )
  await assert.rejects(bad({ reason: 'a\nb' }), refused('invalid', /reason must not contain/))
  await assert.rejects(bad({ site_id: 'c' }), refused('not_found', /no site "c"/))
  for (const logger_id of [3, 7, 99]) {
    const why = new RegExp(`logger_id: site a has no logger ${logger_id} in service .*: 1, 2`)
    await assert.rejects(bad({ logger_id }), refused('not_found', why))
  }
  const asked = { site_id: 'c', with_past: false }
  await assert.rejects(listOutages(admin(), asked), refused('not_found', /no site/))
  assert.deepEqual(await ids('a', true), before)
})

test('of the same plant and time there is one', async () => {
  const same = { start_at: new Date('2026-07-01T00:00Z'), end_at: new Date('2026-07-02T00:00Z') }
  for (const logger_id of [1, 2, null]) await addOutage(admin(), order({ ...same, logger_id }))
  for (const logger_id of [1, null]) {
    const again = addOutage(admin(), order({ ...same, logger_id, unavailable_pct: 20 }))
    await assert.rejects(again, refused('conflict', /outage \d+ \(50 %\) .* remove it first/))
  }
})
