/** Minimum number of samples and duration of a stale run: fast series may repeat values. */
const samples_min = 6
const duration_min_ms = 1_500_000
/** Maximum deviation from the first sample of the run, relative to it. */
const ratio_max = 1e-5

/**
 * Marks stale samples: runs of at least 6 equal non-zero values over at least 25 minutes. A null
 * ends a run. Values are compared with the first of the run, so that a slow ramp is not stale.
 * Method, window of 6 and tolerance of 1e-5 follow pvanalytics' `quality.gaps.stale_values_diff`,
 * which also marks zeros.
 *
 * Limited outputs (clipped, curtailed) repeat legitimately: pass null for such instants. `times_ms`
 * ascends and is as long as `values`; throws when it is not as long.
 */
export function staleSamples(
  values: readonly (number | null)[],
  times_ms: readonly number[],
): boolean[] {
  if (times_ms.length !== values.length) {
    throw new RangeError(`times_ms has ${times_ms.length} items, values ${values.length}`)
  }
  const stale = new Array<boolean>(values.length).fill(false)
  for (let start = 0; start < values.length; ) {
    const end = runEnd(values, start)
    const is_long =
      end - start >= samples_min && times_ms[end - 1]! - times_ms[start]! >= duration_min_ms
    if (values[start] && is_long) stale.fill(true, start, end)
    start = end
  }
  return stale
}

/** Index after the last of the samples equal to the one at `start`. */
function runEnd(values: readonly (number | null)[], start: number): number {
  const first = values[start] ?? null
  let end = start + 1
  if (first === null) return end
  for (; end < values.length; end++) {
    const value = values[end] ?? null
    if (value === null || !(Math.abs(value - first) <= ratio_max * Math.abs(first))) break
  }
  return end
}
