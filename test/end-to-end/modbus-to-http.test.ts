/** The three programs as they run in production: a register of a device, asked for over HTTP. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { withDatabase } from '@heliograph/cli/database'
import { systemClock } from '@heliograph/domain/clock'
import { createClient } from '@heliograph/server/admin/clients'
import { createEdge } from '@heliograph/server/admin/edges'
import { createKey } from '@heliograph/server/admin/keys'
import { createSite } from '@heliograph/server/admin/sites'
import { loadSite } from './load-site.ts'
import { type Programs, programsIn } from './programs.ts'

const silent = { info() {}, warn() {}, error() {} }

type Item = Record<string, unknown>

interface Answer {
  data: Item[]
  meta: { count: number }
  inverters: Item[]
  strings: Item[]
  comm_state: string
}

async function enrolled({ dir, server_dir, site }: Programs): Promise<string> {
  return withDatabase({ database_url: null, data_dir: server_dir }, silent, async (db) => {
    const admin = { db, clock: systemClock, randomBytes }
    const client = 'Tester'
    await createClient(admin, { name: client, modules: ['basic_scada'] })
    await createSite(admin, { client, site_id: site.site_id, name: site.name })
    const { token } = await createEdge(admin, { site_id: site.site_id, name: 'gateway' })
    writeFileSync(join(dir, 'token'), token, { mode: 0o600 })
    const order = { scopes: ['plant:read'], site_ids: null, expires_at: null, created_by: 'test' }
    return (await createKey(admin, { client, name: 'test', ...order })).key
  })
}

test('what a device measures is answered by the API within seconds', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-whole-'))
  const programs = await programsIn(dir, loadSite)
  t.after(async () => {
    await programs.endAll()
    rmSync(dir, { recursive: true, force: true })
  })
  programs.start('server')
  await programs.serverIsReady()
  const key = await enrolled(programs)
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
