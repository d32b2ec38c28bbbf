/**
 * `--part neighbours`: a noisy tenant sends heavy requests as fast as one key of the default rate
 * may, while a second tenant reads its overview. A scene passes when the p95 of the overview stays
 * within a ratio of its quiet p95, and no answer is a 5xx. Only the noisy tenant may be refused
 * with the documented 503 of a full queue.
 */

import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { day_ms } from '@heliograph/domain/durations'
import { columnsOf } from '@heliograph/domain/readings'
import { utcDate } from '@heliograph/domain/utc-day'
import { connectEdge, hello } from '@heliograph/server/link/fixtures/edge-client'
import { addKey } from '../conventions/fixtures.ts'
import { type Answered, exchanges } from './exchange.ts'
import { clientOf, type SoakPlant, withPlant } from './plant.ts'
import type { Poll } from './poller.ts'
import { faultsOf, startPoller, watch, wordsOf } from './watch.ts'

/** Largest ratio of the neighbour's p95 to its quiet p95, measured just before. */
const ratio_max = 3
/** Smallest quiet p95 that counts: below it the differences are scheduling noise. */
const quiet_ms_min = 50
const export_ms_max = 5000
const quiet_s = 5
const ramp_s = 2
const settle_s = 3
const in_flight = 24
/** Pause of the noisy tenant after a refusal. `Retry-After` is ignored on purpose. */
const pause_ms = 50
const strangers = 200
/** Pause of each stranger after a 503: the shortest `Retry-After`. */
const stranger_pause_ms = 1000

const say = (text: string) => process.stdout.write(`${text}\n`)

interface Noise {
  plant: SoakPlant
  /** Key of the noisy tenant, at the default rate, unused so far. */
  key: string
  /** Aborted when the scene is over. */
  signal: AbortSignal
  /** Counts an answer to the noisy tenant. */
  count(answer: Pick<Answered, 'status' | 'headers'>): void
}

interface Scene {
  name: string
  make(noise: Noise): Promise<void>
  /** Measures an export of the neighbour as well. */
  exports?: true
}

const ago = (days: number) => utcDate(Date.now() - days * day_ms)

const scenes: readonly Scene[] = [
  {
    name: 'cross-border prices of 400 days',
    make: hammer(() => [
      `/earnings/cross-border-prices?base=DEMO&sold=AT&start=${ago(399)}&end=${ago(0)}`,
    ]),
  },
  {
    name: 'expected power of all strings',
    make: hammer(() =>
      Array.from({ length: 144 }, (_, nth) => {
        const string = `${1 + Math.floor(nth / 12)}/${nth % 12}`
        return `/iv/strings/${string}/expected?start=${ago(8)}T00:00:00Z&limit=5000`
      }),
    ),
  },
  {
    name: 'forecasts of 400 days',
    make: hammer(() => [
      `/predictions/production?start=${ago(390)}T00:00:00Z&end=2999-12-31T00:00:00Z`,
      `/predictions/prices?start=${ago(390)}T00:00:00Z&end=2999-12-31T00:00:00Z`,
      `/predictions/forecast?date=${ago(0)}&refresh=true`,
    ]),
  },
  {
    name: 'rankings, losses and string health',
    make: hammer(() =>
      ['strings', 'inverters', 'loggers', 'health-matrix', 'loss-analysis'].map(
        (name) => `/efficiency/${name}?start=${ago(8)}T00:00:00Z&end=${ago(0)}T00:00:00Z`,
      ),
    ),
  },
  {
    name: 'histories of 10,000 readings',
    make: hammer(() =>
      Array.from(
        { length: 12 },
        (_, nth) => `/strings/inverter/${nth + 1}/history?start=${ago(8)}T00:00:00Z&limit=10000`,
      ),
    ),
  },
  { name: 'exports as CSV', make: hammer(exportPaths, { accept: 'text/csv' }), exports: true },
  { name: 'exports that are read by nobody', make: slowReaders, exports: true },
  { name: 'sign-ins to unknown accounts', make: signIns },
  { name: 'frames of 20,000 rows from an edge', make: bigFrames },
]

function exportPaths(): string[] {
  return Array.from({ length: 12 }, (_, nth) => `/strings/inverter/${nth + 1}/history`).map(
    (path) => `${path}?start=${ago(8)}T00:00:00Z`,
  )
}

