/**
 * A plant with 100 simulated devices of 13 makers on two ports: 59 with addresses of their own, a
 * SmartLogger with ten inverters behind it, and gateways with ten and twenty devices; all three are
 * silent for every other unit id. `heliograph-edge scan` finds them without an address, and the
 * edge runs from the very file that it writes: every device must be in it, and deliver readings.
 *
 *   node bench/scan.ts
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '@heliograph/domain/clock'
import type { Readings } from '@heliograph/domain/link'
import type { Site } from '@heliograph/domain/site'
import { parseSiteFile } from '@heliograph/domain/site-file'
import {
  freePort,
  type Host,
  profiledUnit,
  serveFleet,
  sunspecUnit,
} from '../edge/commissioning/fixtures/fleet.ts'
import { place_ms_max } from '../edge/commissioning/scan.ts'
import { scanCommand } from '../edge/commissioning/scan-command.ts'
import { devicesOf, type SiteDevice } from '../edge/commissioning/site-devices.ts'
import { allProfiles } from '../edge/drivers/drivers.ts'
import { LinkServer } from '../edge/fixtures/link-server.ts'
import { type Program, startProgram, until, withPrograms } from './fixtures/programs.ts'
import { quickOr } from './fixtures/quick.ts'

const alone = quickOr(13, 59)
const gateway_units = quickOr(3, 10)
/** Of the devices behind gateways: the whole range is searched. */
const unit_step = quickOr(2, 12)
const ids = quickOr('1-8,0', '1-247,0')
const own_addresses_s_max = 60
const gateway_answer_ms = 30
/** Until each device was polled several times. */
const readings_s_max = quickOr(300, 60)
const makers = [
  'huawei_sun2000',
  'sma',
  'sungrow_sg',
  'growatt_tl3x',
  'kostal_plenticore',
  'sofar_g3',
  'solis_string',
  'janitza_umg',
  'schneider_pm_iem',
  'siemens_pac',
  'abb_b23',
  'kipp_zonen_smp',
  'sunspec',
]
const others = ['silent', 'nobody', 'same'] as const
const own_network = '127.8.0.0/25'
const gateway_network = '127.8.0.200/29'
const gateway_host = (nth: number) => `127.8.0.${201 + nth}`

const profiles = allProfiles()
/** `127.8.0.1 3: sma, serial 7`, without the serial number of a device that does not report it. */
const expected: string[] = []
let devices = 0

function unitAt(host: string, unit_id: number, driver = makers[devices % makers.length]!) {
  devices += 1
  const profile = profiles.get(driver)
  const serial = `SN-${devices}`
  if (!profile) {
    expected.push(`${host} ${unit_id}: ${driver}, serial ${serial}`)
    return sunspecUnit(serial)
  }
  // site.yaml has no serial number of a controller.
  const serial_number = profile.controller ? undefined : profile.identity.serial_number
  const shown = serial_number?.type === 'text' ? `SIM-${devices}` : serial_number && devices
  expected.push(`${host} ${unit_id}: ${driver}${shown ? `, serial ${shown}` : ''}`)
  return profiledUnit(profile, devices)
}

/** The ports are free on each of the loopback addresses. */
const ports = [await freePort(), await freePort()]

const singles = Array.from({ length: alone }, (_, nth): Host => {
  const [host, kind] = [`127.8.0.${nth + 1}`, others[nth % others.length]!]
  const unit_id = kind === 'same' ? 1 : (nth % 5) + 1
  return { host, port: ports[nth % 2]!, units: { [unit_id]: unitAt(host, unit_id) }, others: kind }
})

function gatewayAt(nth: number, count: number, driver?: string): Host {
  const host = gateway_host(nth)
  const units = Array.from({ length: count }, (_, unit) => {
    const unit_id = unit_step * unit + 2
    return [unit_id, { ...unitAt(host, unit_id, driver), delay_ms: gateway_answer_ms }] as const
  })
  return { host, port: ports[0]!, units: Object.fromEntries(units), others: 'silent' }
}

function smartLogger(nth: number): Host {
  const { units, ...host } = gatewayAt(nth, gateway_units, 'huawei_sun2000')
  return { ...host, units: { ...units, 0: unitAt(host.host, 0, 'huawei_smartlogger') } }
}

function verdict(name: string, took_s: number, s_max: number): void {
  const is_ok = took_s <= s_max
  if (!is_ok) process.exitCode = 1
  const text = `${name}: ${took_s.toFixed(1)} s (at most ${s_max} s) ${is_ok ? 'ok' : 'FAIL'}`
  process.stdout.write(`${text}\n`)
}

async function scanned(dir: string, targets: string[]): Promise<{ site_file: string; s: number }> {
  const site_file = join(dir, `${targets.length}-networks.yaml`)
  const began_ms = performance.now()
  await scanCommand(
    targets,
    { ports: ports.join(','), units: ids, baud: '9600', parity: 'none', out: site_file },
    { clock: systemClock, data_dir: dir, note: () => {}, say: async () => {} },
  )
  return { site_file, s: (performance.now() - began_ms) / 1000 }
}

