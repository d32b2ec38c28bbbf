/**
 * Who asked for which write, when, and what the answer was: one row for each write that was carried
 * out, in its own transaction, and for each that was refused, before its answer is sent. Left out
 * is what has no key or no site that the key sees, what came too fast, and what executes nothing
 * because the same request did or does: replays and duplicates under way. What belongs to a client
 * and to none of its sites is noted of the client.
 */
import type { Clock } from '@heliograph/domain/clock'
import { day_ms } from '@heliograph/domain/utc-day'
import type { Log, Queries } from '../storage/database.ts'
import { key_pattern } from './authenticate.ts'
import type { Caller } from './endpoint.ts'
import type { ApiError, ErrorCode } from './errors.ts'
import type { Admission } from './gate.ts'
import type { Claim } from './idempotency.ts'

/** A write as it was asked. */
export interface AskedWrite {
  /** null: of the client. */
  site_id: string | null
  caller: Pick<Caller, 'key_id' | 'key_name' | 'client_id'>
  method: string
  /** As in the request line. */
  url: string
  /** undefined: none, or not read. */
  body: unknown
  request_id: string
  /** The network address that asked. */
  address: string
  idempotency_key: string | null
}

/** '' where it has no body. */
interface GivenAnswer {
  status: number
  text: string | Buffer
}

/** What of a request is noted; null where it is no write, or key or site are not known. */
export function askedWrite(request: {
  admission: Admission | null
  claim: Claim | null
  method: string
  url: string
  body: unknown
  id: string
  ip: string
}): AskedWrite | null {
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

/** A 503 without a reason: there is no database to note it in. */
const isDatabaseGone = ({ code, details }: Pick<ApiError, 'code' | 'details'>) =>
  code === 'service_unavailable' && details === null

/** `answer` is null where it is yet to come. Returns what `noteAnswer` needs. */
export async function noteWrite(
  db: Queries,
  { site_id, caller, ...write }: AskedWrite,
  at: Date,
  answer: GivenAnswer | null,
): Promise<string> {
  const [table, of] =
    site_id === null
      ? ['client_audit (client_id', caller.client_id]
      : ['write_audit (site_id', site_id]
  const [noted] = await db.query<{ audit_id: string }>(
    `insert into ${table}, at, key_id, key_name, method, path, body, status, answer, request_id,
       address, idempotency_key)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning audit_id::text`,
    [
      of,
      at,
      caller.key_id,
      caller.key_name,
      write.method,
      pathOf(write.url),
      write.body === undefined ? null : kept(JSON.stringify(write.body, hidden)),
      answer?.status ?? null,
      keptAnswer(answer),
      write.request_id,
      write.address,
      write.idempotency_key && kept(write.idempotency_key),
    ],
  )
  return noted!.audit_id
}

/** The answer of a write that was noted without one. */
export async function noteAnswer(
  db: Queries,
  { site_id, audit_id }: { site_id: string; audit_id: string },
  answer: GivenAnswer,
): Promise<void> {
  await db.execute(
    'update write_audit set status = $3, answer = $4 where site_id = $1 and audit_id = $2',
    [site_id, audit_id, answer.status, keptAnswer(answer)],
  )
}

/** A refusal is answered as it is, also where it could not be noted. */
export async function noteRefusal(
  { db, clock, log }: { db: Queries; clock: Clock; log: Log },
  asked: AskedWrite,
  refusal: GivenAnswer & Pick<ApiError, 'code' | 'details'>,
): Promise<void> {
  if (unnoted.has(refusal.code) || isDatabaseGone(refusal)) return
  await noteWrite(db, asked, clock.now(), refusal).catch((error) => {
    log.error({ err: error, request_id: asked.request_id }, 'a refused write could not be noted')
  })
}

/** What follows `/v1/sites/{site_id}`, with the query. */
function pathOf(url: string): string {
  const [path, query] = [url.split('?', 1)[0]!, url.slice(url.indexOf('?') + 1)]
  const given = path === url ? [] : [...new URLSearchParams(query)]
  const shown = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, secret_name.test(name) ? '***' : value]),
  )
  const asked = path.replace(/^\/v1\/sites\/[^/]*/, '') || '/'
  return kept(given.length > 0 ? `${asked}?${shown}` : asked)
}

const keptAnswer = (answer: GivenAnswer | null) =>
  answer === null || answer.text === '' ? null : kept(String(answer.text))

const secret_name = /password|token|secret|api_?key|authorization/i

/** What was sent to a wrong place is a secret all the same. */
const hidden = (name: string, value: unknown) =>
  secret_name.test(name) && typeof value === 'string' ? '…' : value

const secret_pattern = new RegExp(key_pattern.source.replace(/^\^|\$$/g, ''), 'gi')

/** Cut to its length, and without the secret of a key that someone put where none belongs. */
function kept(text: string): string {
  const open = text.replace(secret_pattern, 'svc_live_$1_…')
  return open.length > text_characters_max ? `${open.slice(0, text_characters_max)}…` : open
}

/** Forgets what is older than it need be known. */
export async function forgetWrites(db: Pick<Queries, 'execute'>, now: Date): Promise<void> {
  const before = new Date(now.getTime() - kept_days * day_ms)
  await db.execute(
    `delete from write_audit a using sites s where a.site_id = s.site_id and a.at < $1`,
    [before],
  )
  await db.execute('delete from client_audit where at < $1', [before])
}
