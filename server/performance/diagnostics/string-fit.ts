/**
 * Fits a faulty string to measurements: the circuit of the healthy string, changed by a few
 * parameters with priors around zero. Gauss-Newton on the robust sum of squares (P. J. Huber,
 * Annals of Mathematical Statistics 35(1), 1964).
 */
import { currentAtVoltage, type SingleDiode } from '@heliograph/physics/single-diode'

/**
 * Deviations of a string from the expected one; all 0 without deviation. The two shaded parameters
 * apply only to points with `is_shaded`, in addition to the first three.
 */
const parameterNames = [
  /** Relative excess of the irradiance; negative for a loss. */
  'gain',
  /** Share of the modules without voltage. */
  'lost_voltage',
  /** Resistance in series, in units of Vmp / Imp of the string at 1000 W/m2 and 25 Celsius. */
  'resistance',
  'shaded_gain',
  'shaded_voltage',
] as const
type Parameter = (typeof parameterNames)[number]
type Parameters = Readonly<Record<Parameter, number>>

/** Prior standard deviation of each parameter around 0; absent parameters are fixed at 0. */
export type Prior = Readonly<Partial<Record<Parameter, number>>>

export interface FitPoint {
  circuit: SingleDiode
  current_a: number
  voltage_v: number
  /** Standard error of the current at the measured voltage. */
  current_sigma_a: number
  /** Whether the measured voltage is the maximum power point of the MPPT. */
  is_at_maximum: boolean
  /** Slope of the power by the voltage one standard error of a maximum power point beside it. */
  slope_sigma_a: number
  is_shaded: boolean
}

export interface FitOptions {
  resistance_unit_ohm: number
  /** Number of other strings of the MPPT, assumed healthy, that share its voltage. */
  partner_count: number
}

/** Maximum number of independent measurements that the points count for. */
const independent_max = 25

export interface Fit {
  parameters: Parameters
  /** Robust sum of squares of residuals and priors: twice the negative log of the posterior. */
  cost: number
}

/** Standard error of a voltage as a maximum power point: the tracker's and the instrument's. */
const tracking_sigma_ratio = 0.008
const huber_sigmas = 2.5
const iterations_max = 12
/** Convergence threshold of the cost. */
const cost_step_min = 1e-3
/** Step of a parameter for numerical derivatives. */
const difference = 1e-4

const bounds: Readonly<Record<Parameter, readonly [number, number]>> = {
  gain: [-0.98, 0.5],
  lost_voltage: [-0.2, 0.8],
  resistance: [0, 3],
  shaded_gain: [-0.98, 0],
  shaded_voltage: [0, 0.8],
}

export const sound = Object.fromEntries(parameterNames.map((name) => [name, 0])) as Parameters

function faulty(point: FitPoint, parameters: Parameters, resistance_unit_ohm: number): SingleDiode {
  const { circuit, is_shaded } = point
  const gain = parameters.gain + (is_shaded ? parameters.shaded_gain : 0)
  const lost = parameters.lost_voltage + (is_shaded ? parameters.shaded_voltage : 0)
  const light = Math.max(0.01, 1 + gain)
  const length = Math.max(0.1, 1 - lost)
  return {
    i_l_a: circuit.i_l_a * light,
    i_o_a: circuit.i_o_a,
    r_s_ohm: circuit.r_s_ohm * length + parameters.resistance * resistance_unit_ohm,
    g_sh_s: (circuit.g_sh_s * light) / length,
    a_v: circuit.a_v * length,
  }
}

/** Slope of the power by the voltage at a voltage and its current, A: 0 at the maximum. */
function powerSlope(circuit: SingleDiode, voltage_v: number, current_a: number): number {
  const { i_o_a, r_s_ohm, g_sh_s, a_v } = circuit
  const conductance = (i_o_a / a_v) * Math.exp((voltage_v + current_a * r_s_ohm) / a_v) + g_sh_s
  return current_a - (voltage_v * conductance) / (1 + conductance * r_s_ohm)
}

/** `slope_sigma_a` of a point whose healthy string has its maximum power point at `v_mp_v`. */
export function slopeSigma(circuit: SingleDiode, v_mp_v: number): number {
  const beside_v = v_mp_v * (1 + tracking_sigma_ratio)
  return Math.abs(powerSlope(circuit, beside_v, currentAtVoltage(circuit, beside_v)))
}

/**
 * Residuals in standard errors: measured minus modelled current at the voltage; at a maximum power
 * point also the slope of the modelled MPPT power over voltage (negative slope: positive residual).
 */
