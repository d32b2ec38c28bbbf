/** The thread that trains and predicts, so that requests never wait for either. */
import { createWorkerThread } from '../threads/worker-thread.ts'
import type { Answers, Task } from './tasks.ts'

export interface ForecastThread {
  /** Throws what the task threw, or that the thread ended. */
  run<Kind extends keyof Answers>(task: Task & { kind: Kind }): Promise<Answers[Kind]>
  /** Ends it, whatever it is at. */
  close(): Promise<void>
}

/** Does one task at a time; in the background it gives way to all else. */
export function createThread({ in_background = false } = {}): ForecastThread {
  const program = new URL('./worker.ts', import.meta.url)
  const thread = createWorkerThread<Task, never>(program, { name: 'forecast', in_background })
  return {
    run: (task) => thread.run(task, { moved: modelsOf(task) }),
    close: () => thread.close(),
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
