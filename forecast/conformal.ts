/**
 * Which of `count` ascending scores, one at least, a share `level` of all scores to come lies below
 * (split conformal prediction: J. Lei et al., "Distribution-free predictive inference for
 * regression", Journal of the American Statistical Association 113, 2018); the outermost where so
 * few cannot vouch for the level.
 */
export function conformalRank(count: number, level: number): number {
  return Math.min(count, Math.max(1, Math.ceil((count + 1) * level))) - 1
}

/**
 * The level to calibrate with next, so that `wanted` of all rows are covered in the long run
 * whatever the world does: I. Gibbs and E. J. Candès, "Adaptive conformal inference under
 * distribution shift", NeurIPS 2021, equation 2. `covered_share` is the share of the last rows that
 * lay in their intervals (0 or 1 for one row), `step` how fast to follow, about 0.01 for each row.
 * The level may leave 0 to 1 for a while: holding it there would break the promise.
 */
export function adaptiveLevel(
  level: number,
  wanted: number,
  covered_share: number,
  step: number,
): number {
  return level + step * (wanted - covered_share)
}
