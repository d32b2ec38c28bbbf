/**
 * A linear programme in the making: columns with a cost and bounds, rows that bound sums of them.
 * Minimised by HiGHS.
 */
import type { Highs } from 'highs'

export interface Column {
  cost: number
  lower: number
  upper: number
}

type Term = readonly [column: number, coefficient: number]

export class LinearProgram {
  readonly columns: Column[] = []
  readonly rows: { terms: readonly Term[]; lower: number; upper: number }[] = []

  /** Returns what `row` and `Solution.values` know it by. */
  column(column: Partial<Column> = {}): number {
    this.columns.push({ cost: 0, lower: 0, upper: Number.POSITIVE_INFINITY, ...column })
    return this.columns.length - 1
  }

  /** Bounds the sum of coefficient × column; no column twice. */
  row(terms: readonly Term[], { lower = -Infinity, upper = Infinity }): void {
    this.rows.push({ terms, lower, upper })
  }

  cost(values: ArrayLike<number>): number {
    return this.columns.reduce((sum, { cost }, nth) => sum + cost * values[nth]!, 0)
  }
}

export type SolverStatus = 'optimal' | 'feasible' | 'infeasible' | 'timeout'

export interface Solution {
  status: SolverStatus
  /** Of each column; null where none was found. */
  values: Float64Array | null
  /** How far from the best the solution may be at most, % of its cost; null of a mere LP. */
  gap_pct: number | null
}

export interface SolveOptions {
  /** Columns that are 0 or 1. */
  binaries: ReadonlySet<number>
  time_limit_s: number
  gap_ratio: number
}

/** @throws {Error} where the programme makes no sense to the solver */
export function solve(
  highs: Highs,
  { columns, rows }: LinearProgram,
  { binaries, time_limit_s, gap_ratio }: SolveOptions,
): Solution {
  const { constants } = highs
  const starts = [0]
  for (const { terms } of rows) starts.push(starts.at(-1)! + terms.length)
  const finite = (bound: number) =>
    Number.isFinite(bound) ? bound : Math.sign(bound) * highs.infinity
  const data = {
    numCols: columns.length,
    numRows: rows.length,
    colCost: columns.map(({ cost }) => cost),
    colLower: columns.map(({ lower }) => finite(lower)),
    colUpper: columns.map(({ upper }) => finite(upper)),
    rowLower: rows.map(({ lower }) => finite(lower)),
    rowUpper: rows.map(({ upper }) => finite(upper)),
    matrix: {
      format: 'csr' as const,
      numRows: rows.length,
      numCols: columns.length,
      starts,
      indices: rows.flatMap(({ terms }) => terms.map(([column]) => column)),
      values: rows.flatMap(({ terms }) => terms.map(([, coefficient]) => coefficient)),
    },
    ...(binaries.size > 0 && {
      integrality: Int32Array.from(columns, (_, nth) => (binaries.has(nth) ? 1 : 0)),
    }),
  }
  return highs.withModel(data, (model): Solution => {
    model.options.set({
      output_flag: false,
      time_limit: time_limit_s,
      mip_rel_gap: gap_ratio,
      mip_feasibility_tolerance: 1e-9,
    })
    model.run()
    const found = model.getModelStatus()
    const { optimal, infeasible, unboundedOrInfeasible, timeLimit } = constants.modelStatus
    if (found === infeasible || found === unboundedOrInfeasible) {
      return { status: 'infeasible', values: null, gap_pct: null }
    }
    const is_found = model.info.get('primal_solution_status') === constants.solutionStatus.feasible
    const values = is_found ? model.getSolution().colValue : null
    const gap = binaries.size > 0 && values ? 100 * Number(model.info.get('mip_gap')) : null
    if (found === optimal) return { status: 'optimal', values, gap_pct: gap }
    if (found !== timeLimit) throw new Error(`the solver ended with status ${found}`)
    return { status: values ? 'feasible' : 'timeout', values, gap_pct: gap }
  })
}
