/** Sums that skip unknown values. */

export const sum = (before: number | null, more: number | null) =>
  more === null ? before : (before ?? 0) + more

/** Null without any known value. */
export function sumKnown<Row>(rows: readonly Row[], of: (row: Row) => number | null) {
  return rows.reduce<number | null>((total, row) => sum(total, of(row)), null)
}
