/** The dispatch problem as rows and columns, without the goals of `goals.ts`. */
import { addConnection } from './connection-columns.ts'
import type { DispatchModel } from './dispatch-model.ts'
import type { DispatchProblem } from './dispatch-problem.ts'
import { LinearProgram } from './linear-program.ts'
import { addUnit } from './unit-columns.ts'

export function createModel(problem: DispatchProblem): DispatchModel {
  const model: DispatchModel = {
    program: new LinearProgram(),
    problem,
    units: [],
    feed_in: [],
    taken: [],
    spilled: [],
    pairs: [],
    slacks: [],
    wear: [],
  }
  for (const unit of problem.units) addUnit(model, unit)
  for (const nth of problem.periods.keys()) addConnection(model, nth)
  return model
}
