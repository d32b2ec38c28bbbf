/** What the documents show of `site.yaml` is accepted as it stands. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { parse, stringify } from 'yaml'
import type { Connection } from './site.ts'
import { parseSiteFile } from './site-file.ts'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

test('the edge accepts the battery of the guide', () => {
  const [, yaml = ''] =
    /```yaml\n([\s\S]*?)```/.exec(read('docs/guides/battery-first-day.md')) ?? []
  const { connections, ...shown } = parse(yaml)
  const demo = parse(read('simulator/demo/site.yaml'), { merge: true })
  const named = new Set(connections.map((one: Connection) => one.connection_id))
  const others = demo.connections.filter((one: Connection) => !named.has(one.connection_id))
  const site = { ...demo, ...shown, connections: [...others, ...connections] }
  const parsed = parseSiteFile(stringify(site))
  assert.deepEqual('problems' in parsed ? parsed.problems : [], [])
})
