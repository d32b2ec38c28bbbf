/**
 * Sums of a span use readings this far beyond both ends, to detect gaps and stuck values at the
 * ends. Enough for steps of up to five minutes (longer steps need six of them), except for a value
 * that repeats across a gap.
 */
export const reach_ms = 1_800_000
