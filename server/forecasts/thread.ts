/** The thread for training and forecasting, which must not delay requests. */
import { createWorkerThread } from '../threads/worker-thread.ts'
import type { Answers, Task } from './tasks.ts'

export interface ForecastThread {
  /** Rejects with the error of the task, or when the thread ends. */
  run<Kind extends keyof Answers>(task: Task & { kind: Kind }): Promise<Answers[Kind]>
  /** Ends the thread, even in the middle of a task. */
  close(): Promise<void>
}

/** Runs one task at a time; `in_background` gives it the lowest priority. */
export function createThread({ in_background = false } = {}): ForecastThread {
  const program = new URL('./worker.ts', import.meta.url)
  const thread = createWorkerThread<Task, never>(program, { name: 'forecast', in_background })
  return {
    run: (task) => thread.run(task, { moved: modelsOf(task) }),
    close: () => thread.close(),
  }
}

/** Models take megabytes and are read for one task only, so they are moved, not copied. */
function modelsOf(task: Task): ArrayBuffer[] {
  if (task.kind === 'train') return movable(task.previous)
  return task.kind === 'predict' ? task.items.flatMap(({ model }) => movable(model)) : []
}

/** A small buffer may be part of a shared pool, which must not be moved. */
function movable(model: Uint8Array | null): ArrayBuffer[] {
  if (model === null || model.buffer.byteLength !== model.byteLength) return []
  return [model.buffer as ArrayBuffer]
}