function siteIn(site_file: string): Site {
  const parsed = parseSiteFile(readFileSync(site_file, 'utf8'))
  assert.ok('site' in parsed, JSON.stringify(parsed))
  return parsed.site
}

function describe({ connections }: Site, { connection, unit_id, driver, ...one }: SiteDevice) {
  const found = connections.find(({ connection_id }) => connection_id === connection)
  assert.ok(found && 'host' in found)
  const serial = one.kind === 'controller' ? undefined : serialOf(one.device)
  return `${found.host} ${unit_id}: ${driver}${serial ? `, serial ${serial}` : ''}`
}

const serialOf = (device: object) => ('serial_number' in device ? device.serial_number : undefined)

/** The quantity by which a device has delivered, by the kind of its readings. */
const delivered = {
  inverter: { id: 'inverter_id', column: 'ac_power_kw' },
  meter: { id: 'meter_id', column: 'active_power_kw' },
  weather: { id: 'station_id', column: 'instrument_values' },
} as const

/** `inverter 3` for each device whose reading has a value. */
function readIn(frames: Iterable<unknown>): Set<string> {
  const found = new Set<string>()
  for (const frame of frames) {
    for (const [kind, { id, column }] of Object.entries(delivered)) {
      const table = (frame as Readings)[kind as keyof typeof delivered]
      if (!table) continue
      const [of, at] = [table.columns.indexOf(id), table.columns.indexOf(column)]
      for (const row of table.rows) {
        if ([row[at]].flat().some((value) => value !== null)) found.add(`${kind} ${row[of]}`)
      }
    }
  }
  return found
}

/** Runs the edge from the file as it was written, until every device has delivered. */
async function run(dir: string, site_file: string, started: Program[]): Promise<number> {
  const token = `edge_${'0'.repeat(12)}_${'0'.repeat(64)}`
  const server = new LinkServer({ token })
  const settings = {
    SITE_FILE: site_file,
    EDGE_DATA_DIR: join(dir, 'edge'),
    METRICS_PORT: '0',
    EDGE_TOKEN: token,
    SERVER_URL: await server.listen(),
  }
  const edge = startProgram('edge', { dir, settings })
  started.push(edge)
  const began_ms = performance.now()
  const { loggers, meters = [] } = siteIn(site_file)
  const wanted = [
    ...loggers.flatMap(({ inverters, stations = [] }) => [
      ...inverters.map(({ inverter_id }) => `inverter ${inverter_id}`),
      ...stations.map(({ station_id }) => `weather ${station_id}`),
    ]),
    ...meters.map(({ meter_id }) => `meter ${meter_id}`),
  ]
  const connected = () =>
    (server.statuses.at(-1)?.devices ?? []).filter(({ comm_state }) => comm_state === 'connected')
  const missing = () => {
    const read = readIn([...server.committed.values()].flatMap((frames) => [...frames.values()]))
    return wanted.filter((one) => !read.has(one))
  }
  const has_all = () => missing().length === 0 && connected().length === devices
  try {
    await until('every device delivers readings', has_all, [edge])
  } catch (error) {
    process.stderr.write(`without readings: ${missing().join(', ')}\n`)
    throw error
  } finally {
    await server.close()
  }
  return (performance.now() - began_ms) / 1000
}

const cleanups: (() => void)[] = []
const after = (cleanup: () => void) => void cleanups.push(cleanup)
const gateways = [smartLogger(0), gatewayAt(1, gateway_units), gatewayAt(2, quickOr(3, 20))]
await serveFleet({ after } as Parameters<typeof serveFleet>[0], [...singles, ...gateways])
await withPrograms(async (dir, started) => {
  const of_own = await scanned(dir, [own_network])
  verdict(`${alone} devices with addresses of their own`, of_own.s, own_addresses_s_max)
  const whole = await scanned(dir, [own_network, gateway_network])
  const text = `all ${devices} devices, three gateways with silent unit ids among them`
  verdict(text, whole.s, place_ms_max / 1000)
  const site = siteIn(whole.site_file)
  const found = devicesOf(site).map((one) => describe(site, one))
  assert.deepEqual(found.toSorted(), expected.toSorted())
  const [of_logger] = site.loggers.filter(({ controller }) => controller)
  assert.equal(of_logger?.inverters.length, gateway_units, 'the plant of the SmartLogger')
  verdict(
    'first readings of every device',
    await run(dir, whole.site_file, started),
    readings_s_max,
  )
  const open = readFileSync(whole.site_file, 'utf8').match(/^.*# fill in:/gm) ?? []
  process.stdout.write(`${found.length} of ${expected.length} devices found, recognised and read; `)
  process.stdout.write(`nothing was added to the file, which asks for ${open.length} entries\n`)
})
for (const cleanup of cleanups) cleanup()
