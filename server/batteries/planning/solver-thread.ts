/** The thread that plans batteries, so that requests never wait for the solver. */
import type { Timers } from '@heliograph/domain/clock'
import { unavailable } from '../../http/errors.ts'
import { createWorkerThread } from '../../threads/worker-thread.ts'
import type { GroupPlan, GroupTask } from './group-plan.ts'

export interface Solved extends GroupPlan {
  solve_ms: number
  version: string
}

interface SolverThread {
  /** Rejects with the error of the solver, or with 503 after a timeout. */
  solve(group: GroupTask): Promise<Solved>
  close(): Promise<void>
}

export interface SolverTask {
  group: GroupTask
  time_limit_s: number
}

const time_limit_s = 8
/** The solver checks its own time limit; a thread that exceeds this is ended. */
const given_up_ms = 20_000

/** Plans one group at a time, in the background, as requests need the same processors. */
export function createSolverThread({ timers }: { timers: Timers }): SolverThread {
  const program = new URL('./solver-worker.ts', import.meta.url)
  const thread = createWorkerThread<SolverTask, Solved>(program, {
    name: 'solver',
    in_background: true,
    give_up: { after_ms: given_up_ms, timers, error: unavailable },
  })
  return {
    solve: (group) => thread.run({ group, time_limit_s }),
    close: () => thread.close(),
  }
}
