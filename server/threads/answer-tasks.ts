/** The worker side of `createWorkerThread`. */
import os from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { Asked, Cancelled, Reply, ThreadData } from './worker-thread.ts'

/** The `settings` given to `createWorkerThread`. */
export const threadSettings = <Settings>() => (workerData as ThreadData).settings as Settings

interface AnswerOptions<Answer> {
  /** Buffers of the answer to transfer instead of copying. */
  movedOf?: (answer: Answer) => ArrayBuffer[]
  /** Runs tasks concurrently instead of one after the other. */
  at_once?: boolean
}

/**
 * Answers the tasks of the main thread, by default one after the other; call it once. Errors reject
 * the task on the main thread. The signal aborts when the answer is no longer needed.
 */
export function answerTasks<Task, Answer>(
  answer: (task: Task, signal: AbortSignal) => Answer | Promise<Answer>,
  { movedOf = () => [], at_once = false }: AnswerOptions<Answer> = {},
): void {
  // Only Linux has priorities per thread; elsewhere this would lower the whole process.
  if ((workerData as ThreadData).in_background && process.platform === 'linux') {
    os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL)
  }
  const under_way = new Map<number, AbortController>()
  const reply = (reply: Reply<Answer>, moved: ArrayBuffer[] = []) =>
    parentPort!.postMessage(reply, moved)
  const answerOne = async ({ id, task }: Asked<Task>, signal: AbortSignal) => {
    try {
      const given = await answer(task, signal)
      reply({ id, answer: given }, movedOf(given))
    } catch (error) {
      reply({ id, error: error instanceof Error ? error.message : String(error) })
    } finally {
      under_way.delete(id)
    }
  }
  let last_answered = Promise.resolve()
  parentPort!.on('message', (asked: Asked<Task> | Cancelled) => {
    if ('cancelled' in asked) return under_way.get(asked.cancelled)?.abort()
    const cancel = new AbortController()
    under_way.set(asked.id, cancel)
    const before = at_once ? Promise.resolve() : last_answered
    last_answered = before.then(() => answerOne(asked, cancel.signal))
  })
}
