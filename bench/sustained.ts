/**
 * A site of 500 MW on one server with its own PostgreSQL, on two cores with the generator of its
 * readings: 28 loggers, 2,200 inverters, 40,600 strings and 20 met stations, 1,470 rows a second as
 * its edge would send them, roll-ups and jobs on. The lag of acknowledgement must not grow and the
 * memory must stay flat; then the same site is read ever faster until the lag does grow.
 *
 * The link takes readings as of now, so no hour can be played faster than it is. So that the
 * roll-up has as much to do as at any time of a day, the hour before the start is stored beforehand
 * with its marks: what is due every five minutes is a whole hour's readings, and they are summed up
 * while the measurement runs.
 *
 *   node bench/sustained.ts [--minutes 10] [--history-minutes 60]
 */

import { spawnSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { minute_ms } from '@heliograph/domain/durations'
import type { Database } from '@heliograph/server/storage/database'
import { p50p99, quantile, tell } from './fixtures/figures.ts'
import { site_id, storeHistory } from './fixtures/large-site.ts'
import { type Offer, type Offered, startLargeSiteEdge } from './fixtures/large-site-edge.ts'
import { postgresCpuSeconds } from './fixtures/postgres-usage.ts'
import { can_pin, figuresAt, type Program, withPrograms } from './fixtures/programs.ts'
import { quickOr } from './fixtures/quick.ts'
import { enrol, onDatabase, type ServerProgram, startServer } from './fixtures/server-program.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: quickOr('0.1', '10') },
    'history-minutes': { type: 'string', default: quickOr('1', '60') },
  },
})
const measured_ms = Number(options.minutes) * minute_ms
const history_ms = Number(options['history-minutes']) * minute_ms
const warm_up_ms = quickOr(2000, 15_000)
const sample_ms = quickOr(1000, 5000)
const pace_ms = quickOr(2000, 20_000)
const pace_step = Math.SQRT2
const pace_max = quickOr(2, 64)

const rows_per_s_min = 1400
const lag_p99_ms_max = 2000
/** Limit of the ratio of the last minute to the first, for lags above a tenth of a second. */
const lag_ratio_max = 1.5
const lag_ms_small = 100
const depth_max = 2
const rss_mb_max = 512
const rss_slope_mb_min_max = 3
/** A running hour is summed up every five minutes; one round of the site may pass until then. */
const overdue_s_max = 300
/** Limit of the lag at the end of a rate. */
const pace_lag_ms_max = 1000
const pace_min = 2

interface Place extends ServerProgram {
  /** Sends the site at a rate and returns the measured lag. */
  offer(order: Offer): Promise<Offered>
}

interface Sample {
  at: number
  rss_mb: number
  server_cpu_s: number
  postgres_cpu_s: number
}

async function sampleOf({ metrics_port, data_dir }: Place): Promise<Sample> {
  const figures = await figuresAt(metrics_port)
  return {
    at: Date.now(),
    rss_mb: (figures.get('process_resident_memory_bytes') ?? Number.NaN) / 1e6,
    server_cpu_s: figures.get('process_cpu_seconds_total') ?? Number.NaN,
    postgres_cpu_s: postgresCpuSeconds(data_dir) ?? Number.NaN,
  }
}

/** Rows of live readings that the server has stored since its start. */
async function rowsStored({ metrics_port }: Place): Promise<number> {
  return (await figuresAt(metrics_port)).get('heliograph_link_rows_total{lane="live"}') ?? 0
}

interface Rollups {
  /** Hours of inverters and of their strings that were summed up, each as often as it was. */
  summed: number
  due: number
  waiting: number
  /** Age of the oldest mark that is due. */
  overdue_s: number
}

