/** A sensor node by MQTT to the broker of the edge, and what the API answers of it. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Site } from '@heliograph/domain/site'
import { enrol } from './enrol.ts'
import { loadSite } from './load-site.ts'
import { freePort, programsIn } from './programs.ts'

const patience_ms = 60_000

test('a node reports, is read, and is offline once its connection is gone', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-nodes-'))
  const credentials = join(dir, 'mqtt')
  writeFileSync(credentials, 'node:open-sesame\n')
  const site: Site = {
    ...loadSite,
    mqtt: { listen: { port: await freePort() }, prefix: 'park' },
    nodes: [
      {
        node_id: 'ts-1',
        node_number: 5,
        name: 'Station',
        type: 'transformer_station',
        report_s: 1,
        channels: [
          { channel: 'oil', kind: 'temperature', label: 'Oil', role: 'oil' },
          { channel: 'fan', kind: 'fan_current', label: 'Fan', relay: 'fans' },
          { channel: 'fans', kind: 'relay', label: 'Fans' },
        ],
      },
    ],
  }
  const programs = await programsIn(dir, site, { MQTT_CREDENTIALS_FILE: credentials })
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
    return answer.ok ? ((await answer.json()) as Answer) : null
  }
  const until = async (path: string, isThere: (answer: Answer) => boolean) => {
    const late = Date.now() + patience_ms
    for (;;) {
      const answer = await get(path)
      if (answer && isThere(answer)) return answer
      assert.ok(
        Date.now() < late,
        `${path}: ${JSON.stringify(answer)}\n${programs.lastWords('edge')}`,
      )
      await wait(200)
    }
  }
  const [node] = (await until('/sensors', ({ data }) => data?.[0]?.['status'] === 'online')).data
  assert.equal(node?.['node_id'], 'ts-1')
  const now = await until('/sensors/ts-1/current', ({ quality }) => quality === 'good')
  assert.ok(now.oil_temperature_c > -20 && now.oil_temperature_c < 120)
  assert.equal(typeof now.fans[0]?.['running'], 'boolean')
  await until('/sensors/ts-1/history', ({ meta }) => meta.count >= 2)
  assert.equal(now.relays[0]?.['channel'], 'fans')
  assert.equal(typeof now.relays[0]?.['state'], 'boolean')

  await programs.end('simulator', 'SIGKILL')
  await until('/sensors', ({ data }) => data?.[0]?.['status'] === 'offline')
})

interface Answer {
  data: Record<string, unknown>[]
  meta: { count: number }
  quality: string
  oil_temperature_c: number
  fans: Record<string, unknown>[]
  relays: Record<string, unknown>[]
}
