/** Worker threads for tasks that would block the main thread. */
import { Worker } from 'node:worker_threads'
import type { Timers } from '@heliograph/domain/clock'

export interface WorkerThread<Task, Answer> {
  /**
   * Throws the error of the task, or of the thread. The thread receives a copy of the task; buffers
   * in `moved` are transferred. Aborting the signal aborts the signal of the task.
   */
  run(task: Task, given?: { moved?: readonly ArrayBuffer[]; signal?: AbortSignal }): Promise<Answer>
  /** Terminates the thread at once. */
  close(): Promise<void>
}

export interface ThreadOptions {
  /** Name in error messages. */
  name: string
  /** Lowers the priority of the thread; Linux only. */
  in_background?: boolean
  /** Timeout of a task: the thread is terminated and all pending tasks fail with this error. */
  give_up?: { after_ms: number; timers: Timers; error: () => Error }
  /** Passed to the program: see `threadSettings`. */
  settings?: unknown
}

/** Message to the thread: see `answerTasks`. */
export interface Asked<Task> {
  id: number
  task: Task
}

export interface Cancelled {
  /** Id of the task. */
  cancelled: number
}

export type Reply<Answer> = { id: number } & ({ answer: Answer } | { error: string })

export interface ThreadData {
  in_background: boolean
  settings: unknown
}

interface Waiting<Answer> {
  resolve(answer: Answer): void
  reject(error: Error): void
}

/**
 * Starts `program`, which must call `answerTasks`, at the first task. The thread keeps the process
 * alive only during a task. When it dies, pending tasks fail and the next task starts a new thread.
 */
export function createWorkerThread<Task, Answer>(
  program: URL,
  { name, in_background = false, give_up, settings = null }: ThreadOptions,
): WorkerThread<Task, Answer> {
  let worker: Worker | null = null
  let next_id = 0
  let stopTimer = () => {}
  const waiting = new Map<number, Waiting<Answer>>()

  function fail(error: Error) {
    worker = null
    stopTimer()
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }

  async function end(error: Error): Promise<void> {
    const ending = worker
    if (!ending) return
    fail(error)
    await ending.terminate()
  }

  /** Restarted for each task, which begins when the previous one is answered. */
  function startTimer() {
    stopTimer()
    if (!give_up || waiting.size === 0) return
    const { after_ms, timers, error } = give_up
    stopTimer = timers.after(after_ms, () => void end(error()))
  }

  function started(): Worker {
    if (worker) return worker
    const born = new Worker(program, {
      workerData: { in_background, settings } satisfies ThreadData,
    })
    const died = (error: unknown) => {
      if (worker === born) fail(error instanceof Error ? error : new Error(String(error)))
    }
    born.unref()
    born.on('message', (reply: Reply<Answer>) => {
      if (worker !== born) return
      const asked = waiting.get(reply.id)
      waiting.delete(reply.id)
      if (waiting.size === 0) born.unref()
      startTimer()
      if ('error' in reply) asked?.reject(new Error(reply.error))
      else asked?.resolve(reply.answer)
    })
    born.on('error', died)
    born.on('exit', () => died(new Error(`the ${name} thread ended`)))
    worker = born
    return born
  }

  return {
    async run(task, { moved = [], signal } = {}) {
      const to = started()
      const id = next_id
      next_id += 1
      to.postMessage({ id, task } satisfies Asked<Task>, moved)
      const answered = new Promise<Answer>((resolve, reject) => {
        waiting.set(id, { resolve, reject })
      })
      to.ref()
      if (waiting.size === 1) startTimer()
      if (!signal) return answered
      const cancel = () => to.postMessage({ cancelled: id } satisfies Cancelled)
      signal.addEventListener('abort', cancel)
      return answered.finally(() => signal.removeEventListener('abort', cancel))
    },
    close: () => end(new Error(`the ${name} thread was closed`)),
  }
}
