/** One request to a webhook, signed by Standard Webhooks. https://www.standardwebhooks.com */
import { lookup } from 'node:dns/promises'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Webhook } from 'standardwebhooks'
import { AddressRefused, addressOf, type Network, type Resolve } from './addresses.ts'

const timeout_ms = 15_000
const answer_bytes_max = 1024

interface Outgoing {
  url: string
  /** The same in each attempt. */
  message_id: string
  /** The newest first; each signs. */
  secrets: readonly string[]
  body: string
  at: Date
}

export interface Sent {
  duration_ms: number
  status: number | null
  /** The first kilobyte of the answer; null without one. */
  answer: string | null
  /** null for a status 2XX. */
  failure: string | null
}

export interface SendSettings {
  networks: readonly Network[]
  resolve?: Resolve
  timeout_ms?: number
}

export const resolveAll: Resolve = (host) => lookup(host, { all: true })

/** Sends a message. Never throws: what failed is part of the result. */
export async function send(outgoing: Outgoing, settings: SendSettings): Promise<Sent> {
  const began_ms = performance.now()
  const result = await attempt(outgoing, settings).catch((error: Error) => ({
    status: null,
    answer: null,
    failure: failureOf(error),
  }))
  return { ...result, duration_ms: Math.round(performance.now() - began_ms) }
}

function failureOf(error: Error & { code?: string }): string {
  if (error instanceof AddressRefused) return error.message
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'no answer in time'
  return error.code ?? error.message
}

async function attempt(
  { url: text, message_id, secrets, body, at }: Outgoing,
  { networks, resolve = resolveAll, timeout_ms: limit_ms = timeout_ms }: SendSettings,
): Promise<Omit<Sent, 'duration_ms'>> {
  const signal = AbortSignal.timeout(limit_ms)
  const url = new URL(text)
  const checked = await inTime(addressOf(url, { resolve, networks }), signal)
  const signatures = secrets.map((secret) => new Webhook(secret).sign(message_id, at, body))
  const start = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((settle, reject) => {
    const request = start(url, {
      method: 'POST',
      // A connection that is kept would not be checked again.
      agent: false,
      signal,
      lookup: (_host, { all }, found) =>
        all ? found(null, [checked]) : found(null, checked.address, checked.family),
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'Heliograph',
        'webhook-id': message_id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': signatures.join(' '),
      },
    })
    request.once('error', reject)
    request.once('response', (response) => {
      const status = response.statusCode!
      const parts: Buffer[] = []
      let bytes = 0
      const done = () => {
        const answer = Buffer.concat(parts).subarray(0, answer_bytes_max).toString()
        settle({ status, answer: answer.replaceAll('\0', ''), failure: statusFailure(status) })
        request.destroy()
      }
      response.on('data', (part: Buffer) => {
        parts.push(part)
        bytes += part.length
        if (bytes >= answer_bytes_max) done()
      })
      response.once('end', done)
      response.once('error', reject)
    })
    request.end(body)
  })
}

function statusFailure(status: number): string | null {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? 'redirects are not followed' : `status ${status}`
}

function inTime<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    work.then(resolve, reject)
  })
}
