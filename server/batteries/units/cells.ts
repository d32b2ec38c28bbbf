/** Cells whose voltage is an outlier in their cluster. Pure. */
import { median } from '@heliograph/domain/median'

/**
 * Threshold of the modified z-score of B. Iglewicz and D. Hoaglin, "How to Detect and Handle
 * Outliers", 1993: 0.6745 (x - median) / (median absolute deviation), beyond 3.5.
 */
const modified_z_max = 3.5
const normal_ratio = 0.6745
/** Twice the accuracy of cell measurements; a smaller distance is never an outlier. */
export const outlier_mv_min = 10

/** Fewer cells have no meaningful spread. */
const cells_min = 4

export const outlierRule =
  `Cells whose voltage is ${outlier_mv_min} mV or more from the median of the cluster, and whose ` +
  `modified z-score (by the median absolute deviation) is ${modified_z_max} or more. Of fewer ` +
  `than ${cells_min} measured cells: none.`

/** Indexes of outlier cells, ascending; null values are not measured. */
export function outlierCells(voltages_mv: readonly (number | null)[]): number[] {
  const known = voltages_mv.filter((value) => value !== null)
  if (known.length < cells_min) return []
  const middle_mv = median(known)!
  const spread_mv = median(known.map((value) => Math.abs(value - middle_mv)))!
  const far_mv = Math.max(outlier_mv_min, (modified_z_max * spread_mv) / normal_ratio)
  return voltages_mv.flatMap((value, index) => {
    const is_outlier = value !== null && Math.abs(value - middle_mv) >= far_mv
    return is_outlier ? [index] : []
  })
}
