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

interface Waiting {
  resolve(answer: never): void
  reject(error: Error): void
}

/**
 * Starts with the first task and does one at a time. It does not keep the program alive; where it
 * dies, what it was at fails and the next task starts another.
 */
export function createThread(): ForecastThread {
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
    const born = new Worker(new URL('./worker.ts', import.meta.url))
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
        to.postMessage({ id, task })
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
