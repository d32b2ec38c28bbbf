/**
 * Idempotency-Key on writes. The record is inserted before the write runs and completed in its
 * transaction, so that a command is never repeated and its answer never lost.
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 */
import { hash } from 'node:crypto'
import type { Queries } from '../storage/database.ts'
import { ApiError, invalid } from './errors.ts'
import { canonicalJson } from './json-body.ts'

const expiry_ms = 24 * 3_600_000
/** An unfinished record is locked for this long; then a retry may take it over. */
const lock_ms = 60_000

/** An Idempotency-Key of a caller with the request that it is used for. */
export interface Claim {
  key_id: string
  idempotency_key: string
  fingerprint: Buffer
  /** Id of the attempt. */
  owner: string
}

export interface RecordedAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** The key from the header, a raw token or a quoted structured-field string; null without it. */
export function idempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null
  const text = typeof header === 'string' ? header.trim() : ''
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text)
  const key = quoted ? quoted[1]!.replace(/\\(["\\])/g, '$1') : text
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw invalid({
    location: 'header',
    field: 'Idempotency-Key',
    code: 'invalid_format',
    message: 'must be 1 to 255 visible ASCII characters',
  })
}

/** Digest of method, path, query and body, independent of the order of parameters and fields. */
export function fingerprint(request: { method: string; url: string; body: unknown }): Buffer {
  const [path = '', ...query] = request.url.split('?')
  const parameters = [...new URLSearchParams(query.join('?'))]
    .map((pair) => JSON.stringify(pair))
    .sort()
  const body = request.body === undefined ? '' : canonicalJson(request.body)
  return hash('sha256', JSON.stringify([request.method, path, parameters, body]), 'buffer')
}

/**
 * The recorded answer of the same request, or null when it must be executed. Throws 422
 * `idempotency_conflict` for a different request, and 409 while the first one is running.
 */
export async function recall(db: Queries, claim: Claim, now: Date): Promise<RecordedAnswer | null> {
  const [row] = await db.query<{
    fingerprint: Buffer
    locked_until: Date
    status: number | null
    headers: Record<string, string>
    body: Buffer
  }>(
    `select fingerprint, locked_until, status, headers, body from idempotency_records
      where key_id = $1 and idempotency_key = $2 and created_at > $3`,
    [claim.key_id, claim.idempotency_key, new Date(now.getTime() - expiry_ms)],
  )
  if (row === undefined) return null
  if (!row.fingerprint.equals(claim.fingerprint)) throw new ApiError('idempotency_conflict')
  if (row.status !== null) return { status: row.status, headers: row.headers, body: row.body }
  if (row.locked_until > now) throw inProgress(row.locked_until.getTime() - now.getTime())
  return null
}

/** `left_ms`: time until the record may be taken over. */
function inProgress(left_ms: number): ApiError {
  const retry_after_s = Math.max(1, Math.ceil(left_ms / 1000))
  return new ApiError('idempotency_in_progress', null, { 'retry-after': String(retry_after_s) })
}

/** Remaining lock time of the running attempt; 0 when it has ended. */
async function leftOf(db: Queries, claim: Claim, now: Date): Promise<number> {
  const [row] = await db.query<{ locked_until: Date }>(
    `select locked_until from idempotency_records
      where key_id = $1 and idempotency_key = $2 and status is null`,
    [claim.key_id, claim.idempotency_key],
  )
  return row ? row.locked_until.getTime() - now.getTime() : 0
}

/**
 * Inserts the record, or takes over an expired or abandoned one. Throws 409 when another request
 * holds it.
 */
export async function claimRecord(db: Queries, claim: Claim, now: Date): Promise<void> {
  const made = await db.execute(
    `insert into idempotency_records as r
       (key_id, idempotency_key, fingerprint, owner, locked_until, created_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (key_id, idempotency_key) do update
       set fingerprint = excluded.fingerprint, owner = excluded.owner,
           locked_until = excluded.locked_until, status = null, headers = null, body = null,
           created_at = case when r.created_at <= $7 then excluded.created_at else r.created_at end
     where r.created_at <= $7
        or (r.status is null and r.locked_until <= $6 and r.fingerprint = excluded.fingerprint)`,
    [
      claim.key_id,
      claim.idempotency_key,
      claim.fingerprint,
      claim.owner,
      new Date(now.getTime() + lock_ms),
      now,
      new Date(now.getTime() - expiry_ms),
    ],
  )
  if (made === 0) throw inProgress(await leftOf(db, claim, now))
}

/**
 * Stores the answer. Throws 409 when another attempt took the record over: the transaction of this
 * write is then rolled back, and only the other attempt counts.
 */
export async function completeRecord(
  db: Queries,
  claim: Claim,
  answer: RecordedAnswer,
): Promise<void> {
  const stored = await db.execute(
    `update idempotency_records set status = $4, headers = $5, body = $6
      where key_id = $1 and idempotency_key = $2 and owner = $3 and status is null`,
    [
      claim.key_id,
      claim.idempotency_key,
      claim.owner,
      answer.status,
      JSON.stringify(answer.headers),
      answer.body,
    ],
  )
  if (stored === 0) throw inProgress(0)
}

/** Deletes the record of an attempt without effect, so that the key may be used again. */
export async function releaseRecord(db: Queries, claim: Claim): Promise<void> {
  await db.execute(
    `delete from idempotency_records
      where key_id = $1 and idempotency_key = $2 and owner = $3 and status is null`,
    [claim.key_id, claim.idempotency_key, claim.owner],
  )
}

export async function deleteExpired(db: Queries, now: Date): Promise<void> {
  const before = new Date(now.getTime() - expiry_ms)
  await db.execute('delete from idempotency_records where created_at <= $1', [before])
}
