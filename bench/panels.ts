/**
 * Time of a search in all panel models: the published list of 18,871, and those that come with the
 * program. The store is measured with its database, as the endpoint uses it.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readPanelList } from '@heliograph/server/performance/panels/csv'
import { importList } from '@heliograph/server/performance/panels/import'
import { findPanels } from '@heliograph/server/performance/panels/store'
import { openDatabase } from '@heliograph/server/storage/database'
import { startEmbedded } from '@heliograph/server/storage/embedded'
import { migrate } from '@heliograph/server/storage/migrate'
import { quickOr } from './fixtures/quick.ts'

const limit_ms = 15
const rounds = quickOr(1, 40)
const queries = [
  'a',
  '0',
  'solar',
  'trina',
  'cs3w400',
  'Q.PEAK DUO G8+',
  'longi solar lr5 550',
  '%',
  'canadian solar cs6k',
  'jinko 540 nonsense',
  'q cells 400 blk ml',
  'sunpower x22 360 com',
  // The worst case: many words that most names have, and one that none has.
  'a e i o s t 0 1 2 3 4 5 zzzz',
  'solar co ltd energy technology new zzzz power inc',
]

const list = new URL('../../shared/data/panels/cec-modules-merged.csv', import.meta.url)
if (existsSync(list)) await measure()
else process.stdout.write('panels: LEFT OUT: there is no list at ../shared/data/panels\n')

async function measure(): Promise<void> {
  const silent = { info() {}, warn() {}, error() {} }
  const data_dir = mkdtempSync(join(tmpdir(), 'heliograph-bench-panels-'))
  const embedded = await startEmbedded({ data_dir, log: silent, durable: false })
  const db = await openDatabase({ url: embedded.url, log: silent, application_name: 'bench' })
  try {
    await migrate(db)
    const began = performance.now()
    const source = { source: 'bench', at: new Date() }
    const { taken } = await importList(db, readPanelList(readFileSync(list)), source)
    const import_ms = performance.now() - began
    const first_ms = await timed(() => findPanels(db, 'first', { limit: 50 }))
    const elapsed_ms: number[] = []
    const slowest = { query: '', ms: 0 }
    for (let round = 0; round < rounds; round += 1) {
      for (const query of queries) {
        const ms = await timed(() => findPanels(db, query, { limit: 50 }))
        elapsed_ms.push(ms)
        if (ms > slowest.ms) Object.assign(slowest, { query, ms })
      }
    }
    elapsed_ms.sort((a, b) => a - b)
    const at = (share: number) => elapsed_ms[Math.ceil(share * elapsed_ms.length) - 1]!
    process.stdout.write(
      `search among ${taken} panel models: p50 ${at(0.5).toFixed(1)} ms, p99 ` +
        `${at(0.99).toFixed(1)} ms, limit ${limit_ms} ms; slowest ${slowest.ms.toFixed(1)} ms ` +
        `(${slowest.query}); the first, which reads all names, ${first_ms.toFixed(0)} ms; import ` +
        `${(import_ms / 1000).toFixed(1)} s\n`,
    )
    process.exitCode = at(0.99) <= limit_ms ? 0 : 1
  } finally {
    await db.close()
    await embedded.stop()
    rmSync(data_dir, { recursive: true, force: true })
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
