/** The thread that plans batteries, so that requests never wait for the solver. */
import type { Timers } from '@heliograph/domain/clock'
import { unavailable } from '../../http/errors.ts'
import { createWorkerThread } from '../../threads/worker-thread.ts'
import type { GroupPlan, GroupTask } from './group-plan.ts'

export interface Solved extends GroupPlan {
  solve_ms: number
  /** Of the solver. */
  version: string
}

interface SolverThread {
  /** Throws what the solver threw; 503 where it was given up. */
  solve(group: GroupTask): Promise<Solved>
  /** Ends it, whatever it is at. */
  close(): Promise<void>
}

export interface SolverTask {
  group: GroupTask
  time_limit_s: number
}

const time_limit_s = 8
/** The solver looks at its own limit now and then; one that does not is ended. */
const given_up_ms = 20_000

/** Plans one group at a time and gives way to requests, which need the same processors. */
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
