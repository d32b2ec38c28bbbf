/** The program of a read thread: the handlers of the API, on database connections of its own. */
import { systemClock } from '@heliograph/domain/clock'
import { boundedLine } from '@heliograph/domain/log-line'
import { pino } from 'pino'
import { createDeps, type Deps } from './deps.ts'
import { endpoints } from './endpoints.ts'
import { answerWriters } from './http/answer.ts'
import { toApiError } from './http/errors.ts'
import { bytesOf, type Runner, runRead } from './http/execute.ts'
import type { ReadResult, ReadSettings, ReadTask } from './read-threads.ts'
import { openDatabase } from './storage/database.ts'
import { runForReader } from './storage/reader.ts'
import { answerTasks, threadSettings } from './threads/answer-tasks.ts'

/** A handler asks two things at once. */
const connections = 2

const { url, log_level } = threadSettings<ReadSettings>()
const log = pino({ name: 'server', level: log_level, hooks: { streamWrite: boundedLine } })
const writerOf = answerWriters('values')

let opening: Promise<Map<string, Runner<Deps>>> | null = null

/** Tries again at the next read when the database was unreachable. */
function runners(): Promise<Map<string, Runner<Deps>>> {
  opening ??= open().catch((error) => {
    opening = null
    throw error
  })
  return opening
}

async function open(): Promise<Map<string, Runner<Deps>>> {
  const application_name = 'heliograph-server-read'
  const db = await openDatabase({ url, log, application_name, max: connections })
  const needs = createDeps(db, systemClock)
  const shared = { needs, db, clock: systemClock, log }
  return new Map(
    endpoints
      .filter(({ heavy }) => heavy)
      .map((endpoint) => {
        const write = writerOf(endpoint, endpoint.operation_id)
        return [endpoint.operation_id, { ...shared, endpoint, write }]
      }),
  )
}

async function read({ operation_id, request }: ReadTask, gone: AbortSignal): Promise<ReadResult> {
  try {
    const runner = (await runners()).get(operation_id)
    if (!runner) throw new Error(`${operation_id} is no heavy read`)
    const answer = await runForReader(gone, () => runRead(runner, { ...request, body: undefined }))
    const { status, headers, text } = answer
    // Memory of its own, so that it can move to the main thread.
    return { status, headers, bytes: new Uint8Array(bytesOf(text)) }
  } catch (error) {
    const { code, details, headers } = toApiError(error)
    if (code !== 'internal_error') return { refusal: { code, details, headers } }
    throw error instanceof Error ? new Error(error.stack ?? error.message) : error
  }
}

answerTasks(read, (result) => ('bytes' in result ? [result.bytes.buffer] : []))
