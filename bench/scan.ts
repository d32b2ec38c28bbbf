/**
 * A scan of a network with 100 simulated devices of 13 makers on two ports: 90 with addresses of
 * their own, and two gateways with five units each that are silent for every other unit id. The
 * file that it writes must name each with its unit and its driver.
 *
 *   node bench/scan.ts
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@heliograph/domain/clock'
import { parseSiteFile } from '@heliograph/domain/site-file'
import {
  freePort,
  profiledUnit,
  serveFleet,
  sunspecUnit,
} from '../edge/commissioning/fixtures/fleet.ts'
import { place_ms_max } from '../edge/commissioning/scan.ts'
import { scanCommand } from '../edge/commissioning/scan-command.ts'
import { allProfiles } from '../edge/drivers/drivers.ts'
import { quickOr } from './fixtures/quick.ts'

const alone = quickOr(9, 90)
const gateways = 2
const gateway_units = 5
const ids = quickOr('1-12', '1-247')
const own_addresses_s_max = 60
const gateway_answer_ms = 30
const drivers = [
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

const profiles = allProfiles()
const driverAt = (nth: number) => drivers[nth % drivers.length]!
const unitAt = (nth: number) => {
  const profile = profiles.get(driverAt(nth))
  return profile ? profiledUnit(profile, nth + 1) : sunspecUnit(`SN-${nth + 1}`)
}

const ports = [await freePort(), await freePort()]
const cleanups: (() => void)[] = []
const after = (cleanup: () => void) => void cleanups.push(cleanup)
const expected: string[] = []

const single = Array.from({ length: alone }, (_, nth) => {
  const [host, kind, unit_id] = [`127.8.0.${nth + 1}`, others[nth % 3]!, (nth % 5) + 1]
  expected.push(`${host} ${kind === 'same' ? 1 : unit_id}: ${driverAt(nth)}`)
  return { host, port: ports[nth % 2]!, units: { [unit_id]: unitAt(nth) }, others: kind }
})
const shared = Array.from({ length: gateways }, (_, nth) => {
  const host = `127.8.0.${201 + nth}`
  const units = Array.from({ length: gateway_units }, (_, unit) => {
    const [unit_id, device] = [2 * unit + 2, alone + nth * gateway_units + unit]
    expected.push(`${host} ${unit_id}: ${driverAt(device)}`)
    return [unit_id, { ...unitAt(device), delay_ms: gateway_answer_ms }] as const
  })
  return { host, port: ports[0]!, units: Object.fromEntries(units), others: 'silent' as const }
})

async function measure(name: string, targets: string[], s_max: number): Promise<string[]> {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-bench-scan-'))
  const out = join(dir, 'site.yaml')
  const began_ms = performance.now()
  const options = { ports: ports.join(','), units: ids, baud: '9600', parity: 'none', out }
  await scanCommand(targets, options, {
    clock: systemClock,
    data_dir: dir,
    note: () => {},
    say: async () => {},
  })
  const took_s = (performance.now() - began_ms) / 1000
  const parsed = parseSiteFile(readFileSync(out, 'utf8'))
  rmSync(dir, { recursive: true })
  if (!('site' in parsed)) throw new Error(JSON.stringify(parsed.problems))
  const { connections, loggers, meters = [] } = parsed.site
  const hosts = new Map(
    connections.map((one) => [one.connection_id, 'host' in one ? one.host : one.path]),
  )
  const devices = loggers.flatMap(({ inverters, stations = [] }) => [...inverters, ...stations])
  const verdict = took_s <= s_max ? 'ok' : 'FAIL'
  if (verdict === 'FAIL') process.exitCode = 1
  process.stdout.write(`${name}: ${took_s.toFixed(1)} s (at most ${s_max} s) ${verdict}\n`)
  return [...devices, ...meters].map(
    ({ connection, unit_id, driver }) => `${hosts.get(connection)} ${unit_id}: ${driver}`,
  )
}

await serveFleet({ after } as Parameters<typeof serveFleet>[0], [...single, ...shared])
const found = [
  ...(await measure('addresses of their own', ['127.8.0.0/25'], own_addresses_s_max)),
  ...(await measure('gateways', ['127.8.0.200/30'], place_ms_max / 1000)),
]
const wrong = expected.filter((one) => !found.includes(one))
const more = found.filter((one) => !expected.includes(one))
process.stdout.write(`${found.length} of ${expected.length} devices found and recognised\n`)
if (wrong.length + more.length > 0) {
  process.stdout.write(`missing: ${wrong.join(', ')}; in excess: ${more.join(', ')}\n`)
  process.exitCode = 1
}
for (const cleanup of cleanups) cleanup()