async function rollupsOf(db: Database): Promise<Rollups> {
  const [hours] = await db.query<{ summed: number }>(
    `select coalesce(sum(n_tup_ins + n_tup_upd), 0)::float8 as summed from pg_stat_user_tables
     where relname in ('inverter_hours', 'string_hours')`,
  )
  const [marks] = await db.query<Omit<Rollups, 'summed'>>(
    `select (count(*) filter (where due_at <= now()))::int as due,
       (count(*) filter (where due_at > now()))::int as waiting,
       greatest(0, extract(epoch from now() - min(due_at)))::float8 as overdue_s
     from touched_hours where site_id = $1 and hour_at <= now()`,
    [site_id],
  )
  return { summed: hours!.summed, ...marks! }
}

async function measure(place: Place, db: Database) {
  await place.offer({ pace: 1, for_ms: warm_up_ms })
  const before = { stored: await rowsStored(place), rollups: await rollupsOf(db) }
  const samples: Sample[] = []
  const stop = new AbortController()
  const watching = (async () => {
    while (!stop.signal.aborted) {
      samples.push(await sampleOf(place))
      await wait(sample_ms, undefined, { signal: stop.signal }).catch(() => {})
    }
  })()
  const offered = await place.offer({ pace: 1, for_ms: measured_ms })
  stop.abort()
  await watching
  const rollups = await rollupsOf(db)
  return {
    offered,
    samples,
    stored: (await rowsStored(place)) - before.stored,
    rollups: { ...rollups, summed: rollups.summed - before.rollups.summed },
    load: loadavg()[0]!,
  }
}

type Measured = Awaited<ReturnType<typeof measure>>

/** Lags of the frames that were due in a span of the measurement, ms from its start or end. */
function lagsIn({ lags }: Offered, from_ms: number, to_ms = Number.POSITIVE_INFINITY): number[] {
  const start = lags.reduce((least, [due_at]) => Math.min(least, due_at), Number.POSITIVE_INFINITY)
  return lags
    .filter(([due_at]) => due_at - start >= from_ms && due_at - start < to_ms)
    .map(([, lag_ms]) => lag_ms)
}

/** Slope by least squares, without the first third. */
function slopePerMinute(samples: readonly Sample[]): number {
  const kept = samples.slice(Math.floor(samples.length / 3))
  const mean = (of: (sample: Sample) => number) =>
    kept.reduce((sum, sample) => sum + of(sample), 0) / kept.length
  const [at, rss_mb] = [mean((sample) => sample.at), mean((sample) => sample.rss_mb)]
  const covariance = mean((sample) => (sample.at - at) * (sample.rss_mb - rss_mb))
  return (covariance / mean((sample) => (sample.at - at) ** 2)) * minute_ms
}

function reportRates({ offered, stored }: Measured): void {
  const { rows, depth, lags } = offered
  const rate = (of: number) => ((of * 1000) / measured_ms).toFixed(0)
  tell(
    stored === rows && rows >= (rows_per_s_min * measured_ms) / 1000,
    `offered ${rate(rows)} rows/s (at least ${rows_per_s_min}), stored ${rate(stored)}: ` +
      `${rows - stored} of ${rows} missing (limit 0), in ${lags.length} frames`,
  )
  const first = lagsIn(offered, 0, minute_ms)
  const last = lagsIn(offered, measured_ms - minute_ms)
  const ratio =
    Math.max(lag_ms_small, quantile(last, 0.5)) / Math.max(lag_ms_small, quantile(first, 0.5))
  tell(
    quantile(last, 0.99) <= lag_p99_ms_max && ratio <= lag_ratio_max && depth <= depth_max,
    `due to acknowledged p50/p99 ${p50p99(first)} ms in the first minute, ` +
      `${p50p99(last)} in the ` +
      `last (limit ${lag_p99_ms_max} p99), p50 grown to ${ratio.toFixed(2)} (limit ` +
      `${lag_ratio_max}), most ${quantile(lagsIn(offered, 0), 1)} ms; ${depth} frames under way ` +
      `at the end (limit ${depth_max})`,
  )
}

