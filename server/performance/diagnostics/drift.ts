/**
 * Detects small step losses of strings in months of daily yields relative to their peers: steps of
 * one or a few percent that weather hides (a bypassed substring, a lost module, one of two parallel
 * strings with a bad connector).
 *
 * After A. Skomedal et al., "Robust and fast detection of small power losses in large-scale PV
 * systems", IEEE Journal of Photovoltaics 11(3), 2021: daily specific yield, relative yield,
 * seasonal correction, cumulative sum. Two differences: the seasonal term is fitted together with
 * the step, so that it cannot absorb the step, and a prior keeps it small, since often less than a
 * year of data exists. The cumulative sum is that for a step of unknown height, the generalised
 * likelihood ratio of M. Basseville and I. Nikiforov, "Detection of abrupt changes", Prentice Hall,
 * 1993, chapter 2.4, which also estimates the time and size of the step.
 */

interface DriftOptions {
  /** Losses found before, by string, to be updated; null without one. */
  known?: readonly (Drift | null)[]
  /** First day to process; `known` has the results of the days before. */
  from_day?: number
}

/** Days are indices into the yields given. */
export interface Drift {
  detected_day: number
  /** First day of the loss, estimated from all days. */
  onset_day: number
  /** Share of the yield lost, 0 to 1. */
  loss_ratio: number
}

interface Step {
  onset_day: number
  /** Change of the logarithm of the yield: negative. */
  height: number
  z: number
}

/** Smaller losses cannot be distinguished from weather effects. */
export const loss_min_ratio = 0.0075
/** Detection threshold in standard errors. */
const alarm_z = 3.8
/** Expected spread of the seasonal swing of a string relative to its peers. */
const season_ratio = 0.003
const strings_min = 4
const days_before_min = 28
const days_after_min = 5
/** Weight of the prior of the seasonal swing, in strings. */
const prior_strings = 4
/** Weight of the noise of the group, in days of a string. */
const prior_days = 60
/** Minimum noise of a string relative to its peers. */
const noise_min = 1e-4
/** Maximum correlation from day to day; a higher one is a drift, not noise. */
const memory_max = 0.8
const year_days = 365.25
/** Days with a lower share of the median yield are ignored. */
const dark_day_ratio = 0.1
/** Minimum relative yield, for a finite logarithm of strings without yield. */
const relative_yield_min = 0.01

/**
 * Step loss of each string; null without one. `daily_yields` is by string, then by day: kWh/kWp of
 * consecutive days, null for incomplete or curtailed days, all strings of one orientation. Requires
 * four strings and five weeks; up to a year is useful, and the run time grows with the square of
 * the days. Detects one loss per string: start after its last repair.
 *
 * Days are processed in order and `detected_day` depends only on the days up to it, so that nightly
 * runs give reproducible results. With `known` and `from_day` a night costs a single day.
 */
export function findDrifts(
  daily_yields: readonly (readonly (number | null)[])[],
  { known = [], from_day = 0 }: DriftOptions = {},
): Drifts {
  const drifts: Drifts = daily_yields.map((_, index) => structuredClone(known[index] ?? null))
  if (daily_yields.length < strings_min) return drifts
  const days = Math.min(...daily_yields.map((yields) => yields.length))
  const logs = logYields(daily_yields, days)
  const first = Math.max(from_day, days_before_min + days_after_min)
  for (let today = first; today < days; today++) processDay(today, logs, drifts)
  return drifts
}

type Drifts = (Drift | null)[]

/** Updates known losses and detects new ones from the days up to `today`. */
function processDay(today: number, logs: readonly Float64Array[], drifts: Drifts): void {
  const peers = relativeToPeers(logs, drifts, today + 1)
  const noises = usualNoises(peers.sound)
  const settled = (relative: Float64Array, index: number) =>
    settle(relative, peers.spread, noises[index]!)
  const sound = peers.sound.map(settled)
  const series = peers.relative.map((relative, index) =>
    drifts[index] ? settled(relative, index) : (sound[index] as Series),
  )
  const precision = swingPrecision(sound.map(fit).filter(isEnough))
  for (const [index, own] of series.entries()) {
    const known = drifts[index] ?? null
    const step = largestLoss(own, fit(own), precision, known)
    if (step === null) continue
    const loss_ratio = 1 - Math.exp(step.height)
    if (known !== null) {
      known.onset_day = step.onset_day
      known.loss_ratio = loss_ratio
    } else if (step.z >= alarm_z && loss_ratio >= loss_min_ratio) {
      drifts[index] = { detected_day: today, onset_day: step.onset_day, loss_ratio }
    }
  }
}

