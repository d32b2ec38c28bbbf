/**
 * Latency of the list of 1,000 sites of ten inverters with their status: a page of 50, and all
 * sites. Then the first list after more than five seconds without one, which waits until the
 * database was read.
 *
 *   node bench/portfolio.ts [--sites 1000]
 */
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { elapsedMs, quantile, tell, tellLatency, timesOf } from './fixtures/figures.ts'
import { postgresCpuSeconds } from './fixtures/postgres-usage.ts'
import { quickOr } from './fixtures/quick.ts'
import { inverterValues, servedPlant } from './fixtures/served-plant.ts'

const { values: options } = parseArgs({
  options: { sites: { type: 'string', default: quickOr('20', '1000') } },
})
const sites = Number(options.sites)
const inverters = 10
const page_ms_max = 30
const all_ms_max = 100
const requests = quickOr(3, 300)
const rare_requests = quickOr(1, 5)
/** The list is never older than five seconds. */
const pause_ms = 5100

await using plant = await servedPlant({ inverters, strings: 1 })
const { db, port, authorization } = plant
await db.execute(`
  insert into sites (site_id, client_id, name, inventory)
  select 'site-' || nth, client_id, 'Site ' || nth, inventory
  from sites, generate_series(2, ${sites}) as nth;
  insert into loggers
  select (jsonb_populate_record(l, jsonb_build_object('site_id', s.site_id))).*
  from loggers l, sites s where s.site_id <> 'plant';
  insert into inverters
  select (jsonb_populate_record(i, jsonb_build_object('site_id', s.site_id))).*
  from inverters i, sites s where s.site_id <> 'plant';
  insert into strings
  select (jsonb_populate_record(t, jsonb_build_object('site_id', s.site_id))).*
  from strings t, sites s where s.site_id <> 'plant'`)
const names = Object.keys(inverterValues)
await db.execute(
  `insert into inverter_latest (site_id, inverter_id, measured_at, quality, received_at, ${names})
   select site_id, inverter_id, now(), 'good', now(), ${Object.values(inverterValues)}
   from inverters, lateral (select now() as at, inverter_id as id) as n`,
)
await db.execute(
  `insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
     source_type, source_id, started_at, detected_at, last_seen_at, created_at, updated_at)
   select site_id, n, 'door_open', 'A door is open', 'Open.', 'security', 'major', 'active', 'node',
     'ts-1', now(), now(), now(), now(), now()
   from sites, generate_series(1, 3) as n`,
)
await db.execute(
  `insert into site_status
   select site_id, 900, now(), current_date, 4000, 4000, 4100, now(), current_date, 'UTC', 210.5,
     'EUR', now()
   from sites`,
)
await db.execute('vacuum analyze')

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
async function list(query: string) {
  const request = get({
    host: '127.0.0.1',
    port,
    agent,
    path: `/v1/sites?${query}`,
    headers: { authorization },
  })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks)
  if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${text}`)
  return text
}

const { data, meta } = JSON.parse(String(await list('include=status')))
if (data.length !== sites || meta.totals.power_site_count !== sites) throw new Error('sites lack')

const page = () => list('include=status&sort=name&limit=50&q=site')
tellLatency(
  `page of 50 of ${sites} sites with status`,
  await timesOf(page, { rounds: requests, warmings: 20 }),
  page_ms_max,
)
tellLatency(
  `all ${sites} sites with status, ${((await list('include=status')).length / 1e6).toFixed(2)} MB`,
  await timesOf(() => list('include=status'), { rounds: requests, warmings: 20 }),
  all_ms_max,
)
const [rare_ms, processor_ms]: [number[], number[]] = [[], []]
for (let nth = 0; nth < rare_requests; nth += 1) {
  await wait(pause_ms)
  const [used, postgres_s] = [process.cpuUsage(), postgresCpuSeconds(plant.data_dir) ?? Number.NaN]
  rare_ms.push(await elapsedMs(() => list('include=status')))
  const { user, system } = process.cpuUsage(used)
  const of_postgres_s = (postgresCpuSeconds(plant.data_dir) ?? Number.NaN) - postgres_s
  processor_ms.push((user + system) / 1000 + 1000 * of_postgres_s)
}
tell(
  quantile(rare_ms, 0.5) <= quickOr(Number.POSITIVE_INFINITY, all_ms_max),
  `the same, the first list in ${pause_ms / 1000} s: median ` +
    `${quantile(rare_ms, 0.5).toFixed(0)} ms, limit ${all_ms_max} ms; processor time of server, ` +
    `client and PostgreSQL ${quantile(processor_ms, 0.5).toFixed(0)} ms`,
)
agent.destroy()
