/** The other side of `createWorkerThread`: what a program that runs as a thread calls, once. */
import os from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { Asked, Cancelled, Reply, ThreadData } from './worker-thread.ts'

/** What `createWorkerThread` was given for it. */
export const threadSettings = <Settings>() => (workerData as ThreadData).settings as Settings

interface AnswerOptions<Answer> {
  /** Memory that goes over to who asked, and is not copied. */
  movedOf?: (answer: Answer) => ArrayBuffer[]
  /** A task does not wait for the ones before it. */
  at_once?: boolean
}

/**
 * Does one task after the other; what one throws is told to who asked, and the next follows. The
 * signal is aborted where nobody waits for the answer any more.
 */
export function answerTasks<Task, Answer>(
  answer: (task: Task, signal: AbortSignal) => Answer | Promise<Answer>,
  { movedOf = () => [], at_once = false }: AnswerOptions<Answer> = {},
): void {
  // Linux alone gives each thread a priority of its own; elsewhere it would be that of the process.
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
