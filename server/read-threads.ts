/** Threads that compute heavy reads, so that no computation of theirs delays other requests. */

import type { AnswerCheck } from './http/answer.ts'
import { ApiError, type ErrorCode } from './http/errors.ts'
import type { Answer, AnyRequest } from './http/execute.ts'
import { exports_max } from './http/export.ts'
import type { ExportFormat } from './http/export-rows.ts'
import { heavy_reads_at_once } from './http/heavy-reads.ts'
import type { AnswerFaults } from './http/mend-answer.ts'
import type { ExportedText, Reading } from './http/serve-options.ts'
import { createWorkerThread, type WorkerThread } from './threads/worker-thread.ts'

export interface ReadSettings {
  /** Of the database: each thread has connections of its own. */
  url: string
  connections: number
  log_level: string
  check_answers: AnswerCheck
}

/** A read, without what cannot cross into a thread. */
export interface ReadTask {
  operation_id: string
  request: Omit<AnyRequest, 'body'>
}

export type ExportTask = ReadTask & { format: ExportFormat }

export type ThreadTask =
  | ReadTask
  /** Opens an export, and answers its first part. */
  | { export_id: number; opens: ExportTask }
  /** The next part. Fails in a thread that did not open the export. */
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

/** A handler asks two things at once. */
const connections_of_reads = 2

/** Starts a thread when a read finds no idle one that runs; all exports share one. */
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
      // The newest idle one: those that were never needed are not started.
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

/** Each part is asked for once the one before it was taken. */
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
    // A thread that has died has ended it.
    thread.run({ ended_export_id: export_id }).catch(() => {})
  }
}

function refusalOf(result: ThreadResult): Error {
  if (!('refusal' in result)) return new Error('the thread answered something else')
  const { code, details, headers } = result.refusal
  return new ApiError(code, details, headers)
}

const bufferOf = (bytes: Uint8Array<ArrayBuffer>) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
