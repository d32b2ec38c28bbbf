/** The other side of `createWorkerThread`: what a program that runs as a thread calls, once. */
import os from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { Asked, Reply, ThreadData } from './worker-thread.ts'

/** Does one task after the other; what one throws is told to who asked, and the next follows. */
export function answerTasks<Task, Answer>(answer: (task: Task) => Answer | Promise<Answer>): void {
  // Linux alone gives each thread a priority of its own; elsewhere it would be that of the process.
  if ((workerData as ThreadData).in_background && process.platform === 'linux') {
    os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL)
  }
  const reply = (reply: Reply<Answer>) => parentPort!.postMessage(reply)
  const answerOne = async ({ id, task }: Asked<Task>) => {
    try {
      reply({ id, answer: await answer(task) })
    } catch (error) {
      reply({ id, error: error instanceof Error ? error.message : String(error) })
    }
  }
  let last_answered = Promise.resolve()
  parentPort!.on('message', (asked: Asked<Task>) => {
    last_answered = last_answered.then(() => answerOne(asked))
  })
}