function reportUse({ offered, samples, load }: Measured): void {
  const [start, end] = [samples[0]!, samples.at(-1)!]
  const share = (of: 'server_cpu_s' | 'postgres_cpu_s') =>
    ((100_000 * (end[of] - start[of])) / (end.at - start.at)).toFixed(0)
  const mean = (of: readonly Sample[]) =>
    of.reduce((sum, { rss_mb }) => sum + rss_mb, 0) / of.length
  const first_mb = mean(samples.filter(({ at }) => at - start.at <= minute_ms))
  const last_mb = mean(samples.filter(({ at }) => end.at - at <= minute_ms))
  const most_mb = Math.max(...samples.map(({ rss_mb }) => rss_mb))
  const slope = slopePerMinute(samples)
  // A minute is too short for a slope.
  const is_flat = measured_ms < 5 * minute_ms || slope <= rss_slope_mb_min_max
  tell(
    most_mb <= rss_mb_max && is_flat,
    `server resident ${first_mb.toFixed(0)} MB in the first minute, ${last_mb.toFixed(0)} in the ` +
      `last, most ${most_mb.toFixed(0)} (limit ${rss_mb_max}); slope ${slope.toFixed(1)} MB/min ` +
      `(limit ${rss_slope_mb_min_max}, of five minutes or more)`,
  )
  const edge = ((100_000 * offered.cpu_s) / measured_ms).toFixed(0)
  tell(
    true,
    `CPU: server ${share('server_cpu_s')} %, PostgreSQL ${share('postgres_cpu_s')} %, generator ` +
      `${edge} % of one core; load of the machine ${load.toFixed(1)}`,
  )
}

function reportRollups({ rollups }: Measured): void {
  const { summed, due, waiting, overdue_s } = rollups
  tell(
    summed > 0 && overdue_s <= overdue_s_max,
    `roll-ups: ${summed} hours of inverters and their strings summed up; marks at the end: ` +
      `${due} due, ${waiting} waiting, the oldest overdue ${overdue_s.toFixed(0)} s (limit ` +
      `${overdue_s_max})`,
  )
}

/** Raises the rate until the lag at its end exceeds a second. */
async function findMost(place: Place): Promise<void> {
  let held = 0
  let failed = ''
  for (let pace = 1; pace <= pace_max && failed === ''; pace *= pace_step) {
    const offered = await place.offer({ pace, for_ms: pace_ms })
    const lag_ms = quantile(lagsIn(offered, pace_ms * 0.75), 0.5)
    const rate = (offered.rows * 1000) / pace_ms
    process.stderr.write(`  ${rate.toFixed(0)} rows/s: lag ${lag_ms.toFixed(0)} ms at the end\n`)
    if (lag_ms <= pace_lag_ms_max) held = rate
    else
      failed = `; at ${rate.toFixed(0)} it grew to ${lag_ms.toFixed(0)} ms in ${pace_ms / 1000} s`
  }
  const least = pace_min * rows_per_s_min
  tell(
    held >= least,
    `sustained ${held.toFixed(0)} rows/s at most (at least ${least})${failed}; load of the ` +
      `machine ${loadavg()[0]!.toFixed(1)}`,
  )
}

async function bench(dir: string, programs: Program[]): Promise<void> {
  const server = await startServer(dir, programs)
  await onDatabase(server, async (db) => {
    const { tokens } = await enrol(db, { site_ids: [site_id], scopes: ['plant:read'] })
    const offer = await startLargeSiteEdge(server.port, tokens[0]!, programs)
    const now = Date.now()
    const stored = await storeHistory(db, new Date(now - history_ms), new Date(now))
    await db.execute('vacuum analyze')
    await db.execute('checkpoint')
    process.stderr.write(`  ${stored} rows of history in ${Date.now() - now} ms\n`)
    const place = { ...server, offer }
    const measured = await measure(place, db)
    reportRates(measured)
    reportUse(measured)
    reportRollups(measured)
    await findMost(place)
  })
}

// Programs started from here on, and their children, have the same two cores.
if (can_pin) spawnSync('taskset', ['-acp', '0,1', String(process.pid)])
await withPrograms(bench)
