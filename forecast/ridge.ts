import { type FeatureTable, requireColumns, requireTarget } from './feature-table.ts'

/**
 * Linear models of several targets on the same features. Survives structuredClone and JSON, except
 * for its typed arrays.
 */
export interface Ridge {
  names: readonly string[]
  /** Mean of the known values of each feature. */
  means: Float64Array
  /** Standard deviation of each feature; 0: constant, and left out. */
  deviations: Float64Array
  intercepts: Float64Array
  /** For each target, the weight of a standard deviation of each feature. */
  weights: readonly Float64Array[]
}

interface RidgeFit {
  model: Ridge
  /** Predictions for each row by a model trained without that row. */
  left_out: Float64Array[]
}

/**
 * Ridge regression: A. E. Hoerl and R. W. Kennard, Technometrics 12(1), 1970, on features with mean
 * 0 and deviation 1; missing values (NaN) count as the mean. All targets share one Cholesky factor.
 * Left-out predictions follow from it without another fit: D. M. Allen, Technometrics 16(1), 1974.
 * `penalty` is above 0, in the unit of a row count: it weighs like that many rows without influence
 * of each feature. Throws a RangeError for no rows, and targets that are not finite.
 */
export function trainRidge(
  table: FeatureTable,
  targets: readonly Float64Array[],
  penalty: number,
): RidgeFit {
  if (!(penalty > 0)) throw new RangeError(`penalty is ${penalty}, not above 0`)
  for (const target of targets) requireTarget(table, target)
  const spreads = table.columns.map(spreadOf)
  const means = Float64Array.from(spreads, ({ mean }) => mean)
  const deviations = Float64Array.from(spreads, ({ deviation }) => deviation)
  const columns = standardised(table, means, deviations)
  const factor = choleskyInPlace(gram(columns, penalty))
  const intercepts = Float64Array.from(targets, meanOf)
  const weights = targets.map((target, t) => {
    const products = columns.map((column) => dot(column, target) - intercepts[t]! * sum(column))
    return solve(factor, Float64Array.from(products))
  })
  const model = { names: table.names, means, deviations, intercepts, weights }
  return { model, left_out: leaveOut(columns, factor, targets, model) }
}

/** A column for each target. Throws a RangeError for other columns than those of the training. */
export function predictRidge(model: Ridge, table: FeatureTable): Float64Array[] {
  requireColumns(table, model.names)
  return answers(standardised(table, model.means, model.deviations), table.rows, model)
}

function answers(columns: readonly Float64Array[], rows: number, model: Ridge): Float64Array[] {
  return model.weights.map((weights, t) => {
    const answer = new Float64Array(rows).fill(model.intercepts[t]!)
    for (let c = 0; c < columns.length; c++) {
      const weight = weights[c]!
      const column = columns[c]!
      for (let row = 0; row < rows; row++) answer[row]! += weight * column[row]!
    }
    return answer
  })
}

function leaveOut(
  columns: readonly Float64Array[],
  factor: readonly Float64Array[],
  targets: readonly Float64Array[],
  model: Ridge,
): Float64Array[] {
  const rows = targets[0]?.length ?? 0
  const left_out = answers(columns, rows, model)
  const values = new Float64Array(columns.length)
  for (let row = 0; row < rows; row++) {
    for (let c = 0; c < values.length; c++) values[c] = columns[c]![row]!
    const halved = forward(factor, values)
    // Weight of the row in its own prediction, including that in the means; below 1.
    const leverage = 1 / rows + dot(halved, halved)
    for (let t = 0; t < targets.length; t++) {
      const target = targets[t]![row]!
      if (rows > 1) left_out[t]![row] = target - (target - left_out[t]![row]!) / (1 - leverage)
    }
  }
  return left_out
}

function spreadOf(column: Float64Array): { mean: number; deviation: number } {
  const known = column.filter((value) => Number.isFinite(value))
  if (known.length === 0) return { mean: 0, deviation: 0 }
  const mean = meanOf(known)
  const square = known.reduce((total, value) => total + (value - mean) ** 2, 0) / known.length
  const deviation = Math.sqrt(square)
  // The rest that rounding leaves of a constant is no spread.
  return { mean, deviation: deviation > 1e-9 * (1 + Math.abs(mean)) ? deviation : 0 }
}

function standardised(
  { columns }: FeatureTable,
  means: Float64Array,
  deviations: Float64Array,
): Float64Array[] {
  return columns.map((column, c) =>
    column.map((value) =>
      Number.isFinite(value) && deviations[c]! > 0 ? (value - means[c]!) / deviations[c]! : 0,
    ),
  )
}

/** The lower triangle of XᵀX + penalty·I, row by row. */
function gram(columns: readonly Float64Array[], penalty: number): Float64Array[] {
  return columns.map((column, i) => {
    const row = Float64Array.from(columns.slice(0, i + 1), (other) => dot(column, other))
    row[i]! += penalty
    return row
  })
}

/** The lower Cholesky factor of a positive definite matrix given by its lower triangle. */
function choleskyInPlace(lower: Float64Array[]): Float64Array[] {
  for (let i = 0; i < lower.length; i++) {
    const row = lower[i]!
    for (let j = 0; j <= i; j++) {
      const other = lower[j]!
      let rest = row[j]!
      for (let k = 0; k < j; k++) rest -= row[k]! * other[k]!
      row[j] = i === j ? Math.sqrt(rest) : rest / other[j]!
    }
  }
  return lower
}

/** v of L v = b. */
function forward(factor: readonly Float64Array[], b: Float64Array): Float64Array {
  const v = new Float64Array(b.length)
  for (let i = 0; i < b.length; i++) {
    const row = factor[i]!
    let rest = b[i]!
    for (let k = 0; k < i; k++) rest -= row[k]! * v[k]!
    v[i] = rest / row[i]!
  }
  return v
}

/** x of L Lᵀ x = b. */
function solve(factor: readonly Float64Array[], b: Float64Array): Float64Array {
  const x = forward(factor, b)
  for (let i = x.length - 1; i >= 0; i--) {
    const row = factor[i]!
    x[i]! /= row[i]!
    for (let k = 0; k < i; k++) x[k]! -= row[k]! * x[i]!
  }
  return x
}

function dot(a: Float64Array, b: Float64Array): number {
  let total = 0
  for (let i = 0; i < a.length; i++) total += a[i]! * b[i]!
  return total
}

function sum(column: Float64Array): number {
  return column.reduce((total, value) => total + value, 0)
}

function meanOf(column: Float64Array): number {
  return sum(column) / column.length
}
