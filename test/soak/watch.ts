/** Watches a server from outside: stalls of `/healthz`, and resident memory. */
import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { Poll, PollOrder } from './poller.ts'

export const stall_ms_max = 250
/** Resident memory of the server's process, without PostgreSQL. */
export const memory_mb_max = 1500
/** Allowed growth from the second to the last fifth of a run of at least five minutes. */
const growth = { share: 0.25, mb: 100, seconds_min: 300 } as const
const sample_ms = 1000
const poll_ms = 50

export interface Stall {
  from_ms: number
  to_ms: number
  /** Duration without the time in which server and watcher waited for a core. */
  stalled_ms: number
  /** Time that the server's main thread computed meanwhile. */
  busy_ms: number
}

export interface Watch {
  /** Stalls over `stall_ms_max`. */
  stalls: Stall[]
  failures: string[]
  polls: number
  elapsed_ms: { p50: number; p99: number; longest: number }
  memory_mb: { early: number; late: number; peak: number; seconds: number }
}

export interface Watching {
  end(): Promise<Watch>
}

export const startPoller = (order: PollOrder) =>
  new Worker(new URL('./poller.ts', import.meta.url), { workerData: order })

/** Calls `onStall` after each stall over `stall_ms_max`. */
export function watch(
  { url, pid }: { url: string; pid: number },
  onStall: (stall: Stall) => void,
): Watching {
  const order: PollOrder = { address: `${url}/healthz`, headers: {}, period_ms: poll_ms, pid }
  const poller = startPoller(order)
  const stalls: Stall[] = []
  const failures: string[] = []
  const all_ms: number[] = []
  const memory_mb: number[] = []
  let longest = 0
  poller.on('message', ({ at_ms, elapsed_ms, core_ms, busy_ms, status }: Poll) => {
    all_ms.push(elapsed_ms)
    if (status !== 200) failures.push(`/healthz: ${status ?? 'no answer'} at ${at_ms}`)
    const stalled_ms = elapsed_ms - core_ms
    longest = Math.max(longest, stalled_ms)
    if (stalled_ms <= stall_ms_max) return
    const stall = { from_ms: at_ms, to_ms: at_ms + elapsed_ms, stalled_ms, busy_ms }
    stalls.push(stall)
    onStall(stall)
  })
  poller.on('error', (error: Error) => failures.push(`the watcher failed: ${error.message}`))
  const sampling = setInterval(() => memory_mb.push(residentMb(pid)), sample_ms)
  return {
    async end() {
      clearInterval(sampling)
      await poller.terminate()
      all_ms.sort((a, b) => a - b)
      const at = (share: number) => all_ms[Math.floor(share * (all_ms.length - 1))] ?? 0
      return {
        stalls,
        failures,
        polls: all_ms.length,
        elapsed_ms: { p50: at(0.5), p99: at(0.99), longest },
        memory_mb: {
          early: medianOfFifth(memory_mb, 1),
          late: medianOfFifth(memory_mb, 4),
          peak: Math.max(0, ...memory_mb),
          seconds: memory_mb.length,
        },
      }
    },
  }
}

/** Returns the faults of what was watched, in words. */
export function faultsOf({ stalls, failures, memory_mb }: Watch): string[] {
  const { early, late, peak, seconds } = memory_mb
  const faults = [...failures]
  if (stalls.length > 0) {
    const longest = Math.max(...stalls.map(({ stalled_ms }) => stalled_ms))
    faults.push(`${stalls.length} stalls over ${stall_ms_max} ms, up to ${longest.toFixed(0)} ms`)
  }
  if (peak > memory_mb_max) faults.push(`${peak.toFixed(0)} MB of memory, over ${memory_mb_max}`)
  const late_max = early * (1 + growth.share) + growth.mb
  if (seconds >= growth.seconds_min && late > late_max) {
    faults.push(`memory grew from ${early.toFixed(0)} to ${late.toFixed(0)} MB`)
  }
  return faults
}

export function wordsOf({ polls, elapsed_ms, memory_mb }: Watch): string {
  const { p50, p99, longest } = elapsed_ms
  const { early, late, peak } = memory_mb
  return (
    `/healthz ${polls} times: p50 ${p50.toFixed(0)}, p99 ${p99.toFixed(0)}, longest ` +
    `${longest.toFixed(0)} ms without waiting for a core; memory early ${early.toFixed(0)}, ` +
    `late ${late.toFixed(0)}, peak ${peak.toFixed(0)} MB`
  )
}

function medianOfFifth(values: readonly number[], nth: number): number {
  const size = values.length / 5
  const part = values.slice(Math.floor(nth * size), Math.ceil((nth + 1) * size))
  return part.toSorted((a, b) => a - b)[part.length >> 1] ?? 0
}

function residentMb(pid: number): number {
  const [, kb] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kb) / 1024
}
