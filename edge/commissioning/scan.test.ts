import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { systemClock, systemTimers } from '@heliograph/domain/clock'
import type { Site } from '@heliograph/domain/site'
import { parseSiteFile } from '@heliograph/domain/site-file'
import { encode } from '@heliograph/domain/sunspec/codec'
import { models } from '@heliograph/domain/sunspec/models'
import { smallBattery } from '../../simulator/fixtures/battery.ts'
import { openBus } from '../bus/bus.ts'
import type { Driver } from '../drivers/driver.ts'
import { allProfiles, driverOf, findDriver } from '../drivers/drivers.ts'
import { checkDrivers } from '../drivers/site-drivers.ts'
import { accepted_site } from '../site-watch.ts'
import type { DeviceValue } from './device-values.ts'
import { freePort, profiledUnit, serveFleet, sunspecUnit, type Unit } from './fixtures/fleet.ts'
import { runEdge } from './fixtures/run-edge.ts'
import { type ReadOptions, readCommand } from './read-command.ts'
import { type RecordOptions, recordCommand } from './record-command.ts'
import { type ScanOptions, scanCommand } from './scan-command.ts'

const profiles = allProfiles()
const unitOf = (name: string, serial: number, alone?: number): Unit =>
  profiledUnit(profiles.get(name)!, serial, alone)

function placeOf(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-scan-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const notes: string[] = []
  const said: string[] = []
  const out = join(dir, 'site.yaml')
  const run = (targets: string[], options: Partial<ScanOptions>) =>
    scanCommand(
      targets,
      { ports: '502', units: '1-20', baud: '9600', parity: 'none', ...options },
      {
        clock: systemClock,
        data_dir: dir,
        note: (text) => notes.push(text),
        say: async (text) => void said.push(text),
      },
    )
  return { dir, out, notes, said, run }
}

function siteIn(text: string): Site {
  const parsed = parseSiteFile(text, {
    check: (site) => checkDrivers(site, (name) => findDriver(name) ?? `no driver ${name}`),
  })
  assert.ok('site' in parsed, JSON.stringify(parsed))
  return parsed.site
}

/** Device by place, as `127.1.0.2 3: sma`. */
function placesIn({ connections, loggers, meters = [] }: Site): string[] {
  const { inverters, stations = [] } = loggers[0]!
  return [...inverters, ...meters, ...stations].map(({ connection, unit_id, driver }) => {
    const found = connections.find((one) => one.connection_id === connection)
    assert.ok(found && 'host' in found)
    return `${found.host} ${unit_id}: ${driver}`
  })
}

test('devices of many families are found, recognised and read by the file that is written', async (t) => {
  const port = await freePort()
  const fleet = await serveFleet(t, [
    { host: '127.7.0.1', port, units: { 1: unitOf('huawei_sun2000', 1) }, others: 'silent' },
    { host: '127.7.0.2', port, units: { 3: unitOf('sma', 2) }, others: 'nobody' },
    { host: '127.7.0.3', port, units: { 1: unitOf('janitza_umg', 3) }, others: 'same' },
    { host: '127.7.0.4', port, units: { 1: unitOf('kostal_plenticore', 4) }, others: 'closes' },
    { host: '127.7.0.5', port, units: { 9: sunspecUnit('SN-5') }, others: 'silent' },
    {
      host: '127.7.0.6',
      port,
      units: {
        2: unitOf('sungrow_sg', 6),
        3: { ...unitOf('sungrow_sg', 7), delay_ms: 250 },
        5: unitOf('hukseflux_sr', 8),
        12: unitOf('carlo_gavazzi_em', 9, 1744),
        17: unitOf('growatt_tl3x', 10),
      },
      others: 'silent',
    },
  ])
  const { out, notes, run } = placeOf(t)
  await run(['127.7.0.0/29'], { ports: `${port}`, out })
  const site = siteIn(readFileSync(out, 'utf8'))
  assert.deepEqual(
    placesIn(site).toSorted(),
    [
      '127.7.0.1 1: huawei_sun2000',
      '127.7.0.2 3: sma',
      '127.7.0.3 1: janitza_umg',
      '127.7.0.4 1: kostal_plenticore',
      '127.7.0.5 9: sunspec',
      '127.7.0.6 12: carlo_gavazzi_em',
      '127.7.0.6 17: growatt_tl3x',
      '127.7.0.6 2: sungrow_sg',
      '127.7.0.6 3: sungrow_sg',
      '127.7.0.6 5: hukseflux_sr',
    ],
    notes.join('\n'),
  )
  assert.match(notes[0]!, /up to 1 s .* at most 3 minutes for each gateway/)
  const [huawei] = site.loggers[0]!.inverters
  assert.deepEqual([huawei?.rated_ac_power_kw, huawei?.serial_number], [33.3, 'SIM-1'])
  assert.match(readFileSync(out, 'utf8'), /rated_ac_power_kw: 80\n/, 'by SunSpec model 120')
  // Functions 3 and 4 alone: nothing was written. One connection at a time.
  assert.deepEqual([...fleet.asked.keys()].toSorted(), [3, 4])
  assert.equal(fleet.connections_max(), 1)
  await readAll(site)
})

