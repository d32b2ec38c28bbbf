/** The three programs as they run in production: a register of a device, asked for over HTTP. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { enrol } from './enrol.ts'
import { loadSite } from './load-site.ts'
import { programsIn } from './programs.ts'

type Item = Record<string, unknown>

interface Answer {
  data: Item[]
  meta: { count: number }
  inverters: Item[]
  strings: Item[]
  comm_state: string
}

test('what a device measures is answered by the API within seconds', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-whole-'))
  const programs = await programsIn(dir, loadSite, { LOG_LEVEL: 'trace' })
  t.after(async () => {
    await programs.endAll()
    rmSync(dir, { recursive: true, force: true })
  })
  programs.start('server')
  await programs.serverIsReady()
  const key = await enrol(programs)
  programs.start('simulator')
  programs.start('edge')
  const get = async (path: string) => {
    const headers = { authorization: `Bearer ${key}` }
    const answer = await fetch(`${programs.api}/v1/sites/load${path}`, { headers })
    return { status: answer.status, body: (await answer.json()) as Answer }
  }
  const until = Date.now() + 60_000
  let inverters: Item[] = []
  while (inverters.filter(({ measured_at }) => measured_at).length < 12) {
    assert.ok(Date.now() < until, `no readings:\n${programs.lastWords('edge')}`)
    await wait(250)
    inverters = (await get('/inverters')).body.data ?? []
  }
  for (const inverter of inverters) {
    assert.equal(inverter['manufacturer'], 'Heliograph')
    assert.equal(inverter['serial_number'], `SIM-INV-${inverter['inverter_id']}`)
    assert.equal(inverter['comm_state'], 'connected')
    assert.equal(inverter['quality'], 'good')
    assert.ok((inverter['age_s'] as number) < 30)
    assert.ok(Math.abs((inverter['frequency_hz'] as number) - 50) < 0.1)
  }
  const strings = await get('/strings/inverter/1/current')
  assert.equal(strings.body.meta.count, 4)
  const history = await get('/inverters/1/history?limit=5')
  assert.equal(history.status, 200)
  assert.ok(history.body.data.length > 0)
  const overview = await get('/overview')
  assert.equal(overview.body.inverters.length, 12)
  assert.equal(overview.body.strings.length, 48)

  const secrets = [key, readFileSync(join(dir, 'token'), 'utf8')]
  for (const name of ['server', 'edge'] as const) {
    const log = readFileSync(join(dir, `${name}.log`), 'utf8')
    for (const secret of secrets) assert.ok(!log.includes(secret.slice(-64)), `${name}.log`)
  }

  await programs.end('simulator', 'SIGKILL')
  const silent_until = Date.now() + 60_000
  for (;;) {
    const { body } = await get('/inverters/1')
    if (body.comm_state !== 'connected') break
    assert.ok(Date.now() < silent_until, 'a silent inverter still counts as connected')
    await wait(500)
  }
  const { body } = await get('/inverters/1')
  assert.ok(['disconnected', 'asleep'].includes(body.comm_state), body.comm_state)
})
