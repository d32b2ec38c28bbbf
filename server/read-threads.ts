/** Threads that compute heavy reads, so that no computation of theirs delays other requests. */
import { ApiError, type ErrorCode } from './http/errors.ts'
import type { Answer, AnyRequest } from './http/execute.ts'
import { heavy_reads_at_once } from './http/heavy-reads.ts'
import type { Reading } from './http/serve-options.ts'
import { createWorkerThread } from './threads/worker-thread.ts'

export interface ReadSettings {
  /** Of the database: each thread has connections of its own. */
  url: string
  log_level: string
}

/** A read, without what cannot cross into a thread. */
export interface ReadTask {
  operation_id: string
  request: Omit<AnyRequest, 'body'>
}

export type ReadResult =
  | { status: number; headers: Readonly<Record<string, string>>; bytes: Uint8Array<ArrayBuffer> }
  | { refusal: Pick<ApiError, 'details' | 'headers'> & { code: ErrorCode } }

export interface ReadThreads extends Reading {
  close(): Promise<void>
}

/** Starts a thread when a read finds no idle one that runs. */
export function createReadThreads(settings: ReadSettings): ReadThreads {
  const program = new URL('./read-worker.ts', import.meta.url)
  const options = { name: 'read', in_background: true, settings }
  const threads = Array.from({ length: heavy_reads_at_once }, () =>
    createWorkerThread<ReadTask, ReadResult>(program, options),
  )
  const idle = [...threads]
  return {
    async read(operation_id, { body: _, ...request }, gone) {
      // The newest idle one: those that were never needed are not started.
      const thread = idle.pop()
      if (!thread) throw new Error('more heavy reads at once than threads')
      try {
        return answerOf(await thread.run({ operation_id, request }, { signal: gone }))
      } catch (error) {
        throw gone.aborted ? gone.reason : error
      } finally {
        idle.push(thread)
      }
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.close()))
    },
  }
}

function answerOf(result: ReadResult): Answer {
  if ('refusal' in result) {
    const { code, details, headers } = result.refusal
    throw new ApiError(code, details, headers)
  }
  const { status, headers, bytes } = result
  return { status, headers, text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) }
}
