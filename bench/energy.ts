/**
 * How long the energy of a month takes: 28 loggers of 50 inverters, hour by hour, asked for by a
 * client in a process of its own, as it is on another machine. Beside it, in turns, a peer: the
 * driver's bare query of the same rows, and JSON.stringify of the same answer.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { storeLoggerDays } from '@heliograph/server/rollups/logger-days'
import { Pool } from 'pg'
import { servedPlant } from './fixtures/served-plant.ts'

const limit_ms = 50
const loggers = 28
const inverters_of_each = 50
const days = 30
const rounds = 10
const requests = 30
const peer_requests = 5
const hour_ms = 3_600_000
const day_ms = 24 * hour_ms

const today = Math.floor(Date.now() / day_ms) * day_ms
const instant = (time_ms: number) => new Date(time_ms).toISOString()
const [start, end] = [instant(today - days * day_ms), instant(today)]
const month = { path: `/energy/hourly?start=${start}&end=${end}`, items: days * loggers }

const plant = await servedPlant({ inverters: loggers * 10, strings: 1 })
const pool = new Pool({ connectionString: plant.url })
const client = fork(fileURLToPath(new URL('fixtures/timing-client.ts', import.meta.url)), [
  String(plant.port),
  plant.authorization,
])
const client_ended = once(client, 'exit').then((): never => {
  throw new Error('the client has ended')
})
client_ended.catch(() => {})
try {
  await addHours()
  const yesterday = instant(today - day_ms)
  const since = instant(Date.now() - 7 * day_ms)
  await measure('hourly energy of a month', month, [start, end, null])
  await measure(
    'summary of a day',
    { path: `/plant/summary?date=${yesterday.slice(0, 10)}`, items: loggers },
    [yesterday, end, null],
  )
  await measure('hourly energy of a logger', { path: '/loggers/1/hourly-energy', items: 7 * 24 }, [
    since,
    instant(Date.now()),
    1,
  ])
} finally {
  client.kill()
  await pool.end()
  await plant.close()
}

async function addHours(): Promise<void> {
  const { db } = plant
  await db.execute(
    `INSERT INTO logger_hours (site_id, logger_id, hour_at, inverter_count, known_count, energy_kwh,
       estimated_energy_kwh, energy_source, sample_count, awake_covered_s, sun_covered_s,
       expected_energy_kwh, curtailment_loss_kwh, insolation_kwh_m2, peak_power_kw, peak_power_at,
       first_production_at, last_production_at)
     SELECT 'plant', id, at, $2, $2, sun * (2000 + 100 * random()), 0, 'inverter_counter', $2 * 180,
       $2 * 3600 * sign(sun), $2 * 3600 * sign(sun), sun * (2100 + 100 * random()), random(), sun,
       sun * 2500 * random(), at, at, at
     FROM generate_series(1, $1::int) AS id,
       generate_series($3::timestamptz, now(), interval '1 hour') AS at,
       LATERAL (SELECT greatest(0, sin((extract(hour FROM at AT TIME ZONE 'UTC') - 5) / 14 * pi()))
         AS sun) AS light`,
    [loggers, inverters_of_each, start],
  )
  const hours = Array.from({ length: days + 1 }, (_, day) =>
    instant(Date.parse(start) + day * day_ms),
  )
  await db.transaction((transaction) => storeLoggerDays(transaction, 'plant', hours))
  await db.execute('VACUUM ANALYZE')
}

interface Asked {
  path: string
  items: number
}

async function measure(
  name: string,
  { path, items }: Asked,
  window: readonly [string, string, number | null],
): Promise<void> {
  const answer = JSON.parse(String(await plant.fetch(path)))
  if (answer.data.length !== items) throw new Error(`${answer.data.length} items of ${items}`)
  const byPeer = async () => {
    await pool.query(
      `SELECT logger_id, hour_at, inverter_count, energy_kwh, estimated_energy_kwh, energy_source,
         awake_covered_s, sun_covered_s, expected_energy_kwh, curtailment_loss_kwh
       FROM logger_hours WHERE site_id = 'plant' AND hour_at >= $1 AND hour_at < $2
         AND ($3::int IS NULL OR logger_id = $3) ORDER BY logger_id, hour_at`,
      [...window],
    )
    return JSON.stringify(answer)
  }
  await askedFor(path, 20)
  await inTurn(byPeer, peer_requests)
  const api: Timed[] = []
  const peer: Timed[] = []
  for (let round = 0; round < rounds; round += 1) {
    api.push(await timed(() => askedFor(path, requests)))
    peer.push(await timed(() => inTurn(byPeer, peer_requests)))
  }
  const p99_ms = at(api, 0.99)
  process.stdout.write(
    `${name}, ${loggers} loggers of ${inverters_of_each} inverters, to a client in another ` +
      `process: p50 ${at(api, 0.5).toFixed(1)} ms, p99 ${p99_ms.toFixed(1)} ms, limit ` +
      `${limit_ms} ms; CPU of the server ${mean(api).toFixed(1)} ms\n` +
      `  bare query and JSON.stringify: p50 ${at(peer, 0.5).toFixed(1)} ms, p99 ` +
      `${at(peer, 0.99).toFixed(1)} ms, CPU ${mean(peer).toFixed(1)} ms; ratio of p50 ` +
      `${(at(api, 0.5) / at(peer, 0.5)).toFixed(2)}\n`,
  )
  if (p99_ms >= limit_ms) process.exitCode = 1
}

/** How long the client waited for each answer, to its last byte, in ms. */
async function askedFor(path: string, times: number): Promise<number[]> {
  client.send({ path: `/v1/sites/plant${path}`, times })
  const [waited_ms] = await Promise.race([once(client, 'message'), client_ended])
  return waited_ms
}

async function inTurn(work: () => Promise<unknown>, times: number): Promise<number[]> {
  const wall_ms: number[] = []
  for (let nth = 0; nth < times; nth += 1) {
    const began = performance.now()
    await work()
    wall_ms.push(performance.now() - began)
  }
  return wall_ms
}

interface Timed {
  wall_ms: number[]
  /** Of this process, all requests together: PostgreSQL and the client are others. */
  cpu_ms: number
}

async function timed(work: () => Promise<number[]>): Promise<Timed> {
  const used = process.cpuUsage()
  const wall_ms = await work()
  const { user, system } = process.cpuUsage(used)
  return { wall_ms, cpu_ms: (user + system) / 1000 }
}

function waits(all: readonly Timed[]): number[] {
  return all.flatMap(({ wall_ms }) => wall_ms)
}

/** CPU time of a request. */
function mean(all: readonly Timed[]): number {
  return all.reduce((sum, { cpu_ms }) => sum + cpu_ms, 0) / waits(all).length
}

function at(all: readonly Timed[], share: number): number {
  const values = waits(all).toSorted((a, b) => a - b)
  return values[Math.ceil(share * values.length) - 1]!
}
