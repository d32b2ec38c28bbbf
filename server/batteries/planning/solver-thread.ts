/** The thread that plans batteries, so that requests never wait for the solver. */
import { Worker } from 'node:worker_threads'
import type { Timers } from '@heliograph/domain/clock'
import { unavailable } from '../../http/errors.ts'
import type { GroupPlan, GroupTask } from './group-plan.ts'

export interface Solved extends GroupPlan {
  solve_ms: number
  /** Of the solver. */
  version: string
}

export interface SolverThread {
  /** Throws what the solver threw; 503 where it was given up. */
  solve(group: GroupTask): Promise<Solved>
  /** Ends it, whatever it is at. */
  close(): Promise<void>
}

export interface SolverTask {
  id: number
  group: GroupTask
  time_limit_s: number
}

export type SolverReply = { id: number } & ({ solved: Solved } | { error: string })

interface Waiting {
  resolve(solved: Solved): void
  reject(error: Error): void
}

const time_limit_s = 8
/** The solver looks at its own limit now and then; one that does not is ended. */
const given_up_ms = 20_000

/** Starts with the first group and plans one at a time; does not keep the program alive. */
export function createSolverThread({ timers }: { timers: Timers }): SolverThread {
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
    const born = new Worker(new URL('./solver-worker.ts', import.meta.url))
    born.unref()
    born.on('message', (reply: SolverReply) => {
      const asked = waiting.get(reply.id)
      waiting.delete(reply.id)
      if (waiting.size === 0) born.unref()
      if ('error' in reply) asked?.reject(new Error(reply.error))
      else asked?.resolve(reply.solved)
    })
    born.on('error', (error) => {
      if (worker === born) fail(error instanceof Error ? error : new Error(String(error)))
    })
    born.on('exit', () => {
      if (worker === born) fail(new Error('the solver thread ended'))
    })
    worker = born
    return born
  }

  async function end(error: Error): Promise<void> {
    const ending = worker
    if (!ending) return
    fail(error)
    await ending.terminate()
  }

  return {
    solve(group) {
      const to = started()
      const id = next_id
      next_id += 1
      const bound_ms = given_up_ms * (waiting.size + 1)
      const solving = new Promise<Solved>((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        to.ref()
        to.postMessage({ id, group, time_limit_s } satisfies SolverTask)
      })
      const cancel = timers.after(bound_ms, () => void end(unavailable()))
      return solving.finally(cancel)
    },
    close: () => end(new Error('the solver thread was closed')),
  }
}
