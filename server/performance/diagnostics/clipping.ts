/** Detects whether the rating or a power limit limits the output of an inverter, and the loss. */

export interface OutputLimits {
  rated_kw: number
  /** Power limit in force; null without one. */
  curtailed_to_kw: number | null
}

export interface Output {
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

/**
 * Power lost to limits at an instant: expected minus measured power. For a curtailed output the
 * part above the rating is a clipping loss. Both parts add up to the missing power, so that a limit
 * not yet reached costs no more than is missing. Both are 0 when the output is free. Null without
 * measured power, or when the output is limited and the expected power is unknown.
 */
export function limitLoss(output: Output, limits: OutputLimits) {
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