export function residuals(
  point: FitPoint,
  parameters: Parameters,
  { resistance_unit_ohm, partner_count }: FitOptions,
): [current: number, slope: number] {
  const { voltage_v } = point
  const circuit = faulty(point, parameters, resistance_unit_ohm)
  const modelled_a = currentAtVoltage(circuit, voltage_v)
  const current = (point.current_a - modelled_a) / point.current_sigma_a
  if (!point.is_at_maximum) return [current, 0]
  const own = powerSlope(circuit, voltage_v, modelled_a)
  const sound_a = currentAtVoltage(point.circuit, voltage_v)
  const partners = partner_count * powerSlope(point.circuit, voltage_v, sound_a)
  return [current, -(own + partners) / ((1 + partner_count) * point.slope_sigma_a)]
}

/** Best parameters for `points` under `prior`; `points` must not be empty. */
export function fitString(points: readonly FitPoint[], prior: Prior, options: FitOptions): Fit {
  const free = parameterNames.filter((name) => prior[name] !== undefined)
  const weight = Math.min(1, independent_max / points.length)
  const problem: Problem = { points, free, prior, weight, options }
  let best: Fit = { parameters: sound, cost: costOf(problem, sound) }
  for (let i = 0; i < iterations_max; i += 1) {
    const next = improved(problem, best, newtonStep(problem, best.parameters))
    const isDone = best.cost - next.cost < cost_step_min
    best = next
    if (isDone) break
  }
  return best
}

interface Problem {
  points: readonly FitPoint[]
  free: readonly Parameter[]
  prior: Prior
  /** Weight of each residual, because the points are not independent. */
  weight: number
  options: FitOptions
}

function costOf({ points, free, prior, weight, options }: Problem, parameters: Parameters): number {
  let cost = 0
  for (const point of points) {
    const [current, slope] = residuals(point, parameters, options)
    cost += weight * (huber(current) + huber(slope))
  }
  for (const name of free) cost += (parameters[name] / prior[name]!) ** 2
  return cost
}

/** Line search: the longest of a few halved steps that lowers the cost. */
function improved(problem: Problem, from: Fit, step: readonly number[]): Fit {
  for (let length = 1; length > 0.03; length /= 2) {
    const parameters = moved(from.parameters, problem.free, step, length)
    const cost = costOf(problem, parameters)
    if (cost < from.cost) return { parameters, cost }
  }
  return from
}

function huber(residual: number): number {
  const size = Math.abs(residual)
  return size <= huber_sigmas ? size * size : huber_sigmas * (2 * size - huber_sigmas)
}

function moved(
  from: Parameters,
  free: readonly Parameter[],
  step: readonly number[],
  length: number,
): Parameters {
  const next = { ...from }
  free.forEach((name, index) => {
    const [low, high] = bounds[name]
    next[name] = Math.min(high, Math.max(low, from[name] + length * step[index]!))
  })
  return next
}

/** Solution of the normal equations at `parameters`, with derivatives by differences. */
function newtonStep({ points, free, prior, weight, options }: Problem, parameters: Parameters) {
  const matrix = free.map((row) => free.map((column) => (row === column ? prior[row]! ** -2 : 0)))
  const right = free.map((name) => -parameters[name] * prior[name]! ** -2)
  for (const point of points) {
    const here = residuals(point, parameters, options)
    const slopes = free.map((name) => {
      const moved = { ...parameters, [name]: parameters[name] + difference }
      const there = residuals(point, moved, options)
      return [(there[0] - here[0]) / difference, (there[1] - here[1]) / difference] as const
    })
    for (const which of [0, 1] as const) {
      const trust = weight * Math.min(1, huber_sigmas / Math.max(1e-9, Math.abs(here[which])))
      slopes.forEach((row, i) => {
        right[i]! -= trust * row[which] * here[which]
        slopes.forEach((column, j) => {
          matrix[i]![j]! += trust * row[which] * column[which]
        })
      })
    }
  }
  return solved(matrix, right)
}

/** Solves a symmetric positive definite system by elimination; changes its arguments. */
function solved(matrix: number[][], right: number[]): number[] {
  const size = right.length
  for (let k = 0; k < size; k += 1) {
    for (let i = k + 1; i < size; i += 1) {
      const ratio = matrix[i]![k]! / matrix[k]![k]!
      for (let j = k; j < size; j += 1) matrix[i]![j]! -= ratio * matrix[k]![j]!
      right[i]! -= ratio * right[k]!
    }
  }
  for (let k = size - 1; k >= 0; k -= 1) {
    for (let j = k + 1; j < size; j += 1) right[k]! -= matrix[k]![j]! * right[j]!
    right[k]! /= matrix[k]![k]!
  }
  return right
}