/** Requests the paths in turn, `in_flight` at a time. */
function hammer(pathsOf: () => readonly string[], headers: Record<string, string> = {}) {
  return async ({ plant, key, signal, count }: Noise): Promise<void> => {
    const paths = pathsOf()
    const { ask, close } = exchanges(plant.url, in_flight)
    signal.addEventListener('abort', close)
    let turn = 0
    const one = async () => {
      while (!signal.aborted) {
        const path = paths[turn % paths.length]!
        turn += 1
        const sent = { 'accept-encoding': 'gzip', ...headers, authorization: `Bearer ${key}` }
        const url = `/v1/sites/${plant.fixtures.sites.live}${path}`
        const answer = await ask({ method: 'GET', url, headers: sent }).catch(unlessAborted(signal))
        if (!answer) return
        count(answer)
        if (answer.status >= 400) await wait(pause_ms)
      }
    }
    await Promise.all(Array.from({ length: in_flight }, one))
  }
}

const unlessAborted = (signal: AbortSignal) => (error: unknown) => {
  if (signal.aborted) return null
  throw error
}

/** Opens exports and reads none of their bytes. */
async function slowReaders({ plant, key, signal, count }: Noise): Promise<void> {
  const { hostname, port } = new URL(plant.url)
  const one = async (path: string) => {
    while (!signal.aborted) {
      const sent = request({
        hostname,
        port,
        agent: false,
        signal,
        path: `/v1/sites/${plant.fixtures.sites.live}${path}`,
        headers: { accept: 'text/csv', authorization: `Bearer ${key}` },
      })
      sent.end()
      const answered = await once(sent, 'response').catch(unlessAborted(signal))
      if (!answered) return
      const [{ statusCode: status, headers }] = answered
      count({ status, headers })
      if (status === 200) await once(signal, 'abort').catch(() => {})
      else sent.destroy()
      await wait(pause_ms)
    }
  }
  await Promise.all(exportPaths().map(one))
}

/** Each sign-in comes from its own address, by `X-Forwarded-For`. */
async function signIns({ plant, signal, count }: Noise): Promise<void> {
  const { ask, close } = exchanges(plant.url, strangers)
  signal.addEventListener('abort', close)
  let turn = 0
  const one = async () => {
    while (!signal.aborted) {
      turn += 1
      const answer = await ask({
        method: 'POST',
        url: '/platform/auth/sign-in/email',
        headers: {
          'content-type': 'application/json',
          'x-forwarded-for': `10.${(turn >> 16) & 255}.${(turn >> 8) & 255}.${turn & 255}`,
          origin: plant.url,
        },
        payload: JSON.stringify({ email: `nobody-${turn}@example.com`, password: 'x'.repeat(20) }),
      }).catch(unlessAborted(signal))
      if (!answer) return
      count(answer)
      if (answer.status === 503) await wait(stranger_pause_ms)
    }
  }
  await Promise.all(Array.from({ length: strangers }, one))
}

/** Sends string readings; every second frame is invalid. */
async function bigFrames({ plant, signal }: Noise): Promise<void> {
  const columns = columnsOf('string')
  const rowsFrom = (from_ms: number, quality: string) =>
    Array.from({ length: 20_000 }, (_, nth) => {
      const values: Record<string, unknown> = {
        inverter_id: 1 + (nth % 12),
        first_string_index: 0,
        measured_at: from_ms + Math.floor(nth / 12) * 1000,
        quality,
        current_a: Array.from({ length: 12 }, () => 5.25),
        voltage_v: Array.from({ length: 12 }, () => 840.5),
      }
      return columns.map((name) => values[name] ?? null)
    })
  const hour_ms = 3_600_000
  const payloads = ['good', 'nonsense'].map((quality) =>
    JSON.stringify({ string: { columns, rows: rowsFrom(Date.now() - hour_ms, quality) } }),
  )
  const greeting = {
    ...hello,
    site_id: plant.fixtures.sites.live,
    epoch: `noise-${Date.now()}`,
    sent_at: Date.now(),
  }
  const authorization = `Bearer ${plant.edge_token}`
  const edge = await connectEdge(plant.server.port, greeting, { authorization })
  for (let seq = 1; !signal.aborted; seq += 1) {
    const frame = `{"seq":${seq},"kind":"readings","payload":${payloads[seq % 2]}}`
    edge.socket.send(`{"type":"batch","lane":"live","frames":[${frame}]}`)
    await edge.untilAcked(seq)
  }
  edge.socket.close()
  await edge.closed
}

export interface NeighboursOptions {
  /** Length of each scene. */
  seconds: number
  /** Words in the name of the scenes to play; '' plays all. */
  scene: string
  history_days: number
}