/** Logarithms by string and day; NaN for dark days and days with too few strings. */
function logYields(
  daily_yields: readonly (readonly (number | null)[])[],
  days: number,
): Float64Array[] {
  const medians = Float64Array.from({ length: days }, (_, day) => {
    const yields = daily_yields.map((values) => values[day] ?? Number.NaN)
    const is_known = yields.filter((value) => !Number.isNaN(value)).length >= strings_min
    return is_known ? median(yields) : Number.NaN
  })
  const dark = medians.map((_, day) => dark_day_ratio * median(medians, 0, day + 1))
  return daily_yields.map((yields) =>
    medians.map((usual, day) => {
      const value = yields[day] ?? Number.NaN
      if (!(usual > dark[day]!)) return Number.NaN
      return Math.log(Math.max(value, relative_yield_min * usual))
    }),
  )
}

/**
 * The reference of a day is the median of all strings, each minus its own level and its known loss,
 * so that the median does not move when strings drop out or fail.
 */
function relativeToPeers(logs: readonly Float64Array[], drifts: Drifts, days: number) {
  const healthy = logs.map((log, index) =>
    withoutLoss(log.subarray(0, days), drifts[index] ?? null),
  )
  const levels = new Float64Array(logs.length)
  let reference = new Float64Array(days)
  for (let pass = 0; pass < 2; pass++) {
    reference = Float64Array.from(reference, (_, day) =>
      median(healthy.map((log, index) => log[day]! - levels[index]!)),
    )
    for (const [index, log] of healthy.entries()) {
      levels[index] = median(log.map((value, day) => value - reference[day]!))
    }
  }
  const relativeTo = (log: Float64Array, index: number) =>
    log.map((value, day) => value - reference[day]! - levels[index]!)
  const sound = healthy.map(relativeTo)
  const spread = reference.map((_, day) =>
    median(sound.map((relative) => Math.abs(relative[day]!))),
  )
  const usual_spread = Math.max(noise_min, median(spread))
  return {
    /** By string: logarithm of the yield relative to its peers, minus its own level. */
    relative: logs.map((log, index) => relativeTo(log.subarray(0, days), index)),
    /** The same without the losses already found. */
    sound,
    /** By day: spread of the strings relative to the usual spread; at least 1. */
    spread: spread.map((value) => Math.max(1, value / usual_spread)),
  }
}

function withoutLoss(log: Float64Array, drift: Drift | null): Float64Array {
  if (drift === null) return log
  const height = Math.log(1 - drift.loss_ratio)
  return log.map((value, day) => (day < drift.onset_day ? value : value - height))
}

interface Series {
  values: Float64Array
  /** Standard deviation of each value. */
  noise: Float64Array
}

/**
 * Standard deviation of the days of each string, from day-to-day changes, which neither a swing nor
 * a step affects. With few weeks of data it is drawn towards that of the group. Correlated days
 * (dirt, haze) count less than independent ones: with a correlation r, changes over one day have a
 * variance of 2 v (1 - r), over two days 1 + r times that, and a mean of many days has an effective
 * variance of v (1 + r) / (1 - r) per day.
 */
function usualNoises(relative: readonly Float64Array[]): number[] {
  const spreadOver = (lag: number, strings: readonly Float64Array[]) =>
    (1.4826 / Math.SQRT2) * median(strings.flatMap((values) => changesOver(lag, values)))
  const common = spreadOver(1, relative)
  const memory = Math.min(Math.max((spreadOver(2, relative) / common) ** 2 - 1, 0), memory_max) || 0
  const factor = Math.sqrt(1 + memory) / (1 - memory)
  return relative.map((values) => {
    const own = spreadOver(1, [values]) || common
    const days = values.length
    const variance = (days * own ** 2 + prior_days * common ** 2) / (days + prior_days)
    return Math.max(noise_min, factor * Math.sqrt(variance))
  })
}

function changesOver(lag: number, values: Float64Array): number[] {
  return Array.from(values.subarray(lag), (value, day) => Math.abs(value - values[day]!))
}

/** Limits outliers to three standard deviations around the median of their week. */
function settle(relative: Float64Array, spread: Float64Array, usual: number): Series {
  const noise = spread.map((factor) => factor * usual)
  const values = relative.map((value, day) => {
    const around = median(relative, day - 3, day + 4)
    const limit = 3 * noise[day]!
    return Math.min(Math.max(value, around - limit), around + limit)
  })
  return { values, noise }
}

/** Weighted least squares of a series on its level and seasonal swing, without a prior. */
interface Fit {
  normal: Matrix
  right: Vector
  measured: number
}

/** Terms of the fit: level, cosine and sine of the seasonal swing. */
function terms(day: number): Readonly<Vector> {
  const angle = (2 * Math.PI * day) / year_days
  return [1, Math.cos(angle), Math.sin(angle)]
}

/** Whether a string has enough days to estimate its seasonal swing. */
function isEnough({ measured }: Fit): boolean {
  return measured >= days_before_min
}

