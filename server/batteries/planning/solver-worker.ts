/** The solver thread: one group of units after the other, each answered by its id. */
import { parentPort } from 'node:worker_threads'
import { loadSolver } from '@heliograph/optimize/solver'
import { planOfGroup } from './group-plan.ts'
import type { SolverReply, SolverTask } from './solver-thread.ts'

const highs = await loadSolver()

parentPort!.on('message', (task: SolverTask) => parentPort!.postMessage(replyTo(task)))

function replyTo({ id, group, time_limit_s }: SolverTask): SolverReply {
  try {
    const began = performance.now()
    const plan = planOfGroup(highs, group, time_limit_s)
    const solve_ms = Math.round((performance.now() - began) * 10) / 10
    return { id, solved: { ...plan, solve_ms, version: highs.version.string } }
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) }
  }
}
