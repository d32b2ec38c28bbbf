/** The thread that trains and predicts, so that requests never wait for either. */
import { Worker } from 'node:worker_threads'
import type { Answers, Task } from './tasks.ts'

export interface ForecastThread {
  /** Throws what the task threw, or that the thread ended. */
  run<Kind extends keyof Answers>(task: Task & { kind: Kind }): Promise<Answers[Kind]>
  /** Ends it, whatever it is at. */
  close(): Promise<void>
}

export type Reply = { id: number } & ({ answer: unknown } | { error: string })

export interface ThreadData {
  in_background: boolean
}

interface Waiting {
  resolve(answer: never): void
  reject(error: Error): void
}

/**
 * Starts with the first task and does one at a time. It does not keep the program alive; where it
 * dies, what it was at fails and the next task starts another. In the background it gives way to
 * all else where processors are short.
 */
export function createThread({ in_background = false } = {}): ForecastThread {
  let worker: Worker | null = null
  let next_id = 0
  const waiting = new Map<number, Waiting>()

  function fail(error: Error) {
    worker = null
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }

  function started(): Worker {
    if (worker) return worker
    const workerData: ThreadData = { in_background }
    const born = new Worker(new URL('./worker.ts', import.meta.url), { workerData })
    born.unref()
    born.on('message', (reply: Reply) => {
      const asked = waiting.get(reply.id)
      waiting.delete(reply.id)
      if (waiting.size === 0) born.unref()
      if ('error' in reply) asked?.reject(new Error(reply.error))
      else asked?.resolve(reply.answer as never)
    })
    born.on('error', (error) => {
      if (worker === born) fail(error instanceof Error ? error : new Error(String(error)))
    })
    born.on('exit', () => {
      if (worker === born) fail(new Error('the forecast thread ended'))
    })
    worker = born
    return born
  }

  return {
    run(task) {
      const to = started()
      const id = next_id
      next_id += 1
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        to.ref()
        to.postMessage({ id, task }, modelsOf(task))
      })
    },
    async close() {
      const ending = worker
      if (!ending) return
      fail(new Error('the forecast thread was closed'))
      await ending.terminate()
    },
  }
}

/** Models of megabytes, read for this task alone: they move into the thread and are not copied. */
function modelsOf(task: Task): ArrayBuffer[] {
  if (task.kind === 'train') return movable(task.previous)
  return task.kind === 'predict' ? task.items.flatMap(({ model }) => movable(model)) : []
}

/** A small one may share its memory with others, and stays. */
function movable(model: Uint8Array | null): ArrayBuffer[] {
  if (model === null || model.buffer.byteLength !== model.byteLength) return []
  return [model.buffer as ArrayBuffer]
}
