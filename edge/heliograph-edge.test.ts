import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { systemTimers } from '@heliograph/domain/clock'
import { minute_ms } from '@heliograph/domain/durations'
import { program_environment } from '../test/program-environment.ts'
import { smallDisk } from '../test/small-disk.ts'
import type { Noted } from './control/control-entry.ts'
import { openControlLog } from './control/control-log.ts'
import { openRequests } from './control/limit-requests.ts'
import { inverterOf, siteOf } from './fixtures/sites.ts'

const program = fileURLToPath(new URL('heliograph-edge.ts', import.meta.url))
const from = '2026-06-21T10:00:00Z'
const start_at = Date.parse(from)

function placeOf(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-edge-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const run = (...words: string[]) =>
    new Promise<{ code: number; output: string; notes: string }>((resolve) => {
      const env = {
        ...program_environment,
        EDGE_DATA_DIR: dir,
        SITE_FILE: join(dir, 'site.yaml'),
      }
      execFile(process.execPath, [program, ...words], { env, cwd: dir }, (error, output, notes) => {
        resolve({ code: Number(error?.code ?? 0), output, notes })
      })
    })
  return { dir, run, permit: join(dir, 'permit.yaml') }
}

const permitText = (kw: string) =>
  `version: 1\nsite_id: demo\nplants:\n  - { logger_id: 1, permit_kw: ${kw} } # as agreed\n`

