/** Worker threads for heavy reads, so that their computation does not delay other requests. */
import type { AnswerCheck } from './http/answer.ts'
import { ApiError, type ErrorCode } from './http/errors.ts'
import type { Answer, AnyRequest } from './http/execute.ts'
import { exports_max } from './http/export.ts'
import type { ExportFormat } from './http/export-rows.ts'
import { heavy_reads_at_once } from './http/heavy-reads.ts'
import type { AnswerFaults } from './http/repair-answer.ts'
import type { ExportedText, Reading } from './http/serve-options.ts'
import { createWorkerThread, type WorkerThread } from './threads/worker-thread.ts'

export interface ReadSettings {
  /** URL of the database; each thread has its own connections. */
  url: string
  connections: number
  log_level: string
  check_answers: AnswerCheck
}

/** The parts of a read that can be sent to a thread. */
export interface ReadTask {
  operation_id: string
  request: Omit<AnyRequest, 'body'>
}

export type ExportTask = ReadTask & { format: ExportFormat }

export type ThreadTask =
  | ReadTask
  /** Opens an export and returns its first part. */
  | { export_id: number; opens: ExportTask }
  /** Returns the next part. Fails when a new thread has replaced the one that opened the export. */
  | { export_id: number }
  | { ended_export_id: number }

export type ThreadResult =
  | {
      status: number
      headers: Readonly<Record<string, string>>
      bytes: Uint8Array<ArrayBuffer>
      faults?: AnswerFaults
    }
  | { refusal: Pick<ApiError, 'details' | 'headers'> & { code: ErrorCode } }
  /** null at the end. */
  | { part: Uint8Array<ArrayBuffer> | null }

type Thread = WorkerThread<ThreadTask, ThreadResult>

export interface ReadThreads extends Reading {
  close(): Promise<void>
}

/** Handlers run up to two queries at once. */
const connections_of_reads = 2

/** A pool of lazily started threads for reads, and one thread for all exports. */
export function createReadThreads(settings: Omit<ReadSettings, 'connections'>): ReadThreads {
  const program = new URL('./read-worker.ts', import.meta.url)
  const startedWith = (name: string, connections: number): Thread =>
    createWorkerThread(program, {
      name,
      in_background: true,
      settings: { ...settings, connections } satisfies ReadSettings,
    })
  const threads = Array.from({ length: heavy_reads_at_once }, () =>
    startedWith('read', connections_of_reads),
  )
  const exporting = startedWith('export', exports_max.in_all)
  const idle = [...threads]
  let export_count = 0
  return {
    async read(operation_id, request, gone) {
      // The last used thread, so that further threads are started only when needed.
      const thread = idle.pop()
      if (!thread) throw new Error('more heavy reads at once than threads')
      try {
        const result = await thread.run(taskOf(operation_id, request), { signal: gone })
        return answerOf(result)
      } catch (error) {
        throw gone.aborted ? gone.reason : error
      } finally {
        idle.push(thread)
      }
    },
    export(operation_id, order) {
      export_count += 1
      return partsOf(exporting, export_count, operation_id, order)
    },
    async close() {
      await Promise.all([...threads, exporting].map((thread) => thread.close()))
    },
  }
}

const taskOf = (operation_id: string, { body: _, ...request }: AnyRequest): ReadTask => ({
  operation_id,
  request,
})

function answerOf(result: ThreadResult): Answer {
  if (!('bytes' in result)) throw refusalOf(result)
  const { bytes, ...answer } = result
  return { ...answer, text: bufferOf(bytes) }
}

/** Requests each part when the previous one was consumed. */
async function* partsOf(
  thread: Thread,
  export_id: number,
  operation_id: string,
  { wanted, format, gone }: ExportedText,
): AsyncGenerator<Buffer> {
  let task: ThreadTask = { export_id, opens: { ...taskOf(operation_id, wanted), format } }
  try {
    for (;;) {
      const result: ThreadResult = await thread.run(task, { signal: gone })
      if (!('part' in result)) throw refusalOf(result)
      if (result.part === null) return
      yield bufferOf(result.part)
      task = { export_id }
    }
  } finally {
    // The thread may have died, which ends the export too.
    thread.run({ ended_export_id: export_id }).catch(() => {})
  }
}

function refusalOf(result: ThreadResult): Error {
  if (!('refusal' in result)) return new Error('unexpected answer of the thread')
  const { code, details, headers } = result.refusal
  return new ApiError(code, details, headers)
}

const bufferOf = (bytes: Uint8Array<ArrayBuffer>) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
