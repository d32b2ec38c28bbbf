interface StaleOptions {
  /** Minimum number of samples of a stale run. */
  samples_min?: number
  /** Minimum duration of a stale run, because fast series may repeat values. */
  duration_min_s?: number
  /** Maximum deviation from the first sample of the run, relative to it. */
  ratio?: number
}

/**
 * Marks stale samples: runs of at least `samples_min` equal non-zero values over at least
 * `duration_min_s`. A null ends a run. Values are compared with the first of the run, so that a
 * slow ramp is not stale. Method, window of 6 and tolerance of 1e-5 follow pvanalytics'
 * `quality.gaps.stale_values_diff`, which also marks zeros.
 *
 * Limited outputs (clipped, curtailed) repeat legitimately: pass null for such instants. `times_ms`
 * ascends and is as long as `values`; throws when it is not as long.
 */
export function staleSamples(
  values: readonly (number | null)[],
  times_ms: readonly number[],
  options: StaleOptions = {},
): boolean[] {
  const { samples_min = 6, duration_min_s = 1500, ratio = 1e-5 } = options
  if (times_ms.length !== values.length) {
    throw new RangeError(`times_ms has ${times_ms.length} items, values ${values.length}`)
  }
  const stale = new Array<boolean>(values.length).fill(false)
  let start = 0
  while (start < values.length) {
    const end = runEnd(values, start, ratio)
    const span_ms = (times_ms[end - 1] as number) - (times_ms[start] as number)
    const is_zero = values[start] === 0 || values[start] === null
    if (!is_zero && end - start >= samples_min && span_ms >= duration_min_s * 1000) {
      stale.fill(true, start, end)
    }
    start = end
  }
  return stale
}

/** Index after the last of the samples equal to the one at `start`. */
function runEnd(values: readonly (number | null)[], start: number, ratio: number): number {
  const first = values[start] as number | null
  let end = start + 1
  if (first === null) return end
  for (; end < values.length; end++) {
    const value = values[end] as number | null
    if (value === null || !(Math.abs(value - first) <= ratio * Math.abs(first))) break
  }
  return end
}