test('a permit is sealed where it lies, and checked against its site', async (t) => {
  const { dir, run, permit } = placeOf(t)
  writeFileSync(permit, permitText('73519.642'))
  chmodSync(permit, 0o640)
  const unsealed = await run('permit', 'check', permit)
  assert.deepEqual([unsealed.code, unsealed.output], [3, ''])
  assert.match(unsealed.notes, /^heliograph-edge: permit\.yaml:1:1: checksum: is missing\n$/)
  assert.equal((await run('permit', 'seal', permit)).code, 0)
  assert.equal(statSync(permit).mode & 0o777, 0o640)
  assert.match(readFileSync(permit, 'utf8'), /# as agreed\nchecksum: sha256:[0-9a-f]{64}\n$/)

  const alone = await run('permit', 'check', permit)
  assert.equal(alone.code, 0)
  assert.match(alone.notes, /the plants were not checked/)
  const site = siteOf([inverterOf(1)])
  const logger = { ...site.loggers[0]!, rated_power_kw: 70_000 }
  const second = { ...logger, logger_id: 2, inverters: [inverterOf(2)] }
  writeFileSync(join(dir, 'site.yaml'), JSON.stringify({ ...site, loggers: [logger, second] }))
  const checked = await run('permit', 'check', permit)
  assert.deepEqual([checked.code, checked.output], [0, `${permit} is right and sealed\n`])
  assert.match(checked.notes, /plant 2 has no permit/)
  writeFileSync(join(dir, 'site.yaml'), JSON.stringify({ ...site, site_id: 'other' }))
  assert.equal((await run('permit', 'check', permit)).code, 3)

  writeFileSync(join(dir, 'site.yaml'), JSON.stringify(site))
  const watts = await run('permit', 'check', permit)
  assert.equal(watts.code, 3)
  assert.match(watts.notes, /permit_kw: is more than 100 times .*: give kilowatts, not watts/)
  writeFileSync(join(dir, 'site.yaml'), JSON.stringify(site), 'utf16le')
  const utf16 = await run('permit', 'check', permit)
  assert.equal(utf16.code, 1)
  assert.match(utf16.notes, /site\.yaml:1:1: the file is UTF-16, or no text: save it as UTF-8/)

  writeFileSync(permit, permitText('-73519.642'))
  const wrong = await run('permit', 'seal', permit)
  assert.equal(wrong.code, 3)
  assert.equal(readFileSync(permit, 'utf8'), permitText('-73519.642'))
  for (const { output, notes } of [unsealed, alone, checked, watts, utf16, wrong]) {
    assert.doesNotMatch(output + notes, /73519/)
  }
})

test('a permit that the disk has no room to seal stays as it was', async (t) => {
  const disk = await smallDisk(1)
  if (typeof disk === 'string') return t.skip(disk)
  t.after(() => disk.unmount())
  const permit = join(disk.directory, 'permit.yaml')
  // As long as a page of the disk: the checksum needs another one.
  const text = permitText('60').replace('as agreed', 'agreed '.repeat(600)).slice(0, 4095)
  writeFileSync(permit, `${text}\n`)
  await disk.fill()
  const { code, output, notes } = await placeOf(t).run('permit', 'seal', permit)
  assert.deepEqual([code, output], [1, ''])
  assert.match(notes, /no space left/)
  assert.equal(readFileSync(permit, 'utf8'), `${text}\n`)
})

async function writeLog(dir: string, more: [number, Noted][] = []): Promise<void> {
  const log = await openControlLog({
    dir: join(dir, 'control-log'),
    timers: systemTimers,
    onFailing: (error) => assert.ifError(error),
  })
  const found = { limit_w: 90_000, static_max_w: 100_000 }
  const inverters = [{ inverter_id: 1, max_w: 100_000 }]
  const plants = [{ logger_id: 1, permit_w: 90_000 }]
  const entries: [number, Noted][] = [
    [-2, { is: 'started' }],
    [-2, { is: 'permit_file', plants, site_w: null, guard_pct: 0 }],
    [-2, { is: 'limit', inverter_id: 1, found, foreign: null }],
    [-2, { is: 'site', plants: [{ logger_id: 1, inverters }] }],
    ...Array.from({ length: 32 }, (_, nth): [number, Noted] => {
      const round_at = start_at + (nth - 1) * minute_ms
      const measured = [{ logger_id: 1, power_w: 80_000 + nth }]
      return [nth - 1, { is: 'round', round_at, plants: measured, batteries: [] }]
    }),
    ...more,
  ]
  for (const [nth, entry] of entries.sort(([a], [b]) => a - b)) {
    void log.write({ at: start_at + nth * minute_ms, ...entry })
  }
  await log.close()
}

const ask = ['proof', '--from', from, '--to', '2026-06-21T10:30:00Z']

test('the proof of a time without fault says so, as text and as JSON', async (t) => {
  const { dir, run } = placeOf(t)
  await writeLog(dir, [[5, { is: 'order', inverter_id: 1, limit_w: 50_000, is_raise: false }]])
  const { code, output, notes } = await run(...ask)
  assert.deepEqual([code, notes], [0, ''])
  const lines = output.trim().split('\n')
  assert.deepEqual(lines.slice(0, 2), [
    'Control log from 2026-06-21 10:00:00.000 until 2026-06-21 10:30:00.000 (UTC)',
    'At its beginning the permit is plant 1 90.000 kW',
  ])
  assert.ok(
    lines.includes('2026-06-21 10:05:00.000  inverter 1      WRITE lower to 50.000 kW'),
    output,
  )
  assert.match(
    output,
    /10:15:00\.000 {2}plant 1 .* measured 80\.016 kW to 80\.030 kW, permitted 90\.0/,
  )
  assert.equal(lines.at(-1), 'Result: no instant exceeded the permit.')

  const json = JSON.parse((await run(...ask, '--json', '--data-dir', dir)).output)
  assert.equal(json.result, 'kept')
  assert.deepEqual([json.orders, json.power.length, json.entries.length], [1, 2, 1])
  assert.equal(json.held.find(({ is }: Noted) => is === 'permit_file').plants[0].permit_w, 90_000)
})

test('what exceeded the permit, and a log that was changed, end with their own codes', async (t) => {
  const { dir, run } = placeOf(t)
  await writeLog(dir, [[5, { is: 'order', inverter_id: 1, limit_w: 90_001, is_raise: true }]])
  const exceeded = await run(...ask)
  assert.equal(exceeded.code, 4)
  assert.match(
    exceeded.output,
    /EXCEEDED .* and on, plant 1: up to 90\.001 kW were allowed.*by a write/,
  )
  rmSync(join(dir, 'control-log'), { recursive: true })

  await writeLog(dir)
  const [name] = readdirSync(join(dir, 'control-log'))
  const path = join(dir, 'control-log', name!)
  writeFileSync(path, readFileSync(path, 'utf8').replace('80010', '80011'))
  const changed = await run(...ask)
  assert.equal(changed.code, 5)
  assert.match(changed.output, /LOG BROKEN at 000001-2026-06-21\.jsonl:\d+: this entry was changed/)
  assert.equal(
    (await run('proof', '--from', '2026-06-22T00:00:00Z', '--to', '2026-06-23T00:00Z')).code,
    5,
  )
})

test('wrong usage is told as such', async (t) => {
  const { run } = placeOf(t)
  assert.equal((await run('proof')).code, 2)
  assert.equal((await run('proof', '--from', '2026-02-30T00:00:00Z')).code, 2)
  assert.equal((await run('proof', '--from', '2026-06-21T10:00:00.1Z')).code, 2)
  const as_api = from.replace('Z', '.000Z')
  assert.equal((await run('proof', '--from', as_api)).code, 1, 'as the API writes it')
  assert.equal((await run('proof', '--from', from)).code, 1, 'there is no log')
  const { code, output } = await run('--help')
  assert.equal(code, 0)
  assert.match(output, /Example:\n {2}heliograph-edge permit seal/)
})

const record = { static_max_w: 100_000, written_w: 80_000, before_w: null, intents: [] }

test('what is remembered of limits is listed, and that of another can be forgotten', async (t) => {
  const { dir, run } = placeOf(t)
  const none = await run('limits')
  assert.equal(none.code, 1)
  assert.match(none.notes, /remembers nothing of devices: EDGE_DATA_DIR or --data-dir must name/)
  const habits = { rounds_by_w: 500, doubt: null }
  const devices = [
    [12, { ...record, written_w: null, external_w: null }],
    [-1, { ...record, external_w: 40_000 }],
    [2, { ...record, external_w: 50_000, habits, not_as_set_w: 52_000 }],
  ]
  writeFileSync(join(dir, 'control-devices.json'), JSON.stringify(devices))
  const listed = (await run('limits')).output.split('\n')
  assert.deepEqual(listed, [
    'plant-1     limit of another 40.000 kW; last written 80.000 kW; ceiling 100.000 kW',
    '2           limit of another 50.000 kW; last written 80.000 kW; ceiling 100.000 kW; set to 52.000 kW before',
    '12          no limit of another; never written; ceiling 100.000 kW',
    '',
  ])
  for (const name of ['2', 'plant-1']) {
    const { code, output, notes } = await run('limits', 'forget', name, '--data-dir', dir)
    assert.deepEqual([code, notes], [0, ''])
    assert.match(
      output,
      /^the limit of another at .* [12] is to be forgotten: a running agent does/,
    )
  }
  assert.match(
    (await run('limits')).output,
    /^2 .* 52\.000 kW before; asked to forget that limit, not done/m,
  )
  const [first, second] = await openRequests(dir)
  const wattsOf = (one = first) => (one && 'external_w' in one ? one.external_w : null)
  assert.deepEqual([first, second].map((one) => [one?.inverter_id, wattsOf(one)]).sort(), [
    [-1, 40_000],
    [2, 50_000],
  ])
  assert.notEqual(first?.asked_by, '')
  assert.ok(Math.abs(first!.asked_at - Date.now()) < minute_ms)
})

test('of a device that is not in site.yaml any more it can be said that it is disconnected', async (t) => {
  const { dir, run } = placeOf(t)
  const place = { logger_id: 1, rated_w: 100_000, max_w: 100_000 }
  const devices = [
    [3, { ...record, external_w: 40_000, place, left: [1] }],
    [4, { ...record, external_w: null, place: { ...place, logger_id: 2 }, left: [1] }],
    [5, { ...record, external_w: null, place: null, left: [] }],
  ]
  writeFileSync(join(dir, 'control-devices.json'), JSON.stringify(devices))
  const { output, code } = await run('limits', 'forget', '3')
  assert.equal(code, 0)
  assert.match(output, /^inverter 3, not in site\.yaml any more, is to count no more: a running/)
  const [asked, ...others] = await openRequests(dir)
  assert.deepEqual(others, [])
  assert.deepEqual(
    [asked?.inverter_id, asked && 'is_disconnected' in asked && asked.is_disconnected],
    [3, true],
  )
  const rest = 'last written 80.000 kW; ceiling 100.000 kW'
  assert.deepEqual((await run('limits')).output.split('\n'), [
    `3           not in site.yaml; counts in plant 1; limit of another 40.000 kW; ${rest}; asked to count it no more, not done yet`,
    `4           not in site.yaml there, but at plant 2; counts in plant 1; no limit of another; ${rest}`,
    `5           not in site.yaml, said to be disconnected; no limit of another; ${rest}`,
    '',
  ])
  assert.equal((await run('limits', 'forget', '5')).code, 1)
})

test('what cannot be forgotten is refused, and nothing is asked of the agent', async (t) => {
  const { dir, run } = placeOf(t)
  const devices = [[12, { ...record, external_w: null }]]
  writeFileSync(join(dir, 'control-devices.json'), JSON.stringify(devices))
  const unknown = await run('limits', 'forget', '13')
  assert.deepEqual(
    [unknown.code, unknown.notes],
    [2, 'heliograph-edge: inverter 13 is not known here; these are: 12\n'],
  )
  for (const word of ['0', '1.5', 'x', '1e3']) {
    assert.equal((await run('limits', 'forget', word)).code, 2, word)
  }
  assert.equal((await run('limits', 'forget')).code, 2)
  const free = await run('limits', 'forget', '12')
  assert.equal(free.code, 1)
  assert.match(free.notes, /no limit of another is remembered of inverter 12/)
  assert.deepEqual(await openRequests(dir), [])
  writeFileSync(join(dir, 'control-devices.json'), '[[')
  const broken = await run('limits', 'forget', '12')
  assert.equal(broken.code, 1)
  assert.match(broken.notes, /control-devices\.json cannot be understood/)
})

test('what an operator asked to forget is in the proof', async (t) => {
  const { dir, run } = placeOf(t)
  const asked = {
    is: 'forgotten' as const,
    inverter_id: 1,
    external_w: 20_000,
    request_id: 'x',
    asked_at: start_at,
    asked_by: 'ann as root',
  }
  await writeLog(dir, [
    [5, { ...asked, refusal: null }],
    [6, { ...asked, refusal: 'this site has no such device' }],
  ])
  const { code, output } = await run(...ask)
  assert.equal(code, 0)
  const told =
    "inverter 1      ann as root asked at 2026-06-21 10:00:00.000 to forget another's 20.000 kW"
  assert.ok(output.includes(`10:05:00.000  ${told}: done\n`), output)
  assert.ok(output.includes(`10:06:00.000  ${told}: not done, this site has no such device\n`))
})

test('a proof without a control log says which setting names it', async (t) => {
  const { dir, run } = placeOf(t)
  const { code, output, notes } = await run(...ask, '--data-dir', join(dir, 'none'))
  assert.deepEqual([code, output], [1, ''])
  assert.match(
    notes,
    /no control log at .*none\/control-log \(ENOENT\): EDGE_DATA_DIR or --data-dir/,
  )
})

test('of a PCS that is not in site.yaml any more it can be said that it is disconnected', async (t) => {
  const { dir, run } = placeOf(t)
  writeFileSync(join(dir, 'control-devices.json'), '[]')
  const one = { bess_id: 1, pcs_idx: 0, max_w: 100_000, place: { logger_id: 2 }, freed_id: null }
  const pcs = [
    { ...one, left: [1, null] },
    { ...one, pcs_idx: 1, left: [] },
    { ...one, pcs_idx: 2, place: null, left: [] },
  ]
  const state = { hours: [], most_w: [], reports: [], pcs }
  writeFileSync(join(dir, 'battery-dispatch.json'), JSON.stringify(state))
  const { output, code } = await run('limits', 'forget', 'pcs-1.0')
  assert.equal(code, 0)
  assert.match(
    output,
    /^PCS 0 of battery 1, not in site\.yaml any more, is to count no more: a run/,
  )
  const [asked, ...others] = await openRequests(dir)
  assert.deepEqual(others, [])
  assert.ok(asked && 'bess_id' in asked)
  assert.deepEqual([asked.bess_id, asked.pcs_idx, asked.is_disconnected], [1, 0, true])
  const counts = 'counts in plant 1 and at the common connection'
  assert.deepEqual((await run('limits')).output.split('\n').slice(1), [
    `pcs-1.0     not in site.yaml there; ${counts}; discharges at most 100.000 kW; asked to count it no more, not done yet`,
    'pcs-1.2     not in site.yaml, said to be disconnected; discharges at most 100.000 kW',
    '',
  ])
  const here = await run('limits', 'forget', 'pcs-1.1')
  assert.equal(here.code, 2)
  assert.match(here.notes, /PCS 1 of battery 1 is not known to have left.*: pcs-1\.0$/m)
})

test('batteries are in the proof, each as what it is', async (t) => {
  const { dir, run } = placeOf(t)
  const pcs = { bess_id: 1, pcs_idx: 0 }
  const plants = [{ logger_id: 1, inverters: [{ inverter_id: 1, max_w: 100_000 }] }]
  const found = { setpoint_w: 5000, held_max_w: 5000, discharge_max_w: 50_000 }
  const idle = { setpoint_w: 0, held_max_w: 0, falls_back_to_w: null }
  const battery = { bess_id: 1, logger_id: 1, power_w: 4900 }
  const left = { request_id: 'a', asked_at: start_at, asked_by: 'ann', refusal: null }
  await writeLog(dir, [
    [-1, { is: 'site', plants, pcs: [{ ...pcs, logger_id: 1, max_w: 50_000 }] }],
    [-2, { is: 'pcs', ...pcs, obeys: 'yes', ...found, ...idle }],
    [5, { is: 'pcs_order', ...pcs, power_w: 5000, is_raise: true }],
    [6, { is: 'pcs', ...pcs, obeys: 'yes', ...found, falls_back_to_w: 0 }],
    [7, { is: 'round', round_at: 0, plants: [], batteries: [battery] }],
    [8, { is: 'pcs', ...pcs, obeys: 'silent', ...found, falls_back_to_w: 0 }],
    [9, { is: 'pcs_disconnected', ...pcs, ...left }],
  ])
  const { code, output } = await run(...ask)
  assert.equal(code, 4)
  for (const line of [
    /10:05:00\.000 {2}PCS 1\.0 {9}WRITE raise to 5\.000 kW/,
    /10:06:00\.000 {2}PCS 1\.0 {9}read: 5\.000 kW, falls back to 0\.000 kW; can 50\.000 kW/,
    /10:08:00\.000 {2}PCS 1\.0 {9}does not answer, counts with all that it can; read: 5\.000/,
    /10:09:00\.000 {2}PCS 1\.0 {9}ann said at .* that it is disconnected: it counts no more/,
    /10:00:00\.000 {2}battery 1 {7}measured 4\.900 kW to 4\.900 kW, in the 15 minutes/,
    /EXCEEDED 2026-06-21 10:05.* plant 1: up to 140\.000 kW .*: by a write .* \(PCS 1\.0\)/,
  ]) {
    assert.match(output, line)
  }
})

test('a commissioning test with a failure ends with 1, and leaves its protocol', async (t) => {
  const { dir, run } = placeOf(t)
  const connections = [
    { connection_id: 'a', protocol: 'modbus_tcp', host: '127.0.0.1', port: 1 } as const,
  ]
  writeFileSync(join(dir, 'site.yaml'), JSON.stringify(siteOf([inverterOf(1)], { connections })))
  const { code, output, notes } = await run('check', '--out', 'first')
  assert.equal(code, 1, notes)
  assert.match(output, /^I1 +communication +FAILED +no answer: /m)
  const { result, software } = JSON.parse(readFileSync(join(dir, 'first.json'), 'utf8'))
  assert.equal(result, 'failed')
  assert.match(software, /^heliograph-edge \d/)
  assert.ok(statSync(join(dir, 'first.pdf')).size > 10_000)
  const again = await run('check', '--out', 'first')
  assert.equal(again.code, 1)
  assert.match(again.notes, /first\.json is there: --force replaces it/)
})
