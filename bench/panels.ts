/**
 * Time of a search in all panel models: the published list of 18,871, and those that come with the
 * program. The store is measured with its database, as the endpoint uses it.
 */
import { existsSync, readFileSync } from 'node:fs'
import { readPanelList } from '@heliograph/server/performance/panels/csv'
import { importList } from '@heliograph/server/performance/panels/import'
import { findPanels } from '@heliograph/server/performance/panels/store'
import { benchDatabase } from './fixtures/database.ts'
import { elapsedMs, tellLatency, timesOf } from './fixtures/figures.ts'
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

const queryOf = (nth: number) => queries[nth % queries.length]!

const list = new URL('../../shared/data/panels/cec-modules-merged.csv', import.meta.url)
if (existsSync(list)) await measure()
else process.stdout.write('panels: LEFT OUT: there is no list at ../shared/data/panels\n')

async function measure(): Promise<void> {
  await using database = await benchDatabase()
  const { db } = database
  const source = { source: 'bench', at: new Date() }
  let taken = 0
  const import_ms = await elapsedMs(async () => {
    ;({ taken } = await importList(db, readPanelList(readFileSync(list)), source))
  })
  const first_ms = await elapsedMs(() => findPanels(db, 'first', { limit: 50 }))
  const times_ms = await timesOf((nth) => findPanels(db, queryOf(nth), { limit: 50 }), {
    rounds: rounds * queries.length,
  })
  const slowest_ms = Math.max(...times_ms)
  tellLatency(
    `search among ${taken} panel models (slowest ${slowest_ms.toFixed(1)} ms: ` +
      `${queryOf(times_ms.indexOf(slowest_ms))}; the first, which reads all names, ` +
      `${first_ms.toFixed(0)} ms; import ${(import_ms / 1000).toFixed(1)} s)`,
    times_ms,
    limit_ms,
  )
}
