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
  /** null when the answer is missing or incomplete. */
  status: number | null
}

const { address, headers, period_ms, pid } = workerData as PollOrder
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Time in ms that a thread was runnable without a core; 0 on systems without this figure. */
function waitedForCore(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}
const waitedBoth = () =>
  waitedForCore(`/proc/${pid}/schedstat`) + waitedForCore('/proc/thread-self/schedstat')

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
  const waited_before = waitedBoth()
  const began = performance.now()
  const status = await ask()
  const elapsed_ms = performance.now() - began
  const core_ms = Math.min(elapsed_ms, waitedBoth() - waited_before)
  parentPort!.postMessage({ at_ms, elapsed_ms, core_ms, status } satisfies Poll)
  await wait(Math.max(0, period_ms - elapsed_ms))
}
