/**
 * A thread that requests one address periodically and posts the duration of each answer. On an
 * overloaded machine every thread waits for a core, so the time that the server's main thread and
 * this thread waited for a core is reported separately.
 */
import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

export interface PollOrder {
  address: string
  headers: Record<string, string>
  period_ms: number
  /** Process id of the server. */
  pid: number
}

export interface Poll {
  /** Unix ms. */
  at_ms: number
  elapsed_ms: number
  /** Part of `elapsed_ms` spent waiting for a core. */
  core_ms: number
  /** Time that the server's main thread computed meanwhile; 0 on systems without this figure. */
  busy_ms: number
  /** null when the answer is missing or incomplete. */
  status: number | null
}

const { address, headers, period_ms, pid } = workerData as PollOrder
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Times of a thread in ms, with a core and waiting for one; 0 on systems without these figures. */
function timesOf(path: string): { computed_ms: number; waited_ms: number } {
  try {
    const [computed, waited] = readFileSync(path, 'utf8').split(' ')
    return { computed_ms: Number(computed) / 1e6, waited_ms: Number(waited) / 1e6 }
  } catch {
    return { computed_ms: 0, waited_ms: 0 }
  }
}

function timesNow() {
  const server = timesOf(`/proc/${pid}/schedstat`)
  const own = timesOf('/proc/thread-self/schedstat')
  return { core_ms: server.waited_ms + own.waited_ms, busy_ms: server.computed_ms }
}

function ask(): Promise<number | null> {
  return new Promise((resolve) => {
    get(address, { agent, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? null))
      response.on('error', () => resolve(null))
    }).on('error', () => resolve(null))
  })
}

for (;;) {
  const at_ms = Date.now()
  const before = timesNow()
  const began = performance.now()
  const status = await ask()
  const elapsed_ms = performance.now() - began
  const after = timesNow()
  const core_ms = Math.min(elapsed_ms, after.core_ms - before.core_ms)
  const busy_ms = after.busy_ms - before.busy_ms
  parentPort!.postMessage({ at_ms, elapsed_ms, core_ms, busy_ms, status } satisfies Poll)
  await wait(Math.max(0, period_ms - elapsed_ms))
}
