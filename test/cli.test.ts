/**
 * The command line: what commands do in this process, and that it works as its users run it: a
 * process of its own, found through a link as npx does.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { cellsOf, csvOf } from '../server/performance/panels/fixtures/panel-csv.ts'
import { openDatabase } from '../server/storage/database.ts'
import { startEmbedded } from '../server/storage/embedded.ts'
import { heliograph, type Ran } from './command-line.ts'
import { silent, testDatabase } from './postgres.ts'
import { program_environment } from './program-environment.ts'

const main = fileURLToPath(new URL('../cli/heliograph.ts', import.meta.url))

/** `heliograph` as a program in an empty directory, with these settings and no terminal. */
async function asProgram(t: TestContext, settings: Record<string, string> = {}) {
  const directory = await directoryFor(t)
  const program = path.join(directory, 'heliograph')
  await symlink(main, program)
  const path_of_node = `${path.dirname(process.execPath)}:${process.env.PATH}`
  const env = { ...program_environment, PATH: path_of_node, ...settings }
  const options = { cwd: directory, env }
  const start = (...args: string[]) =>
    spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  return { directory, program, options, start, ...commands((...args) => outcome(start(...args))) }
}

async function directoryFor(t: TestContext): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'heliograph-cli-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

function commands(run: (...args: string[]) => Promise<Ran>) {
  const json = async (...args: string[]) => {
    const { code, out, notes } = await run(...args, '--json')
    assert.equal(code, 0, notes)
    return JSON.parse(out)
  }
  return { run, json }
}

async function outcome(child: ChildProcess): Promise<Ran> {
  const closed = once(child, 'close')
  const [out, notes, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), closed])
  return { code, out, notes }
}

async function onDatabase(t: TestContext) {
  const { db, url, drop } = await testDatabase()
  t.after(drop)
  return { db, url, ...commands((...args) => heliograph({ DATABASE_URL: url }, ...args)) }
}

const key_pattern = /svc_live_([0-9a-f]{12})_([0-9a-f]{64})/

test('what was mistyped is a usage error, and nothing goes to standard output', async () => {
  const lines = [
    [],
    ['keys'],
    ['kyes', 'list'],
    ['keys', 'create'],
    ['keys', 'list', '--secret'],
    ['keys', 'rotate', '0123456789ab', '--overlap-hours', 'a day'],
    ['clients', 'list', 'all'],
  ]
  const results = await Promise.all(lines.map((args) => heliograph({}, ...args)))
  for (const [index, { code, out, notes }] of results.entries()) {
    assert.deepEqual({ code, out }, { code: 2, out: '' }, `${lines[index]}`)
    assert.match(notes, /error: |Usage: /, `${lines[index]}`)
  }
})

test('help needs no database and no right settings', async () => {
  const run = (...args: string[]) => heliograph({ DATABASE_URL: 'nonsense' }, ...args)
  const [help, list] = await Promise.all([run('--help'), run('keys', 'list')])
  assert.equal(help.code, 0)
  assert.match(help.out, /Exit codes: 0 done, 1 failed/)
  assert.deepEqual([list.code, list.out], [1, ''])
  assert.match(list.notes, /DATABASE_URL: a postgres:\/\/ address/)
})

test('a database that does not answer is a failure that says so', async () => {
  const settings = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
  const { code, out, notes } = await heliograph(settings, 'keys', 'list')
  assert.deepEqual([code, out], [1, ''])
  assert.match(notes, /ECONNREFUSED/)
})

