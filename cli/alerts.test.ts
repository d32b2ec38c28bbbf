import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import test, { after, before } from 'node:test'
import { AdminError } from '@heliograph/server/access/admin'
import { type TestDatabase, testDatabase } from '../test/postgres.ts'
import { addAlertCommands } from './alerts.ts'
import { type Cli, Reporting } from './command.ts'
import { confirm } from './terminal.ts'

const now = new Date('2026-06-21T10:00:00Z')
let database: TestDatabase
let directory: string

before(async () => {
  database = await testDatabase()
  await database.db.query(`
    insert into clients (name, modules) values ('A', '{basic_scada}');
    insert into sites (site_id, client_id, name) values ('a', 1, 'A')`)
  directory = await mkdtemp(path.join(os.tmpdir(), 'heliograph-alerts-'))
})
after(async () => {
  await rm(directory, { recursive: true, force: true })
  await database.drop()
})

/** What `heliograph alerts …` prints. */
async function run(...args: string[]): Promise<string> {
  const output = new PassThrough()
  const input = new PassThrough()
  const terminal = { input, output, notes: new PassThrough(), is_interactive: false }
  const cli: Cli = {
    terminal,
    confirm: (question) => confirm(terminal, question),
    operator: 'anna',
    withAdmin: (work) =>
      work({ db: database.db, clock: { now: () => now }, randomBytes: Buffer.alloc }),
  }
  const program = new Reporting('heliograph', cli)
  program.exitOverride()
  addAlertCommands(program, cli)
  await program.parseAsync(['alerts', ...args], { from: 'user' })
  return String(output.read() ?? '')
}

async function fileOf(text: string): Promise<string> {
  const file = path.join(directory, 'alerting.yaml')
  await writeFile(file, text)
  return file
}

test('a site that set nothing is shown the rules as they are', async () => {
  const text = await run('settings', 'a')
  assert.match(text, /^ +RULE +SEVERITY/)
  assert.match(text, /\n +fan_failure +as found +120 s +300 s +-\n/)
  assert.match(text, /Site a has no settings/)
  assert.match(text, /No mail recipients\.\n$/)
  const { settings, set_at, in_force } = JSON.parse(await run('settings', 'a', '--json'))
  assert.deepEqual([settings, set_at], [{}, null])
  assert.equal(in_force.rules.temperature_high.thresholds.oil_c, 95)
})

test('what a file says is in force, by whom and since when; the next takes its place', async () => {
  const file = await fileOf(`
rules:
  fan_failure: { raise_delay_s: 60, severity: critical }
  price_negative: { enabled: false }
mail:
  recipients: [{ address: ops@example.com, min_severity: major }]
`)
  const text = await run('settings', 'a', '--set', file)
  assert.match(text, /\n\* +fan_failure +critical +60 s +300 s/)
  assert.match(text, /\n\* +price_negative +off/)
  assert.match(text, /set by anna on 2026-06-21/)
  assert.match(text, /ops@example\.com: major and worse/)
  assert.equal(await run('settings', 'a'), text)
  assert.match(await run('settings', 'a', '--set', await fileOf('')), /\n +fan_failure +as found/)
})

test('a file with faults is refused with all of them, and changes nothing', async () => {
  await run('settings', 'a', '--set', await fileOf('reopen_window_s: 60'))
  const before = await run('settings', 'a', '--json')
  const bad = await fileOf('rules: { fan: {}, soc_low: { enabled: 1 } }\nmails: 3')
  await assert.rejects(run('settings', 'a', '--set', bad), (error) => {
    assert.ok(error instanceof AdminError)
    assert.equal(error.code, 'invalid')
    for (const fault of ['rules.fan: ', 'rules.soc_low.enabled: ', 'mails: ']) {
      assert.ok(error.message.includes(fault), fault)
    }
    return true
  })
  assert.equal(await run('settings', 'a', '--json'), before)
  await assert.rejects(run('settings', 'a', '--set', `${bad}.gone`), /cannot be read/)
  await assert.rejects(run('settings', 'b'), { code: 'not_found' })
})

test('what became of an alert is shown, with who did it and why', async () => {
  await database.db.query(`
    insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
      source_type, source_id, started_at, detected_at, last_seen_at, created_at, updated_at)
    values ('a', 'k', 'inverter_fault', 'An inverter is in fault', 'Inverter 1 is in fault.',
      'equipment', 'major', 'active', 'inverter', '1', now(), now(), now(), now(), now());
    insert into alert_transitions (site_id, alert_id, at, from_status, to_status, changed_by, note)
    values ('a', 1, '2026-06-21T09:00Z', null, 'active', 'system', null),
      ('a', 1, '2026-06-21T09:10Z', 'active', 'acknowledged', 'anna', 'On our way.'),
      ('a', 1, '2026-06-21T09:20Z', 'acknowledged', 'resolved', 'system', null),
      ('a', 1, '2026-06-21T09:30Z', 'resolved', 'active', 'system', null)`)
  const text = await run('history', 'a', '1')
  assert.match(text, /^Alert 1: An inverter is in fault. Inverter 1 is in fault.\n/)
  assert.match(text, /09:10.* acknowledged +anna +On our way\.\n/)
  const { transitions } = JSON.parse(await run('history', 'a', '1', '--json'))
  assert.deepEqual(
    transitions.map(({ to_status }: { to_status: string }) => to_status),
    ['active', 'acknowledged', 'resolved', 'active'],
  )
  await assert.rejects(
    run('history', 'a', '2'),
    new AdminError('not_found', 'site a has no alert 2'),
  )
})

test('a note forges no line of the history, and tells the terminal nothing', async () => {
  await database.db.query(`
    update alerts set message = E'Inverter \x1b]0;x\x07 is in fault.\nAll is well.';
    update alert_transitions set note = E'ok\r\n2026-06-21 09:40Z  resolved  ben\x1b[31m'
    where note is not null`)
  const text = await run('history', 'a', '1')
  const lines = text.trimEnd().split('\n')
  assert.equal(lines.length, 6, 'the alert, the head, and four changes')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  assert.doesNotMatch(text, /[\x00-\x09\x0b-\x1f\x7f]/)
  const { transitions } = JSON.parse(await run('history', 'a', '1', '--json'))
  assert.match(transitions[1].note, /\r\n/)
})
