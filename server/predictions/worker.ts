/** The forecast thread: one task after the other, each answered by its id. */
import os from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { perform } from './perform.ts'
import type { Task } from './tasks.ts'
import type { Reply, ThreadData } from './thread.ts'

// Linux alone gives each thread a priority of its own; elsewhere it would be that of the server.
if ((workerData as ThreadData).in_background && process.platform === 'linux') {
  os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL)
}

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