test('from a client to a key: results as JSON, the key once and never again', async (t) => {
  const { db, run, json } = await onDatabase(t)
  const client = await json('clients', 'create', 'Sunny Fields', '--modules', 'basic_scada,om')
  assert.deepEqual(client.modules, ['basic_scada', 'om'])
  await json('sites', 'create', 'sf-1', '--client', 'Sunny Fields', '--name', 'North')
  const order = ['keys', 'create', '--client', 'Sunny Fields', '--name', 'dashboard']
  const created = await json(
    ...order,
    '--scopes',
    'plant:read,om:read',
    '--sites',
    'sf-1',
    '--expires-at',
    '2099-01-31T00:00:00Z',
    '--write-per-minute',
    '5',
  )
  const [, key_id, secret] = key_pattern.exec(created.key)!
  const { key: _, ...record } = created
  assert.deepEqual(record.site_ids, ['sf-1'])
  assert.equal(record.expires_at, '2099-01-31T00:00:00.000Z')
  assert.equal(record.write_per_minute, 5)
  assert.equal(record.created_by, os.userInfo().username)

  const [listed, shown, clients, sites] = await Promise.all([
    json('keys', 'list'),
    run('keys', 'list'),
    run('clients', 'list'),
    run('sites', 'list'),
  ])
  assert.deepEqual(listed, [record])
  assert.match(shown.out, new RegExp(`^KEY .*\n${key_id} +Sunny Fields +dashboard +active `))
  assert.ok(!shown.out.includes(secret!))
  assert.match(clients.out, /^CLIENT .*\nSunny Fields .* basic_scada om\n$/)
  assert.match(sites.out, /^SITE .*\nsf-1 +Sunny Fields +North +since [-0-9]+ [0-9:]+Z +-\n$/)
  const [stored] = await db.query<{ row: string }>('select k::text as row from api_keys k')
  assert.ok(stored!.row.includes(key_id!) && !stored!.row.includes(secret!))

  const refused = await Promise.all([
    run(...order, '--scopes', 'bess:read'),
    run('clients', 'create', 'Sunny Fields', '--modules', 'om'),
    run('sites', 'list', '--client', 'Nobody'),
    run('keys', 'revoke', '0123456789ab', '--yes'),
  ])
  assert.deepEqual(
    refused.map(({ code, out }) => [code, out]),
    [
      [4, ''],
      [4, ''],
      [3, ''],
      [3, ''],
    ],
  )
  assert.equal(
    refused[0]!.notes,
    'heliograph: outside the plan of "Sunny Fields" (basic_scada, om): bess:read needs bess\n',
  )
})

test('people get the secret with the note that it is shown once', async (t) => {
  const { run } = await onDatabase(t)
  await run('clients', 'create', 'A', '--modules', 'basic_scada')
  await run('sites', 'create', 'a-1', '--client', 'A', '--name', 'North')
  const [key, edge] = await Promise.all([
    run('keys', 'create', '--client', 'A', '--name', 'x', '--scopes', 'plant:read'),
    run('edges', 'enrol', '--site', 'a-1', '--name', 'cabinet'),
  ])
  assert.match(key.out, new RegExp(`\n  ${key_pattern.source}\n\nThe key is shown only once`))
  assert.match(edge.out, /\n {2}edge_[0-9a-f]{12}_[0-9a-f]{64}\n\nThe token is shown only once/)
  const rotated = await run('keys', 'rotate', key_pattern.exec(key.out)![1]!)
  assert.match(rotated.out, /\nThe old secret is valid until \d{4}-\d\d-\d\d \d\d:\d\dZ\.\n$/)
})

test('what cannot be undone needs --yes where nobody can be asked', async (t) => {
  const { db, run, json } = await onDatabase(t)
  await run('clients', 'create', 'A', '--modules', 'basic_scada')
  await run('sites', 'create', 'a-1', '--client', 'A', '--name', 'North')
  const order = ['keys', 'create', '--client', 'A', '--scopes', 'plant:read', '--name']
  const [{ key_id }, other, { edge_id }] = await Promise.all([
    json(...order, 'x'),
    json(...order, 'y'),
    json('edges', 'enrol', '--site', 'a-1', '--name', 'cabinet'),
    json('sites', 'safe-mode', 'on', 'a-1'),
  ])
  // The secret before is accepted a while longer: nobody is asked.
  assert.equal((await json('keys', 'rotate', key_id)).state, 'rotating')
  const before = await contents(db)
  const commands = [
    ['keys', 'rotate', key_id],
    ['keys', 'rotate', other.key_id, '--overlap-hours', '0'],
    ['keys', 'revoke', key_id],
    ['edges', 'revoke', edge_id, '--site', 'a-1'],
    ['sites', 'safe-mode', 'off', 'a-1'],
  ]
  const refused = await Promise.all(commands.map((args) => run(...args)))
  for (const { code, out, notes } of refused) {
    assert.deepEqual([code, out], [5, ''])
    assert.match(notes, /pass --yes/)
  }
  assert.equal(await contents(db), before)
  assert.equal((await json('keys', 'rotate', key_id, '--overlap-hours', '0', '-y')).state, 'active')
  const [key, edge, site] = await Promise.all(
    commands.slice(2).map((args) => json(...args, '--yes')),
  )
  assert.equal(key.state, 'revoked')
  assert.ok(edge.revoked_at)
  assert.equal(site.safe_mode_since_at, null)
  // Nothing is left to be undone, so nobody is asked again.
  const again = await Promise.all(commands.slice(2).map((args) => run(...args)))
  assert.deepEqual(
    again.map(({ code }) => code),
    [0, 0, 0],
  )
})