/** Returns the number of faults. */
export function neighbours(options: NeighboursOptions): Promise<number> {
  return withPlant(options, async (plant) => {
    const { db, fixtures } = plant
    const own = await clientOf(db, fixtures.sites.live)
    const key = await addKey(db, {
      key_id: 'cccccccccccc',
      client_id: await clientOf(db, fixtures.sites.foreign),
    })
    let faults = 0
    for (const [nth, scene] of scenes.entries()) {
      if (!scene.name.includes(options.scene)) continue
      const noisy_key = await addKey(db, {
        key_id: `dddddddddd${nth.toString(16).padStart(2, '0')}`,
        client_id: own,
        per_minute: null,
      })
      faults += await play(scene, { plant, key, noisy_key, ...options })
    }
    return faults
  })
}

async function play(
  scene: Scene,
  {
    plant,
    key,
    noisy_key,
    seconds,
  }: { plant: SoakPlant; key: string; noisy_key: string; seconds: number },
): Promise<number> {
  const overview = measure(plant, { key, path: '/overview', accept: 'application/json' })
  await wait(quiet_s * 1000)
  const quiet = overview.take()
  const statuses = new Map<number, number>()
  const faults: string[] = []
  const count: Noise['count'] = ({ status, headers }) => {
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status > 503 || (status >= 500 && headers['retry-after'] === undefined)) {
      faults.push(`the noisy tenant got ${status}`)
    }
  }
  const watching = watch({ url: plant.url, pid: plant.program.pid }, () => {})
  const noise = new AbortController()
  const made = scene.make({ plant, key: noisy_key, signal: noise.signal, count })
  made.catch((error: Error) => faults.push(`the noise broke off: ${error.message}`))
  await wait(ramp_s * 1000)
  overview.take()
  const path = '/inverters/1/history?limit=100'
  const file = scene.exports && measure(plant, { key, path, accept: 'text/csv' })
  await wait(seconds * 1000)
  const noisy = overview.take()
  const files = file?.take() ?? null
  noise.abort()
  const seen = await watching.end()
  await made.catch(() => {})
  await Promise.all([overview.end(), file?.end()])
  const bound_ms = ratio_max * Math.max(quiet.p95_ms, quiet_ms_min)
  const ratio = (noisy.p95_ms / quiet.p95_ms).toFixed(1)
  say(
    `${scene.name}: overview of the neighbour p95 ${noisy.p95_ms.toFixed(0)} ms of ` +
      `${noisy.count}, quiet ${quiet.p95_ms.toFixed(0)} ms (× ${ratio}), longest ` +
      `${noisy.longest_ms.toFixed(0)} ms, bound ${bound_ms.toFixed(0)} ms`,
  )
  if (files) say(`  its exports: p95 ${files.p95_ms.toFixed(0)} ms of ${files.count}`)
  const answers = [...statuses].map(([status, times]) => `${status} × ${times}`).join(', ')
  say(`  answers to the noisy tenant: ${answers || 'none'}; ${wordsOf(seen)}`)
  if (noisy.p95_ms > bound_ms || noisy.count === 0) faults.push('the overview takes too long')
  if (files && (files.p95_ms > export_ms_max || files.count === 0)) {
    faults.push('the exports of the neighbour take too long')
  }
  for (const each of [quiet, noisy, ...(files ? [files] : [])]) faults.push(...each.failures)
  faults.push(...faultsOf(seen))
  for (const [fault, times] of tallied(faults)) say(`  FAULT × ${times}: ${fault}`)
  await wait(settle_s * 1000)
  return faults.length
}

function tallied(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

/** Measures a read of the neighbour; `take` returns the results since the last `take`. */
function measure(
  { url, program, fixtures }: SoakPlant,
  { key, path, accept }: { key: string; path: string; accept: string },
) {
  const poller = startPoller({
    address: `${url}/v1/sites/${fixtures.sites.foreign}${path}`,
    headers: { authorization: `Bearer ${key}`, accept, 'accept-encoding': 'gzip' },
    period_ms: 100,
    pid: program.pid,
  })
  let polls: Poll[] = []
  poller.on('message', (poll: Poll) => polls.push(poll))
  return {
    take() {
      const taken = polls.toSorted((a, b) => a.elapsed_ms - b.elapsed_ms)
      polls = []
      return {
        count: taken.length,
        p95_ms: taken[Math.floor(0.95 * (taken.length - 1))]?.elapsed_ms ?? 0,
        longest_ms: taken.at(-1)?.elapsed_ms ?? 0,
        failures: taken
          .filter(({ status }) => status !== 200)
          .map(({ status }) => `the neighbour's ${path} got ${status ?? 'no answer'}`),
      }
    },
    end: () => poller.terminate(),
  }
}
