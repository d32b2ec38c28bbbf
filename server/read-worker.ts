/** The program of a read thread: the handlers of the API with separate database connections. */
import { systemClock, systemTimers } from '@heliograph/domain/clock'
import { boundedLine } from '@heliograph/domain/log-line'
import { pino } from 'pino'
import { createDeps, type Deps } from './deps.ts'
import { endpoints } from './endpoints.ts'
import { answerWriters } from './http/answer.ts'
import { isForOperator, toApiError } from './http/errors.ts'
import { bytesOf, type Runner, runRead } from './http/execute.ts'
import { export_minutes_max } from './http/export.ts'
import { contentOf } from './http/export-content.ts'
import type {
  ExportTask,
  ReadSettings,
  ReadTask,
  ThreadResult,
  ThreadTask,
} from './read-threads.ts'
import { streamOut } from './storage/copy-out.ts'
import { openDatabase } from './storage/database.ts'
import { runForReader } from './storage/reader.ts'
import { answerTasks, threadSettings } from './threads/answer-tasks.ts'

const { url, connections, log_level, check_answers } = threadSettings<ReadSettings>()
const log = pino({ name: 'server', level: log_level, hooks: { streamWrite: boundedLine } })
const writerOf = answerWriters(check_answers)

let opening: Promise<Map<string, Runner<Deps>>> | null = null

/** Retried at the next read when the database was unreachable. */
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
    endpoints.map((endpoint) => {
      const write = writerOf(endpoint, endpoint.operation_id)
      return [endpoint.operation_id, { ...shared, endpoint, write }]
    }),
  )
}

async function runnerOf({ operation_id }: ReadTask): Promise<Runner<Deps>> {
  const runner = (await runners()).get(operation_id)
  if (!runner) throw new Error(`there is no ${operation_id}`)
  return runner
}

async function answerTask(task: ThreadTask, gone: AbortSignal): Promise<ThreadResult> {
  try {
    if ('ended_export_id' in task) return endExport(task.ended_export_id)
    if ('export_id' in task) return { part: await nextPart(task, gone) }
    const runner = await runnerOf(task)
    const request = { ...task.request, body: undefined }
    const answer = await runForReader(gone, () => runRead(runner, request))
    const { status, headers, text, faults } = answer
    return { status, headers, bytes: owned(bytesOf(text)), ...(faults && { faults }) }
  } catch (error) {
    const known = toApiError(error)
    const { code, details, headers } = known
    if (code !== 'internal_error') {
      if (isForOperator(known, error)) log.error({ err: error }, 'failed')
      return { refusal: { code, details, headers } }
    }
    throw error instanceof Error ? new Error(error.stack ?? error.message) : error
  }
}

/** A copy in its own memory, which can be transferred to the main thread. */
const owned = (bytes: Buffer) => new Uint8Array(bytes)

interface Export {
  parts: AsyncIterator<Buffer>
  end(): void
}

const exports = new Map<number, Promise<Export>>()

async function nextPart(
  task: { export_id: number; opens?: ExportTask },
  gone: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (task.opens) exports.set(task.export_id, openExport(task.opens))
  const opened = exports.get(task.export_id)
  if (!opened) throw new Error('the export thread was restarted during an export')
  const { parts, end } = await opened
  if (gone.aborted) end()
  gone.addEventListener('abort', end)
  try {
    const { value, done } = await parts.next()
    return done ? null : owned(value)
  } finally {
    gone.removeEventListener('abort', end)
  }
}

async function openExport(task: ExportTask): Promise<Export> {
  const { endpoint, db, needs } = await runnerOf(task)
  const ended = new AbortController()
  const { signal } = ended
  return runForReader(signal, async () => {
    const rows = await endpoint.exports!({ ...task.request, body: undefined } as never, needs)
    const { bytes } = streamOut(db, unhurried(signal), (tx) =>
      contentOf(endpoint, task.format, rows, tx),
    )
    return { parts: bytes[Symbol.asyncIterator](), end: () => ended.abort() }
  })
}

/** The main thread bounds the duration of exports and aborts slow readers. */
const unhurried = (signal: AbortSignal) => ({
  timeout_ms: export_minutes_max * 60_000,
  patience: { wait_ms: export_minutes_max * 60_000, bytes_min: 0 },
  timers: systemTimers,
  signal,
})

function endExport(export_id: number): ThreadResult {
  const opened = exports.get(export_id)
  exports.delete(export_id)
  opened?.then(
    ({ end }) => end(),
    // The failed opening was reported to its task.
    () => {},
  )
  return { part: null }
}

function movedOf(result: ThreadResult): ArrayBuffer[] {
  if ('bytes' in result) return [result.bytes.buffer]
  return 'part' in result && result.part ? [result.part.buffer] : []
}

answerTasks(answerTask, { movedOf, at_once: true })