function fit({ values, noise }: Series): Fit {
  const normal: Matrix = [
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
  ]
  const right: Vector = [0, 0, 0]
  let measured = 0
  for (const [day, value] of values.entries()) {
    if (Number.isNaN(value)) continue
    const row = terms(day)
    const weight = noise[day]! ** -2
    measured++
    for (const i of axes) {
      right[i] += weight * row[i] * value
      for (const j of axes) normal[i][j] += weight * row[i] * row[j]
    }
  }
  return { normal, right, measured }
}

/**
 * Precision of the seasonal swing of a string, estimated from all strings by expectation
 * maximisation of the covariance of its two terms. Strings of a group differ by small tilt or
 * horizon differences, so that their swings share size and phase; the smaller the swings, the
 * earlier a loss is detected.
 */
function swingPrecision(fits: readonly Fit[]): Matrix {
  const believed = season_ratio ** 2
  let precision = precisionOf(believed, 0, believed)
  for (let pass = 0; pass < 5; pass++) {
    let cc = prior_strings * believed
    let cs = 0
    let ss = cc
    for (const { normal, right } of fits) {
      const covariance = inverted(sum(normal, precision))
      const swing = times(covariance, right)
      cc += swing[1] * swing[1] + covariance[1][1]
      cs += swing[1] * swing[2] + covariance[1][2]
      ss += swing[2] * swing[2] + covariance[2][2]
    }
    const count = prior_strings + fits.length
    precision = precisionOf(cc / count, cs / count, ss / count)
  }
  return precision
}

/** Precision of the swing alone; the level has no prior. */
function precisionOf(cc: number, cs: number, ss: number): Matrix {
  const determinant = cc * ss - cs * cs
  return [
    [0, 0, 0],
    [0, ss / determinant, -cs / determinant],
    [0, -cs / determinant, cc / determinant],
  ]
}

/**
 * The most significant loss relative to level and swing over all possible onset days; near the
 * known onset when one is known. Level, swing and step form one least-squares problem: the step is
 * u'M x / u'M u, with M the weights after projecting out level and swing, and u'M a sum over the
 * days since the onset.
 */
function largestLoss(
  { values, noise }: Series,
  { normal, right, measured }: Fit,
  precision: Matrix,
  known: Drift | null,
): Step | null {
  const covariance = inverted(sum(normal, precision))
  const swing = times(covariance, right)
  let best: Step | null = null
  let after = 0
  let weight_sum = 0
  let residual_sum = 0
  const moments: Vector = [0, 0, 0]
  for (let day = values.length - 1; measured - after > days_before_min; day--) {
    const value = values[day]!
    if (Number.isNaN(value)) continue
    const row = terms(day)
    const weight = noise[day]! ** -2
    after++
    weight_sum += weight
    residual_sum += weight * (value - dot(row, swing))
    for (const index of axes) moments[index] += weight * row[index]
    const is_near = known === null || Math.abs(day - known.onset_day) <= days_before_min
    if (after < days_after_min || !is_near) continue
    const information = weight_sum - dot(moments, times(covariance, moments))
    const z = -residual_sum / Math.sqrt(information)
    if (z > (best?.z ?? 0)) best = { onset_day: day, height: residual_sum / information, z }
  }
  return best
}

type Vector = [number, number, number]
type Matrix = [Vector, Vector, Vector]
const axes = [0, 1, 2] as const

function sum(a: Matrix, b: Matrix): Matrix {
  return axes.map((i) => axes.map((j) => a[i][j] + b[i][j])) as Matrix
}

function dot(a: Readonly<Vector>, b: Readonly<Vector>): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

function times(matrix: Matrix, vector: Vector): Vector {
  return [dot(matrix[0], vector), dot(matrix[1], vector), dot(matrix[2], vector)]
}

function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/** Inverse of a symmetric matrix. */
function inverted([a, b, c]: Matrix): Matrix {
  const rows = [cross(b, c), cross(c, a), cross(a, b)] as Matrix
  const determinant = dot(a, rows[0])
  return rows.map((row) => row.map((value) => value / determinant)) as Matrix
}

/** Median of the numbers among the values from `start` to before `end`; NaN without numbers. */
function median(values: ArrayLike<number>, start = 0, end = values.length): number {
  if (end - start > 32) return middleOf(Float64Array.from(values).subarray(start, end).sort())
  // Insertion sort is fastest for short lists, which are the usual case.
  const sorted: number[] = []
  for (let index = Math.max(0, start); index < Math.min(end, values.length); index++) {
    const value = values[index]!
    if (Number.isNaN(value)) continue
    let place = sorted.length
    for (; place > 0 && sorted[place - 1]! > value; place--) {
      sorted[place] = sorted[place - 1]!
    }
    sorted[place] = value
  }
  return middleOf(sorted)
}

/** Median of ascending values with NaN at the end. */
function middleOf(sorted: ArrayLike<number>): number {
  let count = sorted.length
  while (count > 0 && Number.isNaN(sorted[count - 1])) count--
  const middle = count >> 1
  if (count % 2 === 1) return sorted[middle]!
  return (sorted[middle - 1]! + sorted[middle]!) / 2
}
