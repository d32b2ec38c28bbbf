/** A thread for what would keep requests waiting: it is given tasks and does one at a time. */
import { Worker } from 'node:worker_threads'
import type { Timers } from '@heliograph/domain/clock'

export interface WorkerThread<Task, Answer> {
  /**
   * Throws what the task threw, or why there is no answer. The thread gets a copy of the task, but
   * for the memory in `moved`, which goes over to it. Where the signal is aborted the task is told,
   * and ends as it may.
   */
  run(task: Task, given?: { moved?: readonly ArrayBuffer[]; signal?: AbortSignal }): Promise<Answer>
  /** Ends it, whatever it is at. */
  close(): Promise<void>
}

export interface ThreadOptions {
  /** What it is called in errors. */
  name: string
  /** Gives way to all else where processors are short; on Linux, elsewhere it does not. */
  in_background?: boolean
  /** A task may take so long; then the thread is ended, and all it was asked for has this error. */
  give_up?: { after_ms: number; timers: Timers; error: () => Error }
  /** Whatever the program needs from its start: see `threadSettings`. */
  settings?: unknown
}

/** What goes into the thread, and what comes back: see `answerTasks`. */
export interface Asked<Task> {
  id: number
  task: Task
}

export interface Cancelled {
  /** The id of what was asked. */
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
 * Starts `program`, which is to call `answerTasks`, with the first task. Does not keep the process
 * alive but while it is at a task; where it dies, what it was asked for fails and the next task
 * starts another.
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

  /** Anew for each task, which begins when the one before it is answered. */
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
