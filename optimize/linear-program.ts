/**
 * A linear programme: columns with costs and bounds, rows that bound sums of them. Minimised by
 * HiGHS.
 */
import type { Highs } from 'highs'

interface Column {
  cost: number
  lower: number
  upper: number
}

export type Term = readonly [column: number, coefficient: number]

export class LinearProgram {
  readonly columns: Column[] = []
  readonly rows: { terms: readonly Term[]; lower: number; upper: number }[] = []
  /** Columns that are 0 or 1. */
  readonly binaries = new Set<number>()

  /** Returns the index of the column in `row` and `Solution.values`. */
  column(column: Partial<Column> = {}): number {
    this.columns.push({ cost: 0, lower: 0, upper: Number.POSITIVE_INFINITY, ...column })
    return this.columns.length - 1
  }

  binary(): number {
    const column = this.column({ upper: 1 })
    this.binaries.add(column)
    return column
  }

  /** Bounds the sum of coefficient × column; each column at most once. */
  row(terms: readonly Term[], { lower = -Infinity, upper = Infinity }): void {
    this.rows.push({ terms, lower, upper })
  }

  cost(values: ArrayLike<number>): number {
    return this.columns.reduce((sum, { cost }, nth) => sum + cost * values[nth]!, 0)
  }
}

/** Columns added after the values count as 0. */
export const totalOf = (terms: readonly Term[], values: ArrayLike<number>) =>
  terms.reduce((sum, [column, coefficient]) => sum + coefficient * (values[column] ?? 0), 0)

interface Solution {
  status: 'optimal' | 'feasible' | 'infeasible' | 'timeout'
  /** By column; null if none was found. */
  values: Float64Array | null
  bound: number
  solve_s: number
}

export interface SolveOptions {
  time_limit_s: number
  gap: number
  /** Binary columns of a known solution to start from. */
  start?: ReadonlyMap<number, number>
}

/** @throws {Error} if the solver rejects the programme */
export function solve(
  highs: Highs,
  program: LinearProgram,
  { time_limit_s, gap, start = new Map() }: SolveOptions,
): Solution {
  const { constants } = highs
  const is_mixed = program.binaries.size > 0
  return highs.withModel(modelData(highs, program), (model): Solution => {
    model.options.set({
      output_flag: false,
      time_limit: Math.max(0, time_limit_s),
      ...(is_mixed && { mip_rel_gap: 0, mip_abs_gap: gap, mip_feasibility_tolerance: 1e-9 }),
    })
    if (start.size > 0) {
      const indices = Int32Array.from(start.keys())
      model.setSolution({ indices, values: Float64Array.from(start.values()) })
    }
    model.run()
    const solve_s = model.getRunTime()
    const found = model.getModelStatus()
    const { optimal, infeasible, unboundedOrInfeasible, timeLimit } = constants.modelStatus
    if (found === infeasible || found === unboundedOrInfeasible) {
      return { status: 'infeasible', values: null, bound: Number.POSITIVE_INFINITY, solve_s }
    }
    if (found !== optimal && found !== timeLimit) {
      throw new Error(`the solver ended with status ${found}`)
    }
    const is_found = model.info.get('primal_solution_status') === constants.solutionStatus.feasible
    // An LP that ran out of time has no usable result.
    if (!is_found || (found === timeLimit && !is_mixed)) {
      return { status: 'timeout', values: null, bound: Number.NEGATIVE_INFINITY, solve_s }
    }
    const values = model.getSolution().colValue
    const bound = is_mixed ? Number(model.info.get('mip_dual_bound')) : program.cost(values)
    return { status: found === optimal ? 'optimal' : 'feasible', values, bound, solve_s }
  })
}

function modelData(highs: Highs, { columns, rows, binaries }: LinearProgram) {
  const starts = new Int32Array(rows.length + 1)
  rows.forEach(({ terms }, nth) => {
    starts[nth + 1] = starts[nth]! + terms.length
  })
  const indices = new Int32Array(starts[rows.length]!)
  const values = new Float64Array(indices.length)
  let at = 0
  for (const { terms } of rows) {
    for (const [column, coefficient] of terms) {
      indices[at] = column
      values[at] = coefficient
      at += 1
    }
  }
  const finite = (bound: number) =>
    Number.isFinite(bound) ? bound : Math.sign(bound) * highs.infinity
  return {
    numCols: columns.length,
    numRows: rows.length,
    colCost: Float64Array.from(columns, ({ cost }) => cost),
    colLower: Float64Array.from(columns, ({ lower }) => finite(lower)),
    colUpper: Float64Array.from(columns, ({ upper }) => finite(upper)),
    rowLower: Float64Array.from(rows, ({ lower }) => finite(lower)),
    rowUpper: Float64Array.from(rows, ({ upper }) => finite(upper)),
    matrix: {
      format: 'csr' as const,
      numRows: rows.length,
      numCols: columns.length,
      starts,
      indices,
      values,
    },
    ...(binaries.size > 0 && {
      integrality: Int32Array.from(columns, (_, nth) => (binaries.has(nth) ? 1 : 0)),
    }),
  }
}
