/**
 * What holds the output of an inverter down, and what that costs: its rating, or a limit that it
 * was commanded.
 */

/** What may hold an inverter's output down at an instant. */
export interface OutputLimits {
  /** What the inverter can give at most. */
  rated_kw: number
  /** The ceiling commanded then; null when there is none. */
  curtailed_to_kw: number | null
}

export interface Output {
  /** Measured AC power. */
  power_kw: number | null
  /** AC power that the sun would give without any limit; null when not known. */
  expected_kw: number | null
}

type OutputState = 'free' | 'clipped' | 'curtailed'

/** Share of a limit from which on the output is held by it: accuracy of meters and setpoints. */
const at_limit_ratio = 0.985
/** Setpoints are whole per cents of the rated power on most inverters. */
const setpoint_step_ratio = 0.01

/**
 * What holds the output: the lowest limit, when the power is at it and the sun would give more.
 * Where the expected power is not known, being at the limit is enough. Curtailment decides first:
 * what a command holds below the rated power is curtailed, never clipped. A plant curtailed to 0
 * draws its own consumption and is at its limit then. Null when the power was not measured.
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
 * Power lost to limits at an instant: what the sun would give more than was given. Of a curtailed
 * output only what the inverter could have given is lost to the curtailment, the rest would have
 * been clipped anyhow. The two add up to expected less measured power, so that a limit that is not
 * obeyed yet costs no more than is missing. Both 0 when the output is free: what is missing then is
 * missing for another reason. Null when the power is not measured, or it is held and the expected
 * power is not known.
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
  /** How far the powers of a plateau may lie apart, relative to the highest. */
  flat_ratio?: number
  /** A plateau below this share of the day's highest power is not one of clipping. */
  level_min_ratio?: number
}

const bin_ms = 900_000
/** With three, the noon of a clear day is flat enough; four lie twice as far apart. */
const bins_min = 4
/** Samples closer than this are averaged before they are looked at: clouds' edges are not flat. */
const averaged_below_ms = 600_000

/**
 * Marks the clipped samples of one day of an inverter whose limits are not known, by the flat top
 * of the day. It is for powers without a rating or a readable limit: of a plant behind someone
 * else's controller, or of measurements from elsewhere. Where the limit is known `outputState` is
 * right at every instant, and on days without a flat top, too.
 *
 * A top is at least four neighbouring quarters of an hour within `flat_ratio` of each other and
 * at the day's highest power, with all that lies within the same band. The geometric idea is that
 * of pvanalytics' `features.clipping.geometric` (K. Perry et al., "Performance comparison of
 * clipping detection techniques in AC power time series", PVSC 48, 2021). A curtailed day has such
 * a top too, so leave curtailed instants out (null); a tracker on a clear winter day nearly has
 * one.
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

/** Means of quarters of an hour of a fast series; each sample by itself of a slow one. */
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
