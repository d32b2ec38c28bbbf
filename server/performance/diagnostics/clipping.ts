/** Detects whether the rating or a power limit limits the output of an inverter, and the loss. */

/** Limits of an inverter's output at an instant. */
export interface OutputLimits {
  /** Rated AC power. */
  rated_kw: number
  /** Power limit in force; null without one. */
  curtailed_to_kw: number | null
}

export interface Output {
  /** Measured AC power. */
  power_kw: number | null
  /** Expected AC power without any limit; null when unknown. */
  expected_kw: number | null
}

type OutputState = 'free' | 'clipped' | 'curtailed'

/** Share of a limit from which the output counts as limited: accuracy of meters and setpoints. */
const at_limit_ratio = 0.985
/** Most inverters accept setpoints in whole percent of the rated power. */
const setpoint_step_ratio = 0.01

/**
 * State of the output: limited by the lowest limit when the power is at the limit and the expected
 * power is higher or unknown. A limit below the rated power means curtailed, never clipped. A plant
 * curtailed to 0 draws its own consumption and counts as at its limit. Null without measured power.
 */
export function outputState(output: Output, limits: OutputLimits): OutputState | null {
  const { power_kw, expected_kw } = output
  if (power_kw === null || !Number.isFinite(power_kw)) return null
  const { rated_kw } = limits
  const curtailed_to_kw = Math.max(0, limits.curtailed_to_kw ?? rated_kw)
  const is_curtailed = curtailed_to_kw < rated_kw
  const limit_kw = Math.min(curtailed_to_kw, rated_kw)
  const slack_kw = Math.max(
    (1 - at_limit_ratio) * limit_kw,
    is_curtailed ? setpoint_step_ratio * rated_kw : 0,
  )
  if (Math.max(0, power_kw) < limit_kw - slack_kw) return 'free'
  if (expected_kw !== null && !(expected_kw > limit_kw)) return 'free'
  return is_curtailed ? 'curtailed' : 'clipped'
}

interface LimitLoss {
  clipping_kw: number
  curtailment_kw: number
}

/**
 * Power lost to limits at an instant: expected minus measured power. For a curtailed output the
 * part above the rating is a clipping loss. Both parts add up to the missing power, so that a limit
 * not yet reached costs no more than is missing. Both are 0 when the output is free. Null without
 * measured power, or when the output is limited and the expected power is unknown.
 */
export function limitLoss(output: Output, limits: OutputLimits): LimitLoss | null {
  const state = outputState(output, limits)
  if (state === null) return null
  if (state === 'free') return { clipping_kw: 0, curtailment_kw: 0 }
  const { expected_kw } = output
  if (expected_kw === null) return null
  const given_kw = Math.max(0, output.power_kw ?? 0)
  const { rated_kw } = limits
  const missing_kw = Math.max(0, expected_kw - given_kw)
  if (state === 'clipped') return { clipping_kw: missing_kw, curtailment_kw: 0 }
  const clipping_kw = Math.max(0, expected_kw - Math.max(rated_kw, given_kw))
  return { clipping_kw, curtailment_kw: missing_kw - clipping_kw }
}

interface PlateauOptions {
  /** Maximum spread of the powers of a plateau, relative to the highest. */
  flat_ratio?: number
  /** Minimum level of a clipping plateau, relative to the day's highest power. */
  level_min_ratio?: number
}

const bin_ms = 900_000
/** Three bins around noon of a clear day are flat enough; four spread twice as far. */
const bins_min = 4
/** Samples closer than this are averaged, because cloud edges cause spikes. */
const averaged_below_ms = 600_000

/**
 * Marks the clipped samples of one day by its flat top, for inverters with unknown limits: plants
 * behind another controller, or external measurements. With a known limit use `outputState`, which
 * is exact at every instant, also on days without a flat top.
 *
 * A plateau has at least four consecutive quarter hours within `flat_ratio` of each other at the
 * day's highest power; all samples in the same band are marked. The geometric method follows
 * pvanalytics' `features.clipping.geometric` (K. Perry et al., "Performance comparison of clipping
 * detection techniques in AC power time series", PVSC 48, 2021). Curtailed days have a plateau too:
 * pass null for curtailed instants. A tracker on a clear winter day comes close to a plateau.
 *
 * `times_ms` ascends over one day of the site and is as long as `power_kw`; throws when it is not
 * as long. Samples up to 10 minutes apart are averaged over quarters of an hour.
 */
export function plateauSamples(
  power_kw: readonly (number | null)[],
  times_ms: readonly number[],
  options: PlateauOptions = {},
): boolean[] {
  const { flat_ratio = 0.0015, level_min_ratio = 0.98 } = options
  if (times_ms.length !== power_kw.length) {
    throw new RangeError(`times_ms has ${times_ms.length} items, power_kw ${power_kw.length}`)
  }
  const bins = binned(power_kw, times_ms)
  const highest_kw = Math.max(0, ...bins.map(({ power_kw }) => power_kw))
  const plateaus = bins
    .map((_, index) => bins.slice(index, index + bins_min))
    .filter((window) => isFlat(window, flat_ratio))
    .map((window) => Math.min(...window.map(({ power_kw }) => power_kw)))
    .filter((floor_kw) => floor_kw >= level_min_ratio * highest_kw)
  const clipped = new Array<boolean>(power_kw.length).fill(false)
  if (plateaus.length === 0) return clipped
  const floor_kw = Math.min(...plateaus)
  for (const bin of bins) {
    if (bin.power_kw >= floor_kw) for (const index of bin.samples) clipped[index] = true
  }
  return clipped
}

interface Bin {
  start_ms: number
  power_kw: number
  samples: number[]
}

/** Quarter-hour means of a fast series; single samples of a slow one. */
function binned(power_kw: readonly (number | null)[], times_ms: readonly number[]): Bin[] {
  const steps_ms = times_ms.slice(1).map((time_ms, index) => time_ms - (times_ms[index] as number))
  const step_ms = steps_ms.sort((a, b) => a - b)[steps_ms.length >> 1] ?? 0
  const bins: Bin[] = []
  for (const [index, power] of power_kw.entries()) {
    if (power === null || !Number.isFinite(power)) continue
    const time_ms = times_ms[index] as number
    const start_ms = step_ms < averaged_below_ms ? time_ms - (time_ms % bin_ms) : time_ms
    const bin = bins.at(-1)
    if (bin?.start_ms === start_ms) {
      bin.samples.push(index)
      bin.power_kw += (power - bin.power_kw) / bin.samples.length
    } else {
      bins.push({ start_ms, power_kw: power, samples: [index] })
    }
  }
  return bins
}

function isFlat(window: readonly Bin[], flat_ratio: number): boolean {
  const powers = window.map(({ power_kw }) => power_kw)
  const highest_kw = Math.max(...powers)
  return (
    window.length === bins_min &&
    highest_kw > 0 &&
    highest_kw - Math.min(...powers) <= flat_ratio * highest_kw
  )
}