async function contents(db: Awaited<ReturnType<typeof testDatabase>>['db']): Promise<string> {
  const tables = ['api_keys', 'edges', 'sites']
  const rows = await Promise.all(tables.map((name) => db.query(`select t::text from ${name} t`)))
  return JSON.stringify(rows)
}

test('panel models: a list is imported once, told row by row, and searched', async (t) => {
  const directory = await directoryFor(t)
  const { run, json } = await onDatabase(t)
  const broken = cellsOf(2, { Name: 'Maker broken', R_s: 'n/a' })
  const list = path.join(directory, 'CEC Modules.csv')
  await writeFile(list, csvOf([cellsOf(0, { Name: 'Maker QX-1' }), broken, cellsOf(1)]))
  const other = path.join(directory, 'other.csv')
  await writeFile(other, 'a,b\n1,2\n')
  const first = await run('panels', 'import', list)
  assert.equal(first.code, 0, first.notes)
  assert.equal(
    first.out,
    '2 models: 2 new, 0 changed, 0 unchanged.\nRefused rows (1):\n' +
      '  line 3: Maker broken: R_s is not a finite number: "n/a"\n',
  )
  const again = await json('panels', 'import', list)
  assert.deepEqual([again.taken, again.unchanged, again.refused.length], [2, 2, 1])
  const [third, found, shown, library, listed, ...refused] = await Promise.all([
    run('panels', 'import', list),
    json('panels', 'search', 'maker', 'qx1'),
    run('panels', 'search', 'solar', '--limit', '2'),
    json('panels', 'list'),
    run('panels', 'list'),
    run('panels', 'import', other),
    run('panels', 'import', path.join(directory, 'missing.csv')),
    run('panels', 'import', 'http://127.0.0.1:1/list.csv'),
  ])
  assert.match(third.out, /^No changes: all 2 models exist already\.\n/)
  assert.deepEqual(
    [found.count, found.rows[0].name, found.rows[0].source],
    [1, 'Maker QX-1', 'cec'],
  )
  assert.match(shown.out, /^PARAMS_ID .*\n(\d+ .*\n){2}Showing 2 of \d+\.\n$/)
  assert.equal(library.imported_count, 2)
  assert.deepEqual([library.imports[0].source, library.imports.length], ['CEC Modules.csv', 1])
  assert.match(listed.out, / JAM72S30-550\/MR .*\n(.*\n)+2 imported models:\n\nIMPORTED /)
  for (const { code, out } of refused) assert.deepEqual([code, out], [4, ''])
  assert.match(refused[0]!.notes, /not a list of CEC modules: the header lacks the columns Name,/)
  assert.match(refused[1]!.notes, /missing\.csv cannot be read\nheliograph: ENOENT/)
  assert.match(refused[2]!.notes, /list\.csv cannot be read\nheliograph: fetch failed\n/)
})

test('on a terminal the operator is asked', async (t) => {
  if (spawnSync('script', ['--version'], { encoding: 'utf8' }).status !== 0) {
    return t.skip("LEFT OUT: the question on a terminal: util-linux's script is not installed")
  }
  const { run, json, url } = await onDatabase(t)
  const { program, options } = await asProgram(t, { DATABASE_URL: url })
  await run('clients', 'create', 'A', '--modules', 'basic_scada')
  await run('sites', 'create', 'a-1', '--client', 'A', '--name', 'North')
  await run('sites', 'safe-mode', 'on', 'a-1')
  const answer = async (line: string): Promise<[number, string]> => {
    const words = ['-qec', `${program} sites safe-mode off a-1`, '/dev/null']
    const child = spawn('script', words, { ...options, stdio: 'pipe' })
    let screen = ''
    child.stdout.on('data', (data) => {
      const asked = screen.includes('Type yes')
      screen += data
      if (!asked && screen.includes('Type yes')) child.stdin.write(line)
    })
    const [code] = await once(child, 'close')
    return [code, screen]
  }
  const [refused, screen] = await answer('no\r')
  assert.equal(refused, 5, screen)
  assert.match(screen, /End the safe mode of site a-1 \(North\), on since .*\?/)
  assert.ok((await json('sites', 'list'))[0].safe_mode_since_at)
  assert.equal((await answer('\u0003'))[0], 5, 'Ctrl-C')
  assert.equal((await answer('yes\r'))[0], 0)
  assert.equal((await json('sites', 'list'))[0].safe_mode_since_at, null)
})

