/**
 * The audit log of writes: caller, time, request and answer. An executed write is logged in its own
 * transaction, a refused one before its answer is sent. Not logged: requests without a valid key or
 * an accessible site, requests above the rate limit, and replays or concurrent duplicates. Writes
 * to no site are logged for the client.
 */

import type { Clock } from '@heliograph/domain/clock'
import { day_ms } from '@heliograph/domain/durations'
import type { Log, Queries } from '../storage/database.ts'
import { nextIdOf } from '../storage/site-ids.ts'
import { key_pattern } from './authenticate.ts'
import type { Caller } from './endpoint.ts'
import type { ApiError, ErrorCode } from './errors.ts'
import type { Admission } from './gate.ts'
import type { Claim } from './idempotency.ts'

export interface AuditedRequest {
  /** null for a write to the client. */
  site_id: string | null
  caller: Pick<Caller, 'key_id' | 'key_name' | 'client_id'>
  method: string
  url: string
  /** undefined when absent or not parsed. */
  body: unknown
  request_id: string
  /** Network address of the caller. */
  address: string
  idempotency_key: string | null
}

interface GivenAnswer {
  status: number
  /** Empty for no body. */
  text: string | Buffer
}

/** The audited parts of a request; null for reads, and without a known caller and site. */
export function auditedRequest(request: {
  admission: Admission | null
  claim: Claim | null
  method: string
  url: string
  body: unknown
  id: string
  ip: string
}): AuditedRequest | null {
  const { admission, claim, method, url, body } = request
  if (!admission || method === 'GET' || method === 'HEAD') return null
  const { caller } = admission.principal
  if (!admission.site && caller.role === undefined) return null
  return {
    site_id: admission.site?.site_id ?? null,
    caller,
    method,
    url,
    body,
    request_id: request.id,
    address: request.ip.slice(0, 64),
    idempotency_key: claim?.idempotency_key ?? null,
  }
}

const text_characters_max = 4096
const kept_days = 400

const unnoted: ReadonlySet<ErrorCode> = new Set([
  'missing_api_key',
  'invalid_api_key',
  'expired_api_key',
  'revoked_api_key',
  'rate_limited',
  'idempotency_in_progress',
])

/** A 503 without a reason means that the database is unreachable. */
const isDatabaseGone = ({ code, details }: Pick<ApiError, 'code' | 'details'>) =>
  code === 'service_unavailable' && details === null

/** Logs a write; `answer` is null while pending. Returns the audit id for `auditAnswer`. */
export async function auditWrite(
  db: Queries,
  { site_id, caller, ...write }: AuditedRequest,
  at: Date,
  answer: GivenAnswer | null,
): Promise<string> {
  const [table, of, next_id] =
    site_id === null
      ? ['client_audit (client_id', caller.client_id, nextIdOf('client', '$1::integer::text')]
      : ['write_audit (site_id', site_id, nextIdOf('site', '$1')]
  const [noted] = await db.query<{ audit_id: string }>(
    `insert into ${table}, audit_id, at, key_id, key_name, method, path, body, status, answer,
       request_id, address, idempotency_key)
     values ($1, ${next_id}, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning audit_id::text`,
    [
      of,
      at,
      caller.key_id,
      caller.key_name,
      write.method,
      pathOf(write.url),
      write.body === undefined ? null : kept(JSON.stringify(write.body, hidden)),
      answer?.status ?? null,
      storedAnswer(answer),
      write.request_id,
      write.address,
      write.idempotency_key && kept(write.idempotency_key),
    ],
  )
  return noted!.audit_id
}

/** Adds the answer of a pending write. */
export async function auditAnswer(
  db: Queries,
  { site_id, audit_id }: { site_id: string; audit_id: string },
  answer: GivenAnswer,
): Promise<void> {
  await db.execute(
    'update write_audit set status = $3, answer = $4 where site_id = $1 and audit_id = $2',
    [site_id, audit_id, answer.status, storedAnswer(answer)],
  )
}

/** Logs a refused write. A failure to log does not change the answer. */
export async function auditRefusal(
  { db, clock, log }: { db: Queries; clock: Clock; log: Log },
  asked: AuditedRequest,
  refusal: GivenAnswer & Pick<ApiError, 'code' | 'details'>,
): Promise<void> {
  if (unnoted.has(refusal.code) || isDatabaseGone(refusal)) return
  await auditWrite(db, asked, clock.now(), refusal).catch((error) => {
    log.error({ err: error, request_id: asked.request_id }, 'a refused write could not be audited')
  })
}

/** The path below `/v1/sites/{site_id}` with its query; secrets are masked. */
function pathOf(url: string): string {
  const [path, query] = [url.split('?', 1)[0]!, url.slice(url.indexOf('?') + 1)]
  const given = path === url ? [] : [...new URLSearchParams(query)]
  const shown = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, secret_name.test(name) ? '***' : value]),
  )
  const asked = path.replace(/^\/v1\/sites\/[^/]*/, '') || '/'
  return kept(given.length > 0 ? `${asked}?${shown}` : asked)
}

const storedAnswer = (answer: GivenAnswer | null) =>
  answer === null || answer.text === '' ? null : kept(String(answer.text))

const secret_name = /password|token|secret|api_?key|authorization/i

/** Masks secrets in bodies. */
const hidden = (name: string, value: unknown) =>
  secret_name.test(name) && typeof value === 'string' ? '…' : value

const secret_pattern = new RegExp(key_pattern.source.replace(/^\^|\$$/g, ''), 'gi')

/** Truncates text and masks the secrets of API keys in it. */
function kept(text: string): string {
  const open = text.replace(secret_pattern, 'svc_live_$1_…')
  return open.length > text_characters_max ? `${open.slice(0, text_characters_max)}…` : open
}

/** Deletes entries older than the retention. */
export async function deleteOldWrites(db: Pick<Queries, 'execute'>, now: Date): Promise<void> {
  const before = new Date(now.getTime() - kept_days * day_ms)
  await db.execute(
    `delete from write_audit a using sites s where a.site_id = s.site_id and a.at < $1`,
    [before],
  )
  await db.execute('delete from client_audit where at < $1', [before])
}
