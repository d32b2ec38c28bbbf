/** Runs endpoints. A write runs in one transaction with its recorded answer and its audit entry. */
import type { Clock } from '@heliograph/domain/clock'
import type { Database, Log, Queries } from '../storage/database.ts'
import type { WriteAnswer } from './answer.ts'
import type { Encoding } from './compression.ts'
import type { Endpoint, Request, WriteParts } from './endpoint.ts'
import { type ApiError, errorCatalog, errorText, toApiError } from './errors.ts'
import { FileAnswer } from './file-answer.ts'
import {
  type Claim,
  claimRecord,
  completeRecord,
  type RecordedAnswer,
  releaseRecord,
} from './idempotency.ts'
import { type AnswerFaults, refusedFault } from './repair-answer.ts'
import { type AuditedRequest, auditAnswer, auditRefusal, auditWrite } from './write-audit.ts'

export interface Answer {
  status: number
  headers: Readonly<Record<string, string>>
  /** Empty for no body. A buffer contains UTF-8. */
  text: string | Buffer
  /** Cached compressed bytes of a constant text. */
  compressed?: (encoding: Encoding) => Promise<Buffer>
  /** Values that broke the schema, if any. */
  faults?: AnswerFaults
}

export type AnyRequest = Request<unknown, unknown, unknown>

export interface Runner<Needs> {
  endpoint: Endpoint<Needs>
  needs: Needs
  write: WriteAnswer
  db: Database
  clock: Clock
  log: Log
}

export async function runRead<Needs>(runner: Runner<Needs>, request: AnyRequest): Promise<Answer> {
  const { endpoint, needs } = runner
  const value = await endpoint.handle(request as never, needs)
  return endpoint.file_types ? fileOf(endpoint, value) : answerOf(runner, request, value)
}

function answerOf<Needs>(
  { endpoint, write }: Runner<Needs>,
  { site }: AnyRequest,
  value: unknown,
): Answer {
  const { status = 200, location } = endpoint
  const { text, faults } = write(value)
  return {
    status,
    headers: location ? { location: `/v1/sites/${site.site_id}${location(value as never)}` } : {},
    text: status === 204 ? '' : text,
    ...(faults && { faults }),
  }
}

function fileOf({ operation_id, file_types }: Endpoint<never>, value: unknown): Answer {
  if (!(value instanceof FileAnswer)) throw new Error(`${operation_id} answered with no file`)
  const [media_type = ''] = value.headers['content-type']!.split(';')
  if (!file_types!.includes(media_type)) throw new Error(`${operation_id}: ${media_type}`)
  return { status: 200, headers: value.headers, text: value.bytes }
}

type WriteRequest = AnyRequest & Omit<WriteParts, 'tx' | 'idempotency_key'>

interface WriteRecords {
  claim: Claim | null
  /** null for anonymous callers, whose writes are not audited. */
  asked: AuditedRequest | null
}

/**
 * Runs a write and adds it to the audit log. With an Idempotency-Key, the record is inserted first
 * and completed in the transaction of the write, or with the answer of `settle`. A failed attempt
 * leaves no record, except for `conflict_state`, which counts as executed.
 */
export async function runWrite<Needs>(
  runner: Runner<Needs>,
  request: WriteRequest,
  records: WriteRecords,
): Promise<Answer> {
  const { claim, asked } = records
  if (claim === null) return runOnce(runner, request, records)
  await claimRecord(runner.db, claim, runner.clock.now())
  try {
    return await runOnce(runner, request, records)
  } catch (error) {
    const known = toApiError(error)
    if (known.code === 'conflict_state') {
      const answer = errorAnswer(known, request.request_id)
      await record(runner.db, claim, answer)
      const { code, details } = known
      if (asked) await auditRefusal(runner, asked, { code, details, ...answer })
      return answer
    }
    await releaseRecord(runner.db, claim).catch((cause) => {
      // The lock of the record expires; the client must receive the original error.
      runner.log.warn({ err: cause }, 'an unfinished idempotency record could not be deleted')
    })
    throw error
  }
}

async function runOnce<Needs>(
  runner: Runner<Needs>,
  request: WriteRequest,
  { claim, asked }: WriteRecords,
): Promise<Answer> {
  const { endpoint, needs, db, clock } = runner
  const { answer, audit_id } = await db.transaction(async (tx) => {
    const idempotency_key = asked?.idempotency_key ?? null
    const value = await endpoint.handle({ ...request, tx, idempotency_key } as never, needs)
    const answer = answerOf(runner, request, value)
    if (claim && !endpoint.settle) await record(tx, claim, answer)
    const noted = endpoint.shown_once ? { ...answer, text: '' } : answer
    const audit_id = asked
      ? await auditWrite(tx, asked, clock.now(), endpoint.settle ? null : noted)
      : ''
    return { answer, audit_id }
  })
  return endpoint.settle ? settle(runner, request, { claim, audit_id }) : answer
}

/** Waits for the effect of a committed write. A failure to settle is its final answer too. */
async function settle<Needs>(
  runner: Runner<Needs>,
  request: AnyRequest,
  { claim, audit_id }: { claim: Claim | null; audit_id: string },
): Promise<Answer> {
  const { endpoint, needs, db, log } = runner
  let answer: Answer
  try {
    answer = answerOf(runner, request, await endpoint.settle!(request as never, needs))
  } catch (error) {
    log.error({ err: error, request_id: request.request_id }, 'a write did not settle')
    answer = errorAnswer(toApiError(error), request.request_id)
  }
  if (claim) {
    await record(db, claim, answer).catch((error) => {
      // The record stays unfinished. When its lock expires, a retry runs the repeatable write
      // again.
      log.error({ err: error, request_id: request.request_id }, 'an answer could not be recorded')
    })
  }
  await auditAnswer(db, { site_id: request.site.site_id, audit_id }, answer).catch((error) => {
    log.error({ err: error, request_id: request.request_id }, 'an answer could not be audited')
  })
  return answer
}

export function errorAnswer(error: ApiError, request_id: string): Answer {
  const { status } = errorCatalog[error.code]
  const faults = refusedFault(error)
  const text = errorText(error, request_id)
  return { status, headers: error.headers, text, ...(faults && { faults }) }
}

export const bytesOf = (text: string | Buffer) =>
  typeof text === 'string' ? Buffer.from(text) : text

function record(db: Queries, claim: Claim, answer: Answer): Promise<void> {
  const { status, headers, text } = answer
  return completeRecord(db, claim, { status, headers: { ...headers }, body: bytesOf(text) })
}

export const replayed = ({ status, headers, body }: RecordedAnswer): Answer => ({
  status,
  headers: { ...headers, 'idempotent-replayed': 'true' },
  text: body.toString('utf8'),
})