test('the embedded database, with and without a server', async (t) => {
  const { directory, options, run, json, start } = await asProgram(t)
  let data_dir = path.join(directory, 'data')
  const stopped = () =>
    assert.rejects(readFile(path.join(data_dir, 'postgres/cluster/postmaster.pid')), /ENOENT/)

  await t.test('is started for a command and stopped after it', async () => {
    const { code, out, notes } = await run('clients', 'create', 'A', '--modules', 'basic_scada')
    assert.equal(code, 0, notes)
    assert.match(out, /^CLIENT .*\nA /)
    assert.match(notes, /^heliograph: making the database \(directory .*\n$/)
    await stopped()
  })

  const longer = path.join(directory, 'd'.repeat(100), 'data')
  for (const place of ['in its data directory', 'elsewhere, where the path is too long']) {
    await t.test(`is that of the running server, with its socket ${place}`, async () => {
      if (place.startsWith('elsewhere')) {
        await mkdir(path.dirname(longer))
        await rename(data_dir, longer)
        data_dir = longer
        Object.assign(options.env, { DATA_DIR: longer })
      }
      const server = await startEmbedded({ data_dir, log: silent, durable: false })
      try {
        const [client] = await json('clients', 'list')
        assert.equal(client.name, 'A')
        assert.doesNotThrow(() => process.kill(server.pid, 0), 'it goes on')
      } finally {
        await server.stop()
      }
    })
  }

  await t.test('serves commands at once, none of which stops it under another', async () => {
    await slowDown(data_dir, 0.4)
    const listed = await Promise.all([json('clients', 'list'), json('clients', 'list')])
    for (const [client] of listed) assert.equal(client.name, 'A')
    await stopped()
  })

  await t.test('ends with a command that is interrupted', async () => {
    await slowDown(data_dir, 50)
    const child = start('clients', 'list')
    const ended = outcome(child)
    await isSleeping(data_dir)
    child.kill('SIGINT')
    assert.equal((await ended).code, 130)
    await stopped()
  })
})

/** From now on the list of clients takes this long. */
async function slowDown(data_dir: string, seconds: number): Promise<void> {
  const server = await startEmbedded({ data_dir, log: silent, durable: false })
  const db = await openDatabase({ url: server.url, log: silent, application_name: 'test' })
  try {
    const renamed = await db.query("select from pg_class where relname = 'fast_clients'")
    if (renamed.length === 0) await db.execute('alter table clients rename to fast_clients')
    await db.execute(
      `create or replace view clients as select c.*, pg_sleep(${seconds})::text from fast_clients c`,
    )
  } finally {
    await db.close()
    await server.stop()
  }
}

/** Waits until the command's statement runs, by the title of PostgreSQL's process for it. */
async function isSleeping(data_dir: string): Promise<void> {
  const pid_file = path.join(data_dir, 'postgres/cluster/postmaster.pid')
  for (let waited_ms = 0; waited_ms < 20_000; waited_ms += 50) {
    const pid = Number((await readFile(pid_file, 'utf8').catch(() => '')).split('\n')[0])
    const { stdout } = spawnSync('/bin/ps', ['-A', '-o', 'ppid=,args='], { encoding: 'utf8' })
    const titles = stdout.split('\n').filter((line) => line.trim().startsWith(`${pid} `))
    if (pid && titles.some((title) => / SELECT$/.test(title.trim()))) return
    await delay(50)
  }
  throw new Error('the command does not reach its statement')
}

test('who gets a link that names nobody is told when it ends', async (t) => {
  const { run, json } = await onDatabase(t)
  const invite = ['users', 'invite', '--client', 'Sun Owners']
  await json('clients', 'create', 'Sun Owners', '--modules', 'basic_scada')
  const link = /\/invitation#[0-9a-f]{76}\n/
  const open = await run(...invite)
  assert.match(open.out, link)
  assert.match(open.out, /The link names nobody. It expires when anybody creates an account/)
  const named = await run(...invite, '--email', 'ada@example.com')
  assert.match(named.out, link)
  assert.doesNotMatch(named.out, /nobody/)
})
