/**
 * Processor time of a round of alerts over many sites of ten inverters with new readings, by one
 * server and shared by two.
 *
 *   node bench/rounds.ts [--sites 200]
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { shareRoundOfAlerts } from '@heliograph/server/alerts/rounds'
import { beginRound } from '@heliograph/server/jobs/site-rounds'
import { applyInventory } from '@heliograph/server/plant/inventory'
import { type Database, openDatabase } from '@heliograph/server/storage/database'
import { benchDatabase, silent } from './fixtures/database.ts'
import { fieldOf } from './fixtures/field.ts'
import { median, tell } from './fixtures/figures.ts'
import { postgresCpuSeconds } from './fixtures/postgres-usage.ts'
import { quickOr } from './fixtures/quick.ts'
import { inverterValues } from './fixtures/served-plant.ts'

const { values: options } = parseArgs({
  options: { sites: { type: 'string', default: quickOr('10', '200') } },
})
const sites = Number(options.sites)
const rounds = quickOr(1, 5)
const inverters = 10
/** 20 s over 1,000 sites. */
const site_ms_max = 20
const shared_ratio_max = 1.2
const least_share_min = 0.4

/** Evaluates due sites as one server, and returns its processor time. */
async function share(db: Database, now: Date): Promise<number> {
  const errors: unknown[] = []
  const log = { ...silent, error: (what: unknown) => void errors.push(what) }
  const used = process.cpuUsage()
  const times = { now: () => now, signal: new AbortController().signal }
  await shareRoundOfAlerts({ db, log }, times)
  if (errors.length > 0) throw new Error('a site could not be evaluated', { cause: errors[0] })
  const { user, system } = process.cpuUsage(used)
  return (user + system) / 1000
}

async function beOther(url: string): Promise<void> {
  const db = await openDatabase({ url, log: silent, application_name: 'bench' })
  process.on('message', async (now_ms: number) => process.send?.(await share(db, new Date(now_ms))))
  process.once('disconnect', () => void db.close())
  process.send?.('ready')
}

const site_ids = Array.from({ length: sites }, (_, nth) => `site-${nth + 1}`)

async function fill(db: Database): Promise<void> {
  await db.execute(`insert into clients (name, modules) values ('owner', '{basic_scada}')`)
  await db.execute(
    `insert into sites (site_id, client_id, name)
     select id, client_id, id from clients, unnest($1::text[]) as id`,
    [site_ids],
  )
  const now = new Date()
  for (const site_id of site_ids) {
    const site = fieldOf({
      site_id,
      ports: [1502],
      units: inverters,
      poll: { inverter_s: 5, string_s: 5 } as never,
      noon_at: now,
      with_instruments: false,
    })
    const frame = { json: JSON.stringify(site), epoch: 'bench', seq: 1, at: now.getTime() }
    await db.transaction((transaction) => applyInventory(transaction, site, frame))
  }
  await db.execute(
    `insert into edges (site_id, edge_id, name, secret_sha256, connected_at, last_seen_at)
     select id, '0123456789ab', 'edge', '', now(), now() from unnest($1::text[]) as id`,
    [site_ids],
  )
  const names = Object.keys(inverterValues)
  const devices = `unnest($1::text[]) as site_id, generate_series(1, ${inverters}) as id`
  await db.execute(
    `insert into inverter_latest (site_id, inverter_id, measured_at, quality, received_at, ${names})
     select site_id, id, now(), 'good', now(), ${Object.values(inverterValues)}
     from ${devices}, lateral (select now() as at) as n`,
    [site_ids],
  )
  await db.execute(
    `insert into device_status (site_id, kind, id, comm_state, since_at, updated_at)
     select site_id, 'inverter', id, 'connected', now(), now() from ${devices}`,
    [site_ids],
  )
  await db.execute('vacuum analyze')
}

async function measure(): Promise<void> {
  await using database = await benchDatabase()
  const { db, url, data_dir } = database
  await fill(db)
  const other = fork(import.meta.filename, process.argv.slice(2))
  other.send(url)
  await once(other, 'message')

  async function round(is_shared: boolean) {
    const now = new Date()
    await db.execute('update edges set last_seen_at = $1', [now])
    await db.execute('update inverter_latest set measured_at = $1, received_at = $1', [now])
    const postgres_s = postgresCpuSeconds(data_dir) ?? Number.NaN
    await beginRound(db, 'evaluate_alerts', site_ids)
    if (is_shared) other.send(now.getTime())
    const ended = is_shared ? once(other, 'message') : [0]
    const own_ms = await share(db, now)
    const [other_ms] = (await ended) as [number]
    const of_postgres_ms = 1000 * ((postgresCpuSeconds(data_dir) ?? Number.NaN) - postgres_s)
    return { own_ms, other_ms, of_postgres_ms, all_ms: own_ms + other_ms + of_postgres_ms }
  }

  const [alone, together]: Awaited<ReturnType<typeof round>>[][] = [[], []]
  for (let nth = -1; nth < rounds; nth += 1) {
    const measured = [await round(false), await round(true)] as const
    if (nth < 0) continue
    alone!.push(measured[0])
    together!.push(measured[1])
  }
  other.disconnect()
  const of = (name: keyof (typeof alone & object)[number]) =>
    median(alone!.map((one) => one[name])) / sites
  tell(
    of('all_ms') <= quickOr(Number.POSITIVE_INFINITY, site_ms_max),
    `a round of alerts over ${sites} sites of ${inverters} inverters with new readings: server ` +
      `${of('own_ms').toFixed(2)} ms a site, PostgreSQL ${of('of_postgres_ms').toFixed(2)}, ` +
      `${of('all_ms').toFixed(2)} together (limit ${site_ms_max})`,
  )
  const ratio = median(together!.map(({ all_ms }, nth) => all_ms / alone![nth]!.all_ms))
  const least = median(
    together!.map(({ own_ms, other_ms }) => Math.min(own_ms, other_ms) / (own_ms + other_ms)),
  )
  tell(
    quickOr(true, ratio <= shared_ratio_max && least >= least_share_min),
    `shared by two servers: ${ratio.toFixed(2)} times the processor time of one (limit ` +
      `${shared_ratio_max}), the smaller share ${(100 * least).toFixed(0)} % (at least ` +
      `${100 * least_share_min})`,
  )
}

if (process.send) {
  const [url] = (await once(process, 'message')) as [string]
  await beOther(url)
} else await measure()
