/** What a site in commissioning has and lacks, as its edge reported it. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { readingKinds } from '@heliograph/domain/readings'
import { defaultPollIntervals, type Site } from '@heliograph/domain/site'
import { platformOfFile } from '../../access/fixtures/served-platform.ts'
import { addReading } from '../../fixtures/served-site.ts'
import { applyInventory } from '../../plant/inventory.ts'

const platform = platformOfFile()

const address = { connection: 'a', driver: 'sunspec' } as const
const modules = { module_count: 24, params_id: 1, azimuth_deg: 180, tilt_deg: 25 }
const inverterOf = (inverter_id: number) => ({
  inverter_id,
  name: `I${inverter_id}`,
  rated_ac_power_kw: 100,
  ...address,
  unit_id: inverter_id,
  string_groups: [{ strings: 2, strings_per_mppt: 1, ...modules }],
})
const instrument = { name: 'P', type: 'pyranometer', point: '302[0].POAI' } as const

/** As a scan writes it: without a position, and without a role of the meter. */
const scanned: Site = {
  site_id: 'first',
  name: 'First',
  timezone: 'UTC',
  country_code: 'XX',
  latitude: 0,
  longitude: 0,
  poll: defaultPollIntervals,
  locations: [],
  panel_models: [
    { params_id: 1, name: 'M', manufacturer: 'M', technology: 'mono_c_si', power_stc_w: 450 },
  ],
  connections: [{ connection_id: 'a', protocol: 'modbus_tcp', host: '127.0.0.1', port: 502 }],
  loggers: [
    {
      logger_id: 1,
      name: 'Plant',
      rated_power_kw: 200,
      controller: { connection: 'a', driver: 'huawei_smartlogger', unit_id: 0 },
      inverters: [inverterOf(1), inverterOf(2)],
      stations: [
        {
          station_id: 1,
          name: 'Mast',
          ...address,
          unit_id: 4,
          instruments: [
            { ...instrument, sensor_id: 'poa', quantity: 'poa_irradiance_w_m2' },
            { ...instrument, sensor_id: 'air', quantity: 'ambient_temperature_c' },
          ],
        },
      ],
    },
  ],
  meters: [{ meter_id: 1, name: 'Meter', role: 'other', ...address, unit_id: 3 }],
}
const at = '2026-06-21T10:00:00.000Z'

test('a site in commissioning shows its devices, their values, and what is missing', async () => {
  const { db, person } = platform
  const viewer = await person('viewer', 'viewer@example.com')
  const ask = (site_id = 'first') => viewer.ask('GET', `/platform/commissioning?site_id=${site_id}`)
  const empty = await ask()
  assert.equal(empty.status, 200, JSON.stringify(empty.body))
  assert.deepEqual(empty.body, {
    edge_seen_at: null,
    missing: ['edge', 'site_file', 'position', 'grid_meter', 'irradiance'],
    devices: [],
  })
  assert.equal((await ask('foreign')).status, 422)

  const announce = (site: Site, seq: number) =>
    db.transaction((tx) =>
      applyInventory(tx, site, {
        json: JSON.stringify(site),
        epoch: 'e',
        seq,
        at: Date.parse(at) + seq,
      }),
    )
  await announce(scanned, 1)
  for (const { table } of Object.values(readingKinds)) {
    await db.execute(`CREATE TABLE ${table}_any PARTITION OF ${table} DEFAULT`)
  }
  const read = { site_id: 'first', measured_at: at }
  const measured = { ac_power_kw: 21.4, voltage_l2_n_v: 231, mppt_current_a: [null, 8.5] }
  await addReading(db, 'inverter', { ...read, inverter_id: 1, frequency_hz: 50.02, ...measured })
  await addReading(db, 'weather', { ...read, station_id: 1, instrument_values: [812, null] })
  await db.execute(
    `insert into device_status (site_id, kind, id, comm_state, since_at, last_ok_at, error,
       manufacturer, model, serial_number, updated_at)
     values ('first', 'inverter', '1', 'connected', $1, $1, null, 'Acme', 'X', 'S-1', $1),
       ('first', 'inverter', '2', 'disconnected', $1, null, 'no answer', null, null, null, $1),
       ('first', 'logger', '1', 'connected', $1, $1, null, 'Huawei', 'SmartLogger', null, $1),
       ('first', 'meter', '9', 'connected', $1, $1, null, 'Gone', null, null, $1)`,
    [at],
  )
  const { body } = await ask()
  assert.deepEqual(body.missing, ['edge', 'position', 'grid_meter'])
  interface Shown {
    kind: string
    device_id: string
    quantities: { quantity: string; column: string | null; value: number | null }[]
  }
  const devices = new Map<string, Shown>(
    body.devices.map((one: Shown) => [`${one.kind} ${one.device_id}`, one]),
  )
  assert.deepEqual(
    [...devices.keys()],
    ['logger 1', 'inverter 1', 'inverter 2', 'meter 1', 'station 1'],
  )
  const { quantities, ...facts } = devices.get('inverter 1')!
  assert.deepEqual(facts, {
    kind: 'inverter',
    device_id: '1',
    name: 'I1',
    manufacturer: 'Acme',
    model: 'X',
    serial_number: 'S-1',
    comm_state: 'connected',
    last_ok_at: at,
    error: null,
    measured_at: at,
  })
  assert.deepEqual(quantities, [
    { quantity: 'power', column: 'ac_power_kw', value: 21.4 },
    { quantity: 'voltage', column: 'voltage_l2_n_v', value: 231 },
    { quantity: 'current', column: null, value: null },
    { quantity: 'frequency', column: 'frequency_hz', value: 50.02 },
    { quantity: 'energy', column: null, value: null },
    { quantity: 'dc_input', column: 'mppt_current_a', value: 8.5 },
  ])
  assert.deepEqual(devices.get('station 1')!.quantities, [
    { quantity: 'poa', column: 'poa_irradiance_w_m2', value: 812 },
    { quantity: 'air', column: null, value: null },
  ])
  assert.ok(devices.get('meter 1')!.quantities.every(({ value }) => value === null))

  const [meter] = scanned.meters!
  const meters = [{ ...meter!, role: 'grid_connection' as const }]
  await announce({ ...scanned, latitude: 48.1, longitude: 11.5, meters }, 2)
  const later = await ask()
  assert.deepEqual(later.body.missing, ['edge'])
})
