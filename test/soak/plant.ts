/**
 * The server as a program of its own, with the data of two tenants: the owner has the demo site and
 * weeks of its simulated history, the neighbour a site of the same devices and a day of theirs.
 */

import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock, systemTimers } from '@heliograph/domain/clock'
import { day_ms, minute_ms } from '@heliograph/domain/durations'
import type { Site } from '@heliograph/domain/site'
import { parseSiteFile } from '@heliograph/domain/site-file'
import { utcDate } from '@heliograph/domain/utc-day'
import { type HistoryFrame, importHistory } from '@heliograph/edge/importer'
import { createClient } from '@heliograph/server/access/clients'
import { createEdge } from '@heliograph/server/access/edges'
import { createSite } from '@heliograph/server/access/sites'
import { readConfig } from '@heliograph/server/config'
import { importContracts } from '@heliograph/server/contracts/admin'
import { modules } from '@heliograph/server/http/endpoint'
import { createSimulatedMarket, followMarket } from '@heliograph/server/markets/admin'
import { fetchMarket } from '@heliograph/server/markets/fetch'
import { applyInventory } from '@heliograph/server/plant/inventory'
import type { Database } from '@heliograph/server/storage/database'
import { initialCounters } from '@heliograph/simulator/counters'
import { historyFrames } from '@heliograph/simulator/history'
import { createSimulation } from '@heliograph/simulator/site'
import { endAll, type Program } from '../../bench/fixtures/programs.ts'
import { onDatabase, type ServerProgram, startServer } from '../../bench/fixtures/server-program.ts'
import { addFixtures, type Fixtures } from '../conventions/fixtures.ts'
import { silent } from '../postgres.ts'

const site_file = fileURLToPath(new URL('../../simulator/demo/site.yaml', import.meta.url))
const contracts_file = fileURLToPath(
  new URL('../../simulator/demo/contracts.yaml', import.meta.url),
)
const site_seed = 20261
/** The longest window of a read is 400 days. */
const price_days = 414

export interface SoakPlant {
  server: ServerProgram
  program: Program
  url: string
  db: Database
  /** Keys and sites of the owner; the neighbour is the client of `sites.foreign`. */
  fixtures: Fixtures
  /** Token of the owner's edge. */
  edge_token: string
  dir: string
}

/** Runs `work` on a server with its plants, and ends the server. */
export async function withPlant<Result>(
  { history_days }: { history_days: number },
  work: (plant: SoakPlant) => Promise<Result>,
): Promise<Result> {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-soak-'))
  const programs: Program[] = []
  try {
    const server = await startServer(dir, programs, { TRUSTED_PROXIES: '127.0.0.1' })
    const url = `http://127.0.0.1:${server.port}`
    return await onDatabase(server, async (db) => {
      const began = performance.now()
      const { fixtures, edge_token } = await addPlants(db, { url, history_days })
      const seconds = ((performance.now() - began) / 1000).toFixed(0)
      process.stdout.write(`${history_days} days of history after ${seconds} s\n`)
      return work({ server, program: programs[0]!, url, db, fixtures, edge_token, dir })
    })
  } finally {
    await endAll(programs)
    rmSync(dir, { recursive: true, force: true })
  }
}

async function addPlants(
  db: Database,
  { url, history_days }: { url: string; history_days: number },
): Promise<Pick<SoakPlant, 'fixtures' | 'edge_token'>> {
  const admin = { db, clock: systemClock, randomBytes }
  const parsed = parseSiteFile(readFileSync(site_file, 'utf8'))
  if ('problems' in parsed) throw new Error(`${site_file} is not a site file`)
  const { site } = parsed
  const { client_id } = await createClient(admin, { name: 'Owner', modules })
  const named = { client: 'Owner', site_id: site.site_id, name: site.name }
  await createSite(admin, { ...named, safe_mode: false })
  const fixtures = await addFixtures(db, { site_id: site.site_id, client_id })
  const neighbour = { ...site, site_id: fixtures.sites.foreign }
  const [own, foreign] = await Promise.all(
    [site, neighbour].map(({ site_id }) => createEdge(admin, { site_id, name: 'gateway' })),
  )
  await addPrices(db, site)
  const at = Date.now()
  for (const each of [site, neighbour]) {
    const announcement = { json: JSON.stringify(each), epoch: 'soak', seq: 1, at }
    await db.transaction((tx) => applyInventory(tx, each, announcement))
  }
  await importPast(url, { site, token: own!.token, days: history_days })
  await importPast(url, { site: neighbour, token: foreign!.token, days: 1 })
  await importContracts({ db }, { file: contracts_file, site_id: site.site_id, dry_run: false })
  return { fixtures, edge_token: own!.token }
}

export async function clientOf(db: Database, site_id: string): Promise<number> {
  const [site] = await db.query<{ client_id: number }>(
    'select client_id from sites where site_id = $1',
    [site_id],
  )
  return site!.client_id
}

async function addPrices(db: Database, { timezone, country_code }: Site): Promise<void> {
  const admin = { db, clock: systemClock }
  const { market_code } = await createSimulatedMarket(admin, {
    timezone,
    country_code: country_code ?? null,
  })
  const from = utcDate(systemClock.now().getTime() - price_days * day_ms)
  await fetchMarket(await followMarket(admin, { market_code, source: 'simulated', from }), {
    ...admin,
    log: silent,
    settings: readConfig({}).prices,
    signal: new AbortController().signal,
  })
  // A second market to compare with.
  await db.execute(
    `insert into market_prices (market_code, kind, start_at, revision, end_at, price, source,
       fetched_at)
     select 'AT', kind, start_at, revision, end_at, price + 5, 'csv', fetched_at
     from market_prices where market_code = $1`,
    [market_code],
  )
}

/** Sends the simulated past over the edge link, up to now. */
async function importPast(
  url: string,
  { site, token, days }: { site: Site; token: string; days: number },
): Promise<void> {
  const time_ms = Math.floor(Date.now() / minute_ms) * minute_ms
  const counters = initialCounters(site, time_ms)
  const simulation = createSimulation(site, site_seed)
  const past = historyFrames(simulation, { counters, days })
  await sendFrames(url, { site_id: site.site_id, token, epoch: `history-${time_ms}` }, past)
}

export async function sendFrames(
  url: string,
  to: { site_id: string; token: string; epoch: string; signal?: AbortSignal },
  frames: Iterable<HistoryFrame>,
): Promise<void> {
  await importHistory({
    ...to,
    url: url.replace(/^http/, 'ws'),
    agent_version: 'soak',
    frames: (async function* () {
      yield* frames
    })(),
    clock: systemClock,
    timers: systemTimers,
    random: Math.random,
    log: { ...silent, debug() {} },
  })
}
