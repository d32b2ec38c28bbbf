import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { systemStopwatch, systemTimers } from '@heliograph/domain/clock'
import { oneSourceControls } from '@heliograph/domain/profile'
import type { Meter, Site, Station } from '@heliograph/domain/site'
import { allProfiles } from '../drivers/drivers.ts'
import { groupOf, inverterOf, siteOf } from '../fixtures/sites.ts'
import { checkCommand } from './check-command.ts'
import type { CheckedDevice } from './checked-device.ts'
import { freePort, profiledUnit, serveFleet } from './fixtures/fleet.ts'
import { runEdge } from './fixtures/run-edge.ts'
import { type Protocol, protocolOf } from './protocol.ts'
import { devicesOf } from './site-devices.ts'

const at = { connection: 'a', driver: 'janitza_umg' }
const meter: Meter = { ...at, unit_id: 50, meter_id: 1, name: 'Meter', role: 'grid_connection' }
const station: Station = {
  ...at,
  unit_id: 60,
  station_id: 1,
  name: 'Station',
  instruments: [
    {
      sensor_id: 'ghi',
      name: 'GHI',
      type: 'pyranometer',
      quantity: 'ghi_w_m2',
      point: 'irradiance',
    },
  ],
}
const inverters = [1, 2].map((id) => inverterOf(id, { string_groups: [groupOf(2, 1)] }))
const noon = new Date('2026-06-21T11:00:00Z')

/** The values of a plant in order; `change` makes one of them wrong. */
function tested(
  change: (devices: Record<string, CheckedDevice>, site: Site) => void = () => {},
  now = noon,
): Protocol {
  const site = siteOf(structuredClone(inverters), { meters: [structuredClone(meter)] })
  site.loggers[0]!.stations = [structuredClone(station)]
  const grid = {
    frequency_hz: 50.01,
    voltage_l1_n_v: 231,
    voltage_l2_n_v: 230,
    voltage_l3_n_v: 229,
    voltage_l1_l2_v: 400,
    voltage_l2_l3_v: 398,
    voltage_l3_l1_v: 399,
  }
  const values = {
    inverter: {
      ...grid,
      state: 'mppt',
      ac_power_kw: 40,
      dc_power_kw: 41,
      energy_total_kwh: 12_345,
      current_l1_a: 58,
      current_l2_a: 58,
      current_l3_a: 58,
      mppt_voltage_v: [700, 710],
      mppt_current_a: [29, 29],
    },
    meter: {
      ...grid,
      active_power_kw: 78,
      energy_export_kwh: 9000,
      energy_import_kwh: 12,
    },
    station: { irradiance: 820 },
  }
  const devices = devicesOf(site).map(
    (of, nth): CheckedDevice => ({
      of,
      error: null,
      read: {
        identity: {
          manufacturer: 'Acme',
          model: 'X',
          serial_number: `SN-${nth}`,
          firmware_version: null,
        },
        values: structuredClone(values[of.kind as keyof typeof values]),
        strings: {
          current_a: of.kind === 'inverter' ? [29, 29] : null,
          voltage_v: null,
        },
        rated_power_kw: of.kind === 'inverter' ? 100 : null,
        complaints: [],
        missing: [],
        has_limit: false,
        one_source_controls: [],
        described: null,
        is_hybrid: false,
      },
    }),
  )
  change(Object.fromEntries(devices.map((one) => [one.of.name, one])), site)
  return protocolOf({ site, devices, now, software: 'test', run_by: 'tester' })
}

const testsOf = ({ tests }: Protocol, result: string): string[] =>
  tests.flatMap((row) => (row.result === result ? [`${row.device ?? 'Site'}: ${row.test}`] : []))

type Values = Record<string, unknown>
const set = (name: string, values: Values) => (devices: Record<string, CheckedDevice>) => {
  Object.assign(devices[name]!.read!.values, values)
}

test('a plant in order passes, and what is not tried is not called passed', () => {
  const protocol = tested()
  assert.equal(protocol.result, 'passed')
  assert.deepEqual(testsOf(protocol, 'failed'), [])
  assert.deepEqual(testsOf(protocol, 'not_judged'), [
    'Site: clocks of devices',
    'Site: trial of limits',
  ])
  const passed = testsOf(protocol, 'passed')
  for (const name of [
    'I1: strings against DC power',
    'I1: MPPTs against DC power',
    'I1: AC power / DC power',
    'I1: voltage x current / active power',
    'I1: line voltage / phase voltage',
    'Meter: power of the meter against the sum of inverters',
    'Station: irradiance against the clear sky',
  ]) {
    assert.ok(passed.includes(name), name)
  }
})

