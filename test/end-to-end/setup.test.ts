/** `heliograph-edge setup` against a server, and the exchange of a gateway for another. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { systemClock, systemStopwatch, systemTimers } from '@heliograph/domain/clock'
import { setupCommand } from '@heliograph/edge/commissioning/setup-command'
import { createClient } from '@heliograph/server/access/clients'
import {
  createEnrolment,
  enrolGateway,
  listEnrolments,
  stateOf,
} from '@heliograph/server/access/enrolments'
import { createSite } from '@heliograph/server/access/sites'
import { setUpGateway } from './edge-program.ts'
import { onDatabase } from './enrol.ts'
import { loadSite } from './load-site.ts'
import { type Programs, programsIn } from './programs.ts'

const site_id = 'load'

const newCode = (programs: Programs) =>
  onDatabase(programs, async (db) => {
    const admin = { db, clock: systemClock, randomBytes }
    return (await createEnrolment(admin, { site_id, created_by: 'Ada' })).code
  })

/** The newest enrolment, once it is in this state. */
async function untilEnrolment(programs: Programs, state: string) {
  for (const until = Date.now() + 30_000; Date.now() < until; await wait(200)) {
    const [newest] = await onDatabase(programs, (db) => listEnrolments(db, site_id))
    if (stateOf(newest!, new Date()) === state) return newest!
  }
  throw new Error(`no enrolment became ${state}`)
}

test('a gateway is set up by a code, connects, and is exchanged for another', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-setup-'))
  const programs = await programsIn(dir, loadSite)
  t.after(async () => {
    await programs.endAll()
    rmSync(dir, { recursive: true, force: true })
  })
  programs.start('server')
  await programs.serverIsReady()
  const { api } = programs
  await onDatabase(programs, async (db) => {
    const admin = { db, clock: systemClock, randomBytes }
    await createClient(admin, { name: 'Tester', modules: ['basic_scada'] })
    await createSite(admin, { client: 'Tester', site_id, name: 'Load site' })
  })

  const wrong = await setUpGateway(join(dir, 'wrong'), ['--server', api, '0000-0000-0000-0000'])
  assert.equal(wrong.code, 1)
  assert.match(wrong.notes, /the code is not known here/)
  assert.throws(() => statSync(join(dir, 'wrong/token')), /ENOENT/)

  const settings_file = join(dir, 'edge.conf')
  writeFileSync(settings_file, '# Settings\n#SERVER_URL=wss://example.com\nLOG_LEVEL=info\n')
  const said: string[] = []
  await setupCommand(
    await newCode(programs),
    { server: api },
    {
      config: {
        site_file: join(dir, 'site.yaml'),
        data_dir: join(dir, 'edge'),
        journal_bytes_max: 2 ** 20,
        token_file: join(dir, 'token'),
        settings_file,
      },
      agent_version: '1.0.0',
      clock: systemClock,
      stopwatch: systemStopwatch,
      timers: systemTimers,
      question: () => Promise.reject(new Error('the code was given')),
      note: (text) => assert.fail(text),
      say: async (text) => void said.push(text),
      async restart() {
        programs.start('edge')
        return true
      },
    },
  )
  const text = said.join('')
  for (const name of ['files', 'disk', 'server', 'clock', 'certificate']) {
    assert.match(text, new RegExp(`^ok +${name} `, 'm'))
  }
  assert.match(text, /gateway of Load site \(load\)[\s\S]*The agent is connected\.\n$/)
  assert.equal(statSync(join(dir, 'token')).mode & 0o777, 0o600)
  const server_url = `SERVER_URL=${api.replace('http', 'ws')}`
  const settings = readFileSync(settings_file, 'utf8')
  assert.equal(settings, `# Settings\n${server_url}\nLOG_LEVEL=info\n`)

  const second = setUpGateway(join(dir, 'second'), ['--server', api, await newCode(programs)])
  const waiting = await untilEnrolment(programs, 'waiting')
  assert.throws(() => statSync(join(dir, 'second/token')), /ENOENT/)
  assert.doesNotMatch(programs.lastWords('edge'), /token was revoked/)
  const confirmed_ms = performance.now()
  await onDatabase(programs, (db) =>
    db.transaction((tx) =>
      enrolGateway(
        { db: { ...db, ...tx, transaction: (work) => work(tx) }, clock: systemClock, randomBytes },
        waiting,
        'Ada',
      ),
    ),
  )
  while (!programs.lastWords('edge').includes('token was revoked')) {
    assert.ok(performance.now() - confirmed_ms < 10_000, programs.lastWords('edge'))
    await wait(20)
  }
  t.diagnostic(`the old connection ended after ${Math.round(performance.now() - confirmed_ms)} ms`)
  const { code, output, notes } = await second
  assert.equal(code, 0, notes)
  assert.match(output, /has another gateway\. Waiting/)
  assert.match(notes, /there is no .*site\.yaml yet: write it with `site_id: load`/)
  assert.match(output, /Then start the agent: SERVER_URL=ws:.* EDGE_TOKEN_FILE=.* npm run edge\n$/)
  assert.equal(statSync(join(dir, 'second/token')).mode & 0o777, 0o600)
})

test('setup says what is wrong before it uses a code', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-setup-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const code = '0000-0000-0000-0000'
  const unreachable = await setUpGateway(dir, ['--server', 'http://127.0.0.1:1', code])
  assert.equal(unreachable.code, 1)
  assert.match(unreachable.output, /^error +server +127\.0\.0\.1:1 cannot be reached: /m)
  assert.match(unreachable.notes, /setup has changed nothing, and the code was not used/)
  for (const server of ['plants.example', 'ftp://plants.example', 'https://a:b@plants.example']) {
    const { notes } = await setUpGateway(dir, ['--server', server, code])
    assert.match(notes, /--server: an https:\/\/ address such as/)
  }
  assert.equal((await setUpGateway(dir, [code])).code, 2)
})
