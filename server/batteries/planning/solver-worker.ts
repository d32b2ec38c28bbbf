/** The solver thread: plans groups of units one by one. */
import { loadSolver } from '@heliograph/optimize/solver'
import { answerTasks } from '../../threads/answer-tasks.ts'
import { planOfGroup } from './group-plan.ts'
import type { Solved, SolverTask } from './solver-thread.ts'

const highs = await loadSolver()

answerTasks(({ group, time_limit_s }: SolverTask): Solved => {
  const began = performance.now()
  const plan = planOfGroup(highs, group, time_limit_s)
  const solve_ms = Math.round((performance.now() - began) * 10) / 10
  return { ...plan, solve_ms, version: highs.version.string }
})