const wrong: [what: string, change: Parameters<typeof tested>[0], failed: string[]][] = [
  [
    'a frequency without its scale',
    set('I1', { frequency_hz: 5001 }),
    ['I1: frequency_hz', 'I1: frequency against the other devices'],
  ],
  [
    'a frequency of another grid',
    set('Meter', { frequency_hz: 50.4 }),
    ['Meter: frequency against the other devices'],
  ],
  [
    'a DC power that is a tenth',
    set('I1', { dc_power_kw: 10 }),
    ['I1: strings against DC power', 'I1: MPPTs against DC power', 'I1: AC power / DC power'],
  ],
  [
    'currents of MPPTs in another unit',
    set('I1', { mppt_current_a: [2.9, 2.9] }),
    ['I1: MPPTs against DC power'],
  ],
  [
    'a string without current',
    (devices) => {
      Object.assign(devices['I1']!.read!.strings, { current_a: [29, 0] })
    },
    ['I1: strings against DC power'],
  ],
  [
    'currents behind a transformer that is not configured',
    set('Meter', { current_l1_a: 5, current_l2_a: 5, current_l3_a: 5 }),
    ['Meter: voltage x current / active power'],
  ],
  [
    'a lost phase',
    set('Meter', { voltage_l2_n_v: 5 }),
    ['Meter: phase voltages against each other', 'Meter: line voltage / phase voltage'],
  ],
  [
    'a meter with the other sign',
    set('Meter', { active_power_kw: -78 }),
    ['Meter: power of the meter against the sum of inverters'],
  ],
  [
    'a meter that measures more than is delivered',
    set('Meter', { active_power_kw: 120 }),
    ['Meter: power of the meter against the sum of inverters'],
  ],
  [
    'an irradiance above any sky',
    set('Station', { irradiance: 1800 }),
    ['Station: irradiance against the clear sky'],
  ],
  [
    'a covered pyranometer',
    set('Station', { irradiance: 3 }),
    ['Station: irradiance against the clear sky'],
  ],
  [
    'one device at two addresses',
    (devices) => {
      devices['I2']!.read!.identity.serial_number = 'SN-0'
    },
    ['I2: serial number'],
  ],
  [
    'another rating',
    (_, site) => {
      site.loggers[0]!.inverters[0]!.rated_ac_power_kw = 60
    },
    ['I1: rated power of the device against site.yaml'],
  ],
  [
    'a value that cannot be true',
    (devices) => {
      devices['I1']!.read!.complaints = [{ point: 'energy_total_kwh', reason: '1e20 is outside' }]
      Object.assign(devices['I1']!.read!.values, { energy_total_kwh: null })
    },
    ['I1: energy_total_kwh'],
  ],
  [
    'a refused register',
    (devices) => {
      const { read } = devices['Meter']!
      const register = { address: 7, name: 'Power', type: 'u16' } as const
      Object.assign(read!, {
        described: { active_power_kw: register },
        missing: ['Power (7)'],
      })
      Object.assign(read!.values, { active_power_kw: null })
    },
    ['Meter: active_power_kw'],
  ],
  [
    'a silent device',
    (devices) => {
      Object.assign(devices['I2']!, { read: null, error: 'no answer' })
    },
    ['I2: communication'],
  ],
]

for (const [what, change, failed] of wrong) {
  test(`${what} fails`, () => {
    const protocol = tested(change)
    assert.deepEqual(testsOf(protocol, 'failed'), failed)
    assert.equal(protocol.result, 'failed')
    assert.ok(protocol.tests.every((row) => row.result !== 'failed' || row.reason))
  })
}

test('what says nothing is not judged, with the reason', () => {
  const notJudged = (change: Parameters<typeof tested>[0], now?: Date) => {
    const protocol = tested(change, now)
    assert.equal(protocol.result, 'passed')
    return protocol.tests.flatMap(({ result, device, reason }) =>
      result === 'not_judged' && device ? [`${device}: ${reason}`] : [],
    )
  }
  const idle = {
    ac_power_kw: 0.1,
    dc_power_kw: 0.2,
    current_l1_a: 1,
    mppt_current_a: [0.1, 0.1],
  }
  const low = notJudged((devices) => {
    set('I1', idle)(devices)
    set('I2', idle)(devices)
  })
  assert.equal(low.filter((one) => one.endsWith('the power is too low to compare')).length, 9)
  assert.deepEqual(notJudged(set('Meter', { active_power_kw: 30 })), [
    'Meter: 50.0 kW are consumed on site, or the meter is wrong: compare with the loads',
  ])
  assert.deepEqual(notJudged(set('Meter', { active_power_kw: -30 })), [
    'Meter: 110.0 kW are consumed on site, or the meter is wrong: compare with the loads',
  ])
  assert.deepEqual(notJudged(set('I1', { frequency_hz: 0 })), [
    'I1: the device measures no grid now',
  ])
  assert.deepEqual(
    notJudged((_, site) => Object.assign(site, { latitude: 0, longitude: 0 })),
    ['Station: site.yaml has no latitude and longitude'],
  )
  assert.deepEqual(
    notJudged(set('Station', { irradiance: 15 }), new Date('2026-06-21T19:00:00Z')),
    ['Station: the sun is low'],
  )
  const hybrid = notJudged((devices) => {
    set('I1', { ac_power_kw: 40, dc_power_kw: 41 })(devices)
    Object.assign(devices['I1']!.read!, { is_hybrid: true })
  })
  assert.deepEqual(hybrid, ['I1: a battery takes or adds power'])
})

