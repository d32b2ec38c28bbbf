/** The forecast thread: one task after the other, each answered by its id. */
import { parentPort } from 'node:worker_threads'
import { perform } from './perform.ts'
import type { Task } from './tasks.ts'
import type { Reply } from './thread.ts'

parentPort!.on('message', ({ id, task }: { id: number; task: Task }) => {
  parentPort!.postMessage(replyTo(id, task))
})

function replyTo(id: number, task: Task): Reply {
  try {
    return { id, answer: perform(task) }
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) }
  }
}
