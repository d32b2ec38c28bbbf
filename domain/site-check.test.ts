import assert from 'node:assert/strict'
import test from 'node:test'
import type { Battery } from './battery.ts'
import type { Instrument, Inverter, Site, Station } from './site.ts'
import { checkSite, fieldOf } from './site-check.ts'

const address = { connection: 'a', driver: 'sunspec' } as const

function inverter(inverter_id: number, more: Partial<Inverter> = {}): Inverter {
  return {
    inverter_id,
    name: `I${inverter_id}`,
    rated_ac_power_kw: 100,
    ...address,
    unit_id: inverter_id,
    string_groups: [
      {
        strings: 12,
        strings_per_mppt: 2,
        module_count: 24,
        params_id: 1,
        azimuth_deg: 180,
        tilt_deg: 25,
      },
    ],
    ...more,
  }
}

function site(more: Partial<Site> = {}): Site {
  return {
    site_id: 's',
    name: 'S',
    timezone: 'Europe/Berlin',
    country_code: 'DE',
    latitude: 48,
    longitude: 12,
    locations: [{ location_id: 1, type: 'site', name: 'S' }],
    panel_models: [{ params_id: 1 } as Site['panel_models'][number]],
    connections: [{ connection_id: 'a', protocol: 'modbus_tcp', host: 'h', port: 502 }],
    loggers: [{ logger_id: 1, name: 'L', rated_power_kw: 100, inverters: [inverter(1)] }],
    ...more,
  }
}

function withInverters(...inverters: Inverter[]): Site {
  return site({ loggers: [{ logger_id: 1, name: 'L', rated_power_kw: 100, inverters }] })
}

function faults(of: Site): string[] {
  return checkSite(of).map(({ path, message }) => `${fieldOf(path)}: ${message}`)
}

test('a valid site has no problems', () => {
  assert.deepEqual(faults(site()), [])
})

test('ids are unique over the whole site', () => {
  const other = {
    logger_id: 1,
    name: 'M',
    rated_power_kw: 1,
    inverters: [inverter(1, { unit_id: 9 })],
  }
  assert.deepEqual(faults(site({ loggers: [...site().loggers, other] })), [
    'loggers[1].logger_id: logger_id 1 is already that of loggers[0]',
    'loggers[1].inverters[0].inverter_id: inverter_id 1 is already that of loggers[0].inverters[0]',
  ])
})

test('references must exist', () => {
  const wrong = site({
    locations: [{ location_id: 1, parent_location_id: 7, type: 'site', name: 'S' }],
    meters: [
      {
        meter_id: 1,
        name: 'M',
        role: 'plant',
        logger_id: 8,
        ...address,
        unit_id: 99,
        connection: 'b',
      },
    ],
  })
  wrong.loggers[0]!.location_id = 9
  wrong.loggers[0]!.inverters[0]!.string_groups[0]!.params_id = 5
  assert.deepEqual(faults(wrong), [
    'loggers[0].inverters[0].string_groups[0].params_id: there is no params_id 5 in this file',
    'meters[0].connection: there is no connection b in this file',
    'meters[0].logger_id: there is no logger_id 8 in this file',
    'loggers[0].location_id: there is no location_id 9 in this file',
    'locations[0].parent_location_id: there is no parent_location_id 7 in this file',
  ])
})

test('a location cannot lie within itself', () => {
  const locations: Site['locations'] = [
    { location_id: 1, parent_location_id: 2, type: 'site', name: 'A' },
    { location_id: 2, parent_location_id: 1, type: 'plot', name: 'B' },
    { location_id: 3, parent_location_id: 1, type: 'plot', name: 'C' },
  ]
  assert.deepEqual(faults(site({ locations })), [
    'locations[0].parent_location_id: location 1 lies within itself',
    'locations[1].parent_location_id: location 2 lies within itself',
  ])
})

test('time zones are those of the IANA database', () => {
  for (const timezone of ['Berlin', '+02:00', 'Mars/Olympus']) {
    assert.equal(checkSite(site({ timezone }))[0]?.path[0], 'timezone', timezone)
  }
  assert.deepEqual(faults(site({ timezone: 'UTC' })), [])
})

test('a plant controller has its own address on a connection', () => {
  const driver = 'huawei_smartlogger'
  const of = (connection: string, unit_id: number) => {
    const controller = { connection, unit_id, driver } as const
    const [logger] = site().loggers
    return faults(site({ loggers: [{ ...logger!, controller }] }))
  }
  assert.deepEqual(of('a', 0), [])
  assert.match(of('a', 1).join(), /unit 1 on connection 'a' .* is already loggers\[0\]\.controller/)
  assert.match(of('b', 0).join(), /^loggers\[0\]\.controller\.connection: /)
})

