/**
 * Rank among `count` (at least one) ascending scores below which a share `level` of future scores
 * lies (split conformal prediction: J. Lei et al., "Distribution-free predictive inference for
 * regression", Journal of the American Statistical Association 113, 2018); the outermost rank if
 * there are too few scores for the level. Scores that depend on each other prove as much as
 * `independent_count` of them: the rank is higher.
 */
export function conformalRank(count: number, level: number, independent_count = count): number {
  const rank = Math.ceil((count + count / independent_count) * level)
  return Math.min(count, Math.max(1, rank)) - 1
}

/**
 * The next calibration level for a coverage of `wanted` in the long run, whatever the distribution:
 * I. Gibbs and E. J. Candès, "Adaptive conformal inference under distribution shift", NeurIPS 2021,
 * equation 2. `covered_share` is the share of the last rows within their intervals (0 or 1 for one
 * row), `step` the rate, about 0.01 per row. The level may leave 0 to 1 temporarily: clamping it
 * would break the guarantee.
 */
export function adaptiveLevel(
  level: number,
  wanted: number,
  covered_share: number,
  step: number,
): number {
  return level + step * (wanted - covered_share)
}
