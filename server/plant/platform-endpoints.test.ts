/** A person answers the question about an exchanged device. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { platformOfFile } from '../access/fixtures/served-platform.ts'
import { addKey } from '../fixtures/served-site.ts'

const platform = platformOfFile()
const path = '/platform/device-exchanges'

test('an operator answers the question about an exchanged inverter, and no viewer does', async () => {
  const { db, person } = platform
  const [site] = await db.query<{ site_id: string }>(
    `select site_id from sites join clients using (client_id)
     where clients.name = 'Sun Owners' order by site_id limit 1`,
  )
  const { site_id } = site!
  await db.execute(
    `insert into locations (site_id, location_id, type, name, created_at, updated_at)
     values ($1, 1, 'site', 'Park', now(), now())`,
    [site_id],
  )
  await db.execute(
    `insert into loggers (site_id, logger_id, name, rated_power_kw, dc_capacity_kwp, created_at,
       updated_at) values ($1, 1, 'South', 100, 100, now(), now())`,
    [site_id],
  )
  await db.execute(
    `insert into inverters (site_id, inverter_id, logger_id, name, serial_number, driver,
       modbus_unit_id, rated_ac_power_kw, mppt_count, string_count, dc_capacity_kwp, phase_count,
       created_at, updated_at)
     values ($1, 1, 1, 'S-1', 'A', 'sunspec', 1, 100, 1, 0, 100, 3, now(), now())`,
    [site_id],
  )
  await db.execute(
    `insert into device_exchanges (site_id, kind, device_id, changed_at, received_at,
       old_serial_number, serial_number)
     values ($1, 'inverter', '1', '2026-06-21T12:00Z', '2026-06-21T12:01Z', 'A', 'B')`,
    [site_id],
  )
  const administrator = await person('administrator', 'admin@example.com')
  const operator = await person('operator', 'operator@example.com')
  const viewer = await person('viewer', 'viewer@example.com')
  const listed = async (by: typeof operator, of = site_id) => {
    const answer = await by.ask('GET', `${path}?site_id=${of}`)
    return answer.status === 200 ? answer.body.data : answer.body.error.code
  }
  const question = {
    kind: 'inverter',
    device_id: '1',
    old_serial_number: 'A',
    serial_number: 'B',
    since_at: '2026-06-21T12:00:00.000Z',
    wrong_wiring_at: null,
    wrong_wiring_by: null,
  }
  assert.deepEqual(await listed(viewer), [question])
  assert.equal(await listed(viewer, 'foreign'), 'validation_error')

  const given = { site_id, kind: 'inverter', device_id: '1', serial_number: 'B' }
  const answer = async (by: typeof operator, change: object) => {
    const body = { ...given, answer: 'same_place', ...change }
    const answered = await by.ask('POST', `${path}/answer`, { body })
    return [answered.status, answered.body.site_file_is_outdated ?? answered.body.error.code]
  }
  assert.deepEqual(await answer(viewer, {}), [403, 'forbidden_role'])
  for (const change of [
    { serial_number: 'A' },
    { device_id: '2' },
    { kind: 'meter' },
    { answer: 'other' },
    { site_id: 'foreign' },
  ]) {
    assert.deepEqual(await answer(operator, change), [422, 'validation_error'])
  }
  const key = await addKey(db, { key_id: '0123456789ab' })
  const by_key = await platform.browser().ask('POST', `${path}/answer`, {
    headers: { authorization: `Bearer ${key}` },
    body: { ...given, answer: 'same_place' },
  })
  assert.equal(by_key.status, 401)

  assert.deepEqual(await answer(operator, { answer: 'wrong_wiring' }), [200, true])
  const [wrong] = await listed(viewer)
  assert.deepEqual([wrong.serial_number, wrong.wrong_wiring_at !== null], ['B', true])
  assert.ok(wrong.wrong_wiring_by)
  assert.deepEqual(await answer(administrator, {}), [200, true], 'site.yaml names the former one')
  assert.deepEqual(await listed(viewer), [])
  assert.deepEqual(await answer(operator, {}), [422, 'validation_error'], 'answered before')
  const inverters = await db.query('select serial_number from inverters where site_id = $1', [
    site_id,
  ])
  assert.deepEqual(inverters, [{ serial_number: 'B' }])

  const audit = await administrator.ask('GET', '/platform/audit')
  const noted = audit.body.data.filter((row: { path: string }) => row.path === `${path}/answer`)
  assert.deepEqual(
    noted.map(({ status }: { status: number }) => status),
    [422, 200, 200, 422, 422, 422, 422, 422, 403],
  )
})