test('two devices cannot share an address', () => {
  assert.deepEqual(faults(withInverters(inverter(1), inverter(2, { unit_id: 1 }))), [
    "loggers[0].inverters[1].unit_id: unit 1 on connection 'a' cannot be 'I2' " +
      "(loggers[0].inverters[1]): it is already 'I1' (loggers[0].inverters[0])",
  ])
})

test('a meter may be read through another device, and by one driver once', () => {
  const meter = (meter_id: number, driver: string) => {
    const name = `M${meter_id}`
    return { meter_id, name, role: 'other', connection: 'a', unit_id: 1, driver } as const
  }
  const of = (...meters: ReturnType<typeof meter>[]) => faults(site({ meters }))
  assert.deepEqual(of(meter(1, 'sunspec'), meter(2, 'huawei_sun2000_meter')), [])
  assert.deepEqual(of(meter(1, 'sunspec'), meter(2, 'sunspec')), [
    "meters[1].unit_id: unit 1 on connection 'a' cannot be 'M2' (meters[1]): it is already 'M1' " +
      '(meters[0])',
  ])
})

test('two devices cannot share an address by two connections to one gateway', () => {
  const twice = (connections: Site['connections'], unit_id: number) => {
    const inverters = [inverter(1), inverter(2, { connection: 'b', unit_id })]
    return faults({ ...withInverters(...inverters), connections })
  }
  const tcp = (connection_id: string, host: string, port: number) =>
    ({ connection_id, protocol: 'modbus_tcp', host, port }) as const
  assert.deepEqual(twice([tcp('a', 'Gate.example', 502), tcp('b', 'gate.example', 502)], 1), [
    "loggers[0].inverters[1].unit_id: unit 1 on connection 'b' cannot be 'I2' " +
      "(loggers[0].inverters[1]): it is already 'I1' (loggers[0].inverters[0]), by connection " +
      "'a', which leads to gate.example:502 too",
  ])
  // A gateway may lead to several lines, with a connection for each.
  assert.deepEqual(twice([tcp('a', 'gate.example', 502), tcp('b', 'gate.example', 502)], 2), [])
  assert.deepEqual(twice([tcp('a', 'gate.example', 502), tcp('b', 'gate.example', 503)], 1), [])
})

test('a serial port has one connection only', () => {
  const rtu = (connection_id: string, path: string) =>
    ({ connection_id, protocol: 'modbus_rtu', path, baud_rate: 9600 }) as const
  const of = (path: string, unit_id: number) => {
    const inverters = [inverter(1), inverter(2, { connection: 'b', unit_id })]
    const connections = [rtu('a', '/dev/ttyS0'), rtu('b', path)]
    return faults({ ...withInverters(...inverters), connections })
  }
  assert.deepEqual(of('/dev/ttyS1', 1), [])
  const port =
    "connections[1].path: '/dev/ttyS0' is already the port of connection 'a': give its devices " +
    'that connection'
  assert.deepEqual(of('/dev/ttyS0', 2), [port])
  assert.match(
    of('/dev/ttyS0', 1).join(),
    /path: .*unit_id: unit 1 on connection 'b' cannot be 'I2'/,
  )
})

test('a combiner has its own strings and its own address', () => {
  const box = (
    combiner_id: string,
    first_string_index: number,
    string_count: number,
    unit_id = 50,
  ) => ({
    combiner_id,
    first_string_index,
    string_count,
    ...address,
    unit_id,
  })
  const over = inverter(1, { combiners: [box('x', 0, 6), box('y', 6, 6, 51)] })
  assert.deepEqual(faults(withInverters(over)), [])
  const overlapping = inverter(1, { combiners: [box('x', 0, 6), box('y', 5, 6, 51)] })
  assert.deepEqual(faults(withInverters(overlapping)), [
    'loggers[0].inverters[0].combiners[1].first_string_index: ' +
      "string 5 is already measured by combiner 'x'",
  ])
  const outside = inverter(1, { combiners: [box('x', 8, 6)] })
  assert.deepEqual(faults(withInverters(outside)), [
    'loggers[0].inverters[0].combiners[0].string_count: ' +
      'no strings 8 to 13: the inverter has 12, from 0',
  ])
  const inside = inverter(1, { combiners: [box('x', 0, 6, 1)] })
  assert.match(faults(withInverters(inside))[0]!, /combiners\[0\]\.unit_id: .*leave the entry out/)
})

test('an instrument needs a register of a met station', () => {
  const instrument = { sensor_id: 'poa-1', quantity: 'poa_irradiance_w_m2' } as Instrument
  const withPoint = (point: string) => {
    const station: Station = {
      station_id: 1,
      name: 'M',
      ...address,
      unit_id: 100,
      instruments: [{ ...instrument, point }],
    }
    const logger = { logger_id: 1, name: 'L', rated_power_kw: 100, inverters: [inverter(1)] }
    return faults(site({ loggers: [{ ...logger, stations: [station] }] }))
  }
  assert.deepEqual(withPoint('302[0].POAI'), [])
  assert.deepEqual(withPoint('307[0].RH'), [])
  for (const point of ['302[0].TmpAmb', '302[0].NOPE', '103[0].W']) {
    const [fault = 'none'] = withPoint(point)
    assert.match(fault, /^loggers\[0\]\.stations\[0\]\.instruments\[0\]\.point: '.*' is no point/)
  }
})

