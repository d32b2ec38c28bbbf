/** Sends calls of the API, with retries where they are safe and may help. */
import { errorOf, HeliographError, noAnswer, parsed } from './errors.ts'
import type { Machine, Timers } from './machine.ts'

export interface Retry {
  /** Number of the failed attempt, from 1. */
  attempt: number
  wait_ms: number
  error: HeliographError
  method: string
  url: string
}

export interface Sender {
  machine: Machine
  /** Attempts after the first. */
  retries: number
  /** Longest `Retry-After` to wait for, s. */
  wait_s_max: number
  onRetry: ((retry: Retry) => void) | undefined
}

export interface Call {
  method: string
  url: string
  headers: Headers
  credentials: 'omit' | 'same-origin'
  body: string | null
  signal: AbortSignal | null
  /** Requested type of a file, such as `text/csv`, or any type; null for JSON. */
  file: string | null
}

export interface Answer {
  response: Response
  /** Parsed JSON; undefined for files, which are read from the response. */
  value: unknown
}

const first_wait_ms = 500
const wait_ms_max = 8000

/** Returns the first successful answer. Throws the last error, or the first that no retry helps. */
export async function send(sender: Sender, call: Call): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await attemptOnce(sender.machine, call)
    if (!(answer instanceof HeliographError)) return answer
    const wait_ms = waitAfter(answer, attempt, sender)
    if (wait_ms === null || attempt > sender.retries) throw answer
    const { method, url } = call
    sender.onRetry?.({ attempt, wait_ms, error: answer, method, url })
    await wait(sender.machine.timers, wait_ms, call.signal)
  }
}

async function attemptOnce(machine: Machine, call: Call): Promise<Answer | HeliographError> {
  const { url, file, ...init } = call
  const where = `${call.method} ${url}`
  // Detached, because browsers refuse to call fetch as a method of another object.
  const { fetch } = machine
  try {
    const response = await fetch(url, init)
    const type = response.headers.get('content-type') ?? ''
    if (response.ok && file !== null && (file === '*/*' || type.startsWith(file))) {
      return { response, value: undefined }
    }
    if (response.status === 204) return { response, value: undefined }
    const text = await response.text()
    const value = response.ok && type.startsWith('application/json') ? parsed(text) : undefined
    if (value !== undefined && file === null) return { response, value }
    return errorOf(where, response, text, machine.nowMs())
  } catch (error) {
    if (call.signal?.aborted) throw call.signal.reason
    return noAnswer(where, error)
  }
}

/**
 * Milliseconds until the next attempt; null for no retry. Writes are retried as well: their
 * Idempotency-Key prevents duplicates.
 */
function waitAfter(error: HeliographError, attempt: number, sender: Sender): number | null {
  const { code, status, retry_after_s } = error
  const may_pass =
    code === 'network_error' ||
    code === 'idempotency_in_progress' ||
    [429, 502, 503, 504].includes(status ?? 0)
  if (!may_pass) return null
  if (retry_after_s !== null) return retry_after_s > sender.wait_s_max ? null : retry_after_s * 1000
  // Random, so that clients that failed together do not retry together.
  const bound_ms = Math.min(wait_ms_max, first_wait_ms * 2 ** (attempt - 1))
  return sender.machine.chance() * bound_ms
}

function wait(timers: Timers, wait_ms: number, signal: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const cancel = timers.after(wait_ms, () => {
      signal?.removeEventListener('abort', stop)
      resolve()
    })
    function stop() {
      cancel()
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', stop, { once: true })
  })
}