test('registers of one source are warnings, and fail no test', () => {
  const protocol = tested((devices) => {
    const register = { address: 9, name: 'Frequency', type: 'u16', unconfirmed: true } as const
    Object.assign(devices['I1']!.read!, {
      described: { frequency_hz: register },
      one_source_controls: [register],
    })
  })
  assert.deepEqual(testsOf(protocol, 'warning'), ['I1: frequency_hz', 'I1: control register'])
  assert.equal(protocol.result, 'passed')
})

test('profiles name the registers of their controls that one source has', () => {
  const profiles = allProfiles()
  const marked = [...profiles].flatMap(([name, profile]) =>
    oneSourceControls(profile).map(({ address }) => `${name} ${address}`),
  )
  assert.deepEqual(marked, [
    'huawei_sun2000 35303',
    'huawei_sun2000 42405',
    'huawei_sun2000 42014',
    'sinexcel_pws 135',
    'sinexcel_pws 327',
  ])
})

test('a protocol is written as JSON and PDF, through a running edge too', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-check-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const port = await freePort()
  const host = '127.7.9.1'
  const profiles = allProfiles()
  const fleet = await serveFleet(t, [
    {
      host,
      port,
      units: {
        1: profiledUnit(profiles.get('huawei_sun2000')!, 1),
        50: profiledUnit(profiles.get('janitza_umg')!, 2),
      },
      others: 'nobody',
    },
  ])
  const site = siteOf([inverterOf(1, { driver: 'huawei_sun2000', rated_ac_power_kw: 33.3 })], {
    connections: [{ connection_id: 'a', protocol: 'modbus_tcp', host, port }],
    meters: [meter],
  })
  const site_file = join(dir, 'site.yaml')
  writeFileSync(site_file, JSON.stringify(site))
  const said: string[] = []
  const out = join(dir, 'protocol')
  const check = async (options: { out?: string; force?: true } = {}) => {
    said.length = 0
    const is_passed = await checkCommand(
      { out, ...options },
      {
        clock: { now: () => noon },
        stopwatch: systemStopwatch,
        timers: systemTimers,
        agent_version: '0',
        interrupted: () => new AbortController().signal,
        question: async () => '',
        data_dir: dir,
        site_file,
        software: 'heliograph-edge test',
        run_by: 'tester',
        note: () => {},
        say: async (text) => void said.push(text),
      },
    )
    const protocol: Protocol = JSON.parse(readFileSync(`${out}.json`, 'utf8'))
    return { is_passed, protocol, text: said.join('') }
  }
  const alone = await check()
  assert.equal(alone.protocol.devices[0]!.serial_number, 'SIM-1')
  assert.match(alone.text, /^I1 +frequency_hz +passed +50\.1 Hz +45 to 65 Hz$/m)
  assert.match(alone.text, /^I1 +control register +warning +one source alone has .*\(35303\)/m)
  assert.match(alone.text, /^Site +trial of limits +not judged +not tried$/m)
  assert.match(alone.text, /^\d+ passed, \d+ failed, \d+ warnings, \d+ not judged$/m)
  assert.equal(readFileSync(`${out}.pdf`).subarray(0, 5).toString(), '%PDF-')
  await assert.rejects(check(), /protocol\.json is there: --force replaces it/)

  await runEdge(t, { dir, site })
  const through = await check({ force: true })
  assert.deepEqual(through.protocol, alone.protocol)
  assert.equal(fleet.connections_max(), 1)
  assert.deepEqual([...fleet.asked.keys()], [3])

  const absent = inverterOf(9, { driver: 'sma' })
  site.loggers[0]!.inverters.push(absent)
  writeFileSync(site_file, JSON.stringify(site))
  const silent = await check({ force: true })
  assert.equal(silent.is_passed, false)
  assert.match(silent.text, /^I9 +communication +FAILED .*no unit 9 at this port/m)
  assert.ok(existsSync(`${out}.pdf`))
})
