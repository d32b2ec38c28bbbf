/**
 * The sums of a span take in readings this far beyond both of its ends: whether a step is a gap,
 * and whether a value is stuck, is seen from what lies around it. Enough for steps of up to five
 * minutes (longer ones need six of them), but for a value that repeats itself across a gap.
 */
export const reach_ms = 1_800_000