/** Opens every device as the edge does, and reads it. */
async function readAll({ connections, loggers, meters = [] }: Site): Promise<void> {
  const rests = { timers: systemTimers, random: () => 0 }
  const buses = new Map(connections.map((one) => [one.connection_id, openBus(one, rests)]))
  const read = async <Of extends { connection: string; driver: string }>(
    device: Of,
    open: (
      driver: Driver,
      bus: ReturnType<typeof openBus>,
    ) => Promise<{ read(): Promise<unknown> }>,
  ) => {
    const opened = await open(driverOf(device.driver), buses.get(device.connection)!)
    await opened.read()
  }
  const { inverters, stations = [] } = loggers[0]!
  for (const one of inverters) await read(one, (driver, bus) => driver.openInverter!(bus, one))
  for (const one of stations) await read(one, (driver, bus) => driver.openStation!(bus, one))
  for (const one of meters) await read(one, (driver, bus) => driver.openMeter!(bus, one))
  await Promise.all([...buses.values()].map((bus) => bus.close()))
}

test('every value of a device is shown with its registers', async (t) => {
  const port = await freePort()
  const fleet = await serveFleet(t, [
    { host: '127.7.5.1', port, units: { 3: unitOf('sungrow_sg', 4) }, others: 'nobody' },
    { host: '127.7.5.2', port, units: { 1: sunspecUnit('SN-5') }, others: 'nobody' },
  ])
  const { dir, out, run } = placeOf(t)
  await run(['127.7.5.0/29'], { ports: `${port}`, out })
  const read = async (target: string, options: Partial<ReadOptions>) => {
    const said: string[] = []
    await readCommand(
      target,
      { unit: 1, port, ...options },
      { data_dir: dir, site_file: out, say: async (text) => void said.push(text) },
    )
    return said.join('')
  }
  const frequency = {
    field: 'inverter.readings.frequency_hz',
    register: 'Grid frequency',
    table: 'input',
    address: 5035,
    words: [501],
    value: 50.1,
    unit: 'Hz',
  }
  const by_name: unknown[] = JSON.parse(await read('Sungrow inverter 1', { json: true }))
  assert.deepEqual(
    by_name.find((one) => (one as DeviceValue).address === 5035),
    frequency,
  )
  const by_host = await read('127.7.5.1', { driver: 'sungrow_sg', unit: 3, json: true })
  assert.deepEqual(JSON.parse(by_host), by_name)
  const table = await read('127.7.5.2', { driver: 'sunspec' })
  assert.match(table, /^field +register +name +raw +value +unit\n/)
  assert.match(table, /^1\.Mn +holding 40004 +Mn +4163 6d65 .* Acme\n/m)
  assert.match(table, /^103\.Hz +holding \d+ +Hz +1389 +50\.01 +Hz\n/m)
  assert.deepEqual([...fleet.asked.keys()].toSorted(), [3, 4])

  await assert.rejects(read('Nobody', {}), /no Nobody in the site file; .*Sungrow inverter 1/)
  await runEdge(t, { dir, site: siteIn(readFileSync(out, 'utf8')) })
  assert.deepEqual(JSON.parse(await read('Sungrow inverter 1', { json: true })), by_name)
  const by_address = await read('127.7.5.1', { driver: 'sungrow_sg', unit: 3, json: true })
  assert.deepEqual(JSON.parse(by_address), by_name)
  await assert.rejects(
    read('127.7.5.1', { driver: 'sungrow_sg', unit: 4 }),
    /polls 127\.7\.5\.1, and no unit 4 at this port/,
  )
  assert.equal(fleet.connections_max(), 1)
})