const battery = (bms: Partial<Battery['bms']> = {}, pcs_unit_id = 41): Battery => ({
  bess_id: 1,
  name: 'B1',
  chemistry: 'lfp',
  coupling: 'ac',
  rated_energy_kwh: 100,
  rated_charge_power_kw: 50,
  rated_discharge_power_kw: 50,
  soc_min_pct: 5,
  soc_max_pct: 95,
  cluster_count: 2,
  modules_per_cluster: 2,
  cells_per_module: 16,
  bms: { ...address, unit_id: 40, ...bms },
  pcs: [{ ...address, pcs_idx: 0, rated_power_kw: 50, unit_id: pcs_unit_id }],
})

test('one device may serve as a whole battery, and clusters may have their own units', () => {
  const clusterAt = (unit_id: number, first_cluster_idx = 0, connection = 'a') => ({
    connection,
    unit_id,
    first_cluster_idx,
  })
  const of = (one: Battery) => faults(site({ batteries: [one] }))
  assert.deepEqual(of(battery()), [])
  assert.deepEqual(of(battery({}, 40)), [])
  assert.deepEqual(of(battery({ clusters: [clusterAt(40), clusterAt(42, 1)] })), [])
  assert.deepEqual(of(battery({ clusters: [clusterAt(1), clusterAt(42, 1, 'b')] })), [
    'batteries[0].bms.clusters[1].connection: there is no connection b in this file',
    "batteries[0].bms.clusters[0].unit_id: unit 1 on connection 'a' cannot be " +
      "batteries[0].bms.clusters[0]: it is already 'I1' (loggers[0].inverters[0])",
  ])
  assert.deepEqual(of(battery({ unit_id: 1 })), [
    "batteries[0].bms.unit_id: unit 1 on connection 'a' cannot be batteries[0].bms: it is " +
      "already 'I1' (loggers[0].inverters[0])",
  ])
})

test('only SunSpec devices can use WMaxLimPct as setpoint', () => {
  const of = (driver: 'sunspec' | 'sinexcel_pws', wmaxlimpct_is_setpoint: boolean) => {
    const pcs = battery().pcs.map((one) => ({ ...one, driver, wmaxlimpct_is_setpoint }))
    return faults(site({ batteries: [{ ...battery(), pcs }] }))
  }
  assert.deepEqual([of('sunspec', true), of('sinexcel_pws', false)], [[], []])
  assert.deepEqual(of('sinexcel_pws', true), [
    'batteries[0].pcs[0].wmaxlimpct_is_setpoint: is of SunSpec devices, and the driver here is ' +
      'sinexcel_pws',
  ])
})

test('a cluster has no more cells than a reading can hold', () => {
  const of = (modules_per_cluster: number, cells_per_module: number) =>
    faults(site({ batteries: [{ ...battery(), modules_per_cluster, cells_per_module }] }))
  assert.deepEqual(of(16, 64), [])
  assert.deepEqual(of(41, 25), [
    'batteries[0].cells_per_module: makes 1025 cells of a cluster, and there can be 1024',
  ])
})

test('the power curve of a battery ascends, is concave, and has power at both ends', () => {
  const at = (soc_pct: number, charge_kw: number, discharge_kw: number) => ({
    soc_pct,
    max_charge_power_kw: charge_kw,
    max_discharge_power_kw: discharge_kw,
  })
  const of = (...power_curve: NonNullable<Battery['power_curve']>) =>
    faults(site({ batteries: [{ ...battery(), power_curve }] }))
  const field = (nth: number) => `batteries[0].power_curve[${nth}].soc_pct`
  assert.deepEqual(of(at(0, 50, 0), at(20, 50, 50), at(80, 50, 50), at(100, 0, 50)), [])
  assert.deepEqual(of(at(20, 50, 50), at(20, 50, 50)), [
    `${field(1)}: is not above the point before`,
  ])
  assert.deepEqual(of(at(0, 50, 0), at(50, 50, 10), at(100, 50, 50)), [
    `${field(1)}: has a max_discharge_power_kw that the curve bends up from`,
  ])
  assert.deepEqual(of(at(0, 0, 50), at(100, 50, 50)), [
    `${field(0)}: is where it could not be charged`,
  ])
  assert.deepEqual(of(at(0, 50, 50), at(100, 50, 0)), [
    `${field(1)}: is where it could not be discharged`,
  ])
})