test('a recording is made through a running edge too, and a file that is there is kept', async (t) => {
  const port = await freePort()
  const fleet = await serveFleet(t, [
    { host: '127.7.6.1', port, units: { 3: unitOf('huawei_sun2000', 4) }, others: 'nobody' },
  ])
  const { dir, out, run } = placeOf(t)
  await run(['127.7.6.1'], { ports: `${port}`, out })
  await runEdge(t, { dir, site: siteIn(readFileSync(out, 'utf8')) })
  const file = join(dir, 'huawei_sun2000.yaml')
  const notes: string[] = []
  const record = (options: Partial<RecordOptions>) =>
    recordCommand(
      'Huawei inverter 1',
      { out: file, unit: 1, port: 502, ...options },
      { data_dir: dir, site_file: out, note: (text) => notes.push(text) },
    )
  await record({})
  const text = readFileSync(file, 'utf8')
  assert.match(text, /^ {2}30015: \[0x0000, /m)
  assert.match(text, /^ {2}frequency_hz: 50\.1$/m)
  assert.doesNotMatch(text, /127\.7/)
  await assert.rejects(record({}), /is there: --force replaces it/)
  await record({ force: true })
  await assert.rejects(record({ driver: 'sunspec', force: true }), /sunspec has no profile/)
  assert.equal(fleet.connections_max(), 1)
})

test('a device of two profiles is reported, and one that answers at two ports is one', async (t) => {
  const [first, second] = [await freePort(), await freePort()]
  const janitza = unitOf('janitza_umg', 1)
  const siemens = unitOf('siemens_pac', 1)
  const both = { ...janitza, holding: new Map([...janitza.holding, ...siemens.holding]) }
  const inverter = unitOf('huawei_sun2000', 5)
  await serveFleet(t, [
    { host: '127.7.1.1', port: first, units: { 1: both }, others: 'nobody' },
    { host: '127.7.1.2', port: first, units: { 1: inverter }, others: 'nobody' },
    { host: '127.7.1.2', port: second, units: { 1: inverter }, others: 'nobody' },
    { host: '127.7.1.3', port: first, units: { 4: unitOf('imt_si_rs485', 5) }, others: 'nobody' },
  ])
  const { said, notes, run } = placeOf(t)
  await run(['127.7.1.0/29'], { ports: `${first},${second}` })
  const text = said.join('')
  assert.deepEqual(placesIn(siteIn(text)), ['127.7.1.2 1: huawei_sun2000'])
  assert.match(text, /# - 127\.7\.1\.1:\d+, unit 1: is either of janitza_umg, siemens_pac/)
  assert.match(text, /# - 127\.7\.1\.3:\d+, unit 4: answers, and no driver recognises it/)
  assert.match(text, /# - 127\.7\.1\.2:\d+: unit 1 is the device of .* by its serial number/)
  assert.ok(notes.some((one) => one.startsWith('3 devices in ')))
})

test('a controller at unit 0 has the inverters behind it, and no device is listed as unit 0 too', async (t) => {
  const port = await freePort()
  const growatt = unitOf('growatt_tl3x', 4)
  await serveFleet(t, [
    {
      host: '127.7.8.1',
      port,
      units: {
        0: unitOf('huawei_smartlogger', 1),
        2: unitOf('huawei_sun2000', 2),
        3: unitOf('huawei_sun2000', 3),
        4: unitOf('hukseflux_sr', 8),
      },
      others: 'nobody',
    },
    { host: '127.7.8.2', port, units: { 0: growatt, 1: growatt }, others: 'nobody' },
    { host: '127.7.8.3', port, units: { 1: unitOf('kipp_zonen_smp', 5) }, others: 'same' },
    { host: '127.7.8.4', port, units: { 0: unitOf('sma', 6) }, others: 'nobody' },
  ])
  const { said, run } = placeOf(t)
  await run(['127.7.8.0/29'], { ports: `${port}`, units: '1-6,0' })
  const text = said.join('')
  const { loggers } = siteIn(text)
  const units = loggers.map(({ controller, inverters, stations = [] }) => [
    controller?.unit_id,
    inverters.map((one) => `${one.inverter_id}: ${one.driver} ${one.unit_id}`),
    stations.map((one) => `${one.station_id}: ${one.driver} ${one.unit_id}`),
  ])
  assert.deepEqual(units, [
    [0, ['1: huawei_sun2000 2', '2: huawei_sun2000 3'], ['1: hukseflux_sr 4']],
    [undefined, ['3: growatt_tl3x 1', '4: sma 0'], ['2: kipp_zonen_smp 1']],
  ])
  assert.deepEqual(
    loggers.map(({ rated_power_kw }) => rated_power_kw),
    [66.6, 1033.3],
  )
})

test('an inverter with the registers of a meter is both, and so it is through a running edge', async (t) => {
  const port = await freePort()
  const meter = encode(models[203], { values: { W: 5000, W_SF: 0 } })
  const units = { 1: sunspecUnit('SN-1', meter) }
  await serveFleet(t, [{ host: '127.7.9.1', port, units, others: 'nobody' }])
  const { dir, said, run } = placeOf(t)
  await run(['127.7.9.1'], { ports: `${port}`, units: '1-2' })
  const site = siteIn(said.join(''))
  assert.deepEqual(placesIn(site), ['127.7.9.1 1: sunspec', '127.7.9.1 1: sunspec'])
  assert.equal(site.meters?.length, 1)
  await readAll(site)
  await runEdge(t, { dir, site })
  said.length = 0
  await run(['127.7.9.1'], { ports: `${port}` })
  assert.deepEqual(placesIn(siteIn(said.join(''))), placesIn(site))
})

test('hosts that speak no Modbus end, and delay no other', async (t) => {
  const port = await freePort()
  const listen = async (host: string, onSocket: (socket: net.Socket) => void) => {
    const sockets = new Set<net.Socket>()
    const server = net.createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      onSocket(socket)
    })
    await new Promise<void>((resolve) => server.listen(port, host, resolve))
    t.after(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
  }
  await listen('127.7.2.1', (socket) => socket.end('SSH-2.0-host\r\n'))
  await listen('127.7.2.2', (socket) => socket.on('data', () => socket.write('HTTP/1.1 400 \r\n')))
  await listen('127.7.2.3', () => {})
  await serveFleet(t, [
    { host: '127.7.2.4', port, units: { 1: unitOf('sma', 2) }, others: 'nobody' },
  ])
  const { said, notes, run } = placeOf(t)
  await run(['127.7.2.0/29'], { ports: `${port}`, units: '1-4' })
  assert.deepEqual(placesIn(siteIn(said.join(''))), ['127.7.2.4 1: sma'])
  for (const host of ['127.7.2.1', '127.7.2.2', '127.7.2.3']) {
    assert.ok(
      notes.some((one) => one.startsWith(`${host}:`) && one.includes('no unit id answers')),
      notes.join('\n'),
    )
  }
})

test('what a running edge polls is read through that edge, and stands in the file', async (t) => {
  const port = await freePort()
  const units = { 1: unitOf('sma', 2), 2: unitOf('sma', 3) }
  const fleet = await serveFleet(t, [
    { host: '127.7.3.1', port, units, others: 'nobody' },
    { host: '127.7.3.2', port, units: { 5: sunspecUnit('SN-5') }, others: 'nobody' },
  ])
  const { dir, out, notes, said, run } = placeOf(t)
  await run(['127.7.3.1'], { ports: `${port}`, units: '1', out })
  const site = siteIn(readFileSync(out, 'utf8'))
  const connection = site.connections[0]!.connection_id
  const bms = { connection, unit_id: 9, driver: 'sunspec' } as const
  const pcs = { pcs_idx: 0, rated_power_kw: 100, connection, unit_id: 2, driver: 'sma' }
  await runEdge(t, { dir, site: { ...site, batteries: [{ ...smallBattery, bms, pcs: [pcs] }] } })
  await run(['127.7.3.0/30'], { ports: `${port}` })
  assert.ok(
    notes.includes('127.7.3.1: only what the edge that runs here polls is read, through that edge'),
  )
  const text = said.join('')
  assert.deepEqual(placesIn(siteIn(text)), ['127.7.3.1 1: sma', '127.7.3.2 5: sunspec'])
  assert.match(text, /serial_number: "2"/)
  // A unit that the edge knows as another kind is no inverter.
  assert.match(text, /^# - 127\.7\.3\.1:\d+, unit 2: pcs SMA/m)
  assert.equal(fleet.connections_max(), 1)
  rmSync(join(dir, accepted_site))
  await assert.rejects(run(['127.7.3.1'], { ports: `${port}` }), /no such file/)
})

test('a file that is there is kept', async (t) => {
  const port = await freePort()
  const { out, run } = placeOf(t)
  writeFileSync(out, 'mine')
  await assert.rejects(run(['127.7.4.1'], { ports: `${port}`, out }), /is there: --force/)
  assert.equal(readFileSync(out, 'utf8'), 'mine')
  await run(['127.7.4.1'], { ports: `${port}`, out, force: true })
  assert.match(readFileSync(out, 'utf8'), /inverters: \[\]/)
})
