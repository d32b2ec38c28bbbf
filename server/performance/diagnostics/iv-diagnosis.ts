/**
 * Diagnoses one string from its current and the voltage of its MPPT over a window.
 *
 * Observable are the current of the string, the voltage that it shares with the other strings of
 * its MPPT, and the expected output of a healthy string. Each cause changes the curve in its own
 * way: soiling and uniform shade reduce the current by the same share at every voltage; a bypassed
 * substring costs about Vmp / (3 modules) at any current; a resistance costs a voltage proportional
 * to the current; shade by near objects does either at the same hours every day. The causes are
 * fitted one by one (`fitString`) and compared by how well each explains all points. The current at
 * the measured voltage is valid at any operating point, so that a fully limited window can be
 * diagnosed too. The voltage is taken as the string's own maximum power point only while the
 * inverter is not limited, and only for the weakest string of an MPPT: a healthy string follows its
 * partner and keeps the current of its curve.
 *
 * Limits: errors of irradiance and temperature common to all points differ from small losses only
 * by size, so that losses below about 4 percent of current or 1.5 percent of voltage count as
 * normal; a leaking shunt looks like a loss of current; a fault that begins within a window of one
 * day looks like shade; two faults at once, in a string or in two strings of one MPPT, are
 * diagnosed as the larger, and the smaller may count as normal or as the larger; while limited,
 * resistance and bypassed substrings differ only under changing irradiance. A loss common to all
 * strings looks like an irradiance that is measured too high.
 */
import { day_ms } from '@heliograph/domain/durations'
import { median } from '@heliograph/domain/median'
import { currentAtVoltage, maximumPowerPoint } from '@heliograph/physics/single-diode'
import { type StringModel, stringCircuit } from './expected-string.ts'
import type { IvFlag, IvPoint } from './iv-points.ts'
import {
  type Fit,
  type FitOptions,
  type FitPoint,
  fitString,
  type Prior,
  residuals,
  slopeSigma,
  sound,
} from './string-fit.ts'

export const ivDiagnoses = [
  'normal',
  'current_loss',
  'voltage_loss',
  'series_resistance',
  'shading_or_mismatch',
  'open',
] as const
type IvDiagnosis = (typeof ivDiagnoses)[number]

/** With `ambiguous` the losses are reported anyway. */
export const noDiagnosisReasons = ['insufficient_data', 'more_than_expected', 'ambiguous'] as const
type NoDiagnosisReason = (typeof noDiagnosisReasons)[number]

export interface StringDiagnosis {
  diagnosis: IvDiagnosis | null
  reason: NoDiagnosisReason | null
  /** Mean over the points; negative above the expectation. Null without a diagnosis. */
  current_loss_pct: number | null
  /** Mean loss of the maximum power point voltage, including resistance. */
  voltage_loss_pct: number | null
  /** Probability of the diagnosis among the listed ones. */
  confidence_pct: number | null
  point_count: number
}

export type DiagnosedPoint = Pick<
  IvPoint,
  | 'measured_at'
  | 'effective_irradiance_w_m2'
  | 'cell_temperature_c'
  | 'expected_i_sc_a'
  | 'expected_v_mp_v'
  | 'expected_current_at_voltage_a'
  | 'measured_current_a'
  | 'measured_voltage_v'
  | 'curtailed'
  | 'flags'
> & {
  /** Currents of the other connected strings on the MPPT with equal modules and orientation. */
  partner_currents_a?: readonly (number | null)[]
}

const irradiance_min_w_m2 = 200
const points_min = 12
/** Maximum number of points, evenly sampled: more points share the same errors. */
const points_max = 150
/** A string below this share of the expected current counts as open. */
const open_ratio = 0.02
const excluded: readonly IvFlag[] = ['night', 'no_irradiance', 'stale', 'missing']

/**
 * Standard errors common to all points, of irradiance and (2 K) of voltage, and common to a part of
 * the day, when a sensor is not level and one thermometer represents rows heated at different
 * hours.
 */
const common: Prior = {
  gain: 0.015,
  lost_voltage: 0.006,
  shaded_gain: 0.01,
  shaded_voltage: 0.006,
}

interface Cause {
  diagnosis: IvDiagnosis
  prior: Prior
  /** Penalty of the degrees of freedom; a cause must improve the fit by more. */
  penalty: number
}

const causes: readonly Cause[] = [
  { diagnosis: 'normal', prior: common, penalty: 0 },
  { diagnosis: 'current_loss', prior: { ...common, gain: 0.5 }, penalty: 5 },
  { diagnosis: 'voltage_loss', prior: { ...common, lost_voltage: 0.3 }, penalty: 5 },
  { diagnosis: 'series_resistance', prior: { ...common, resistance: 0.5 }, penalty: 5 },
  { diagnosis: 'shading_or_mismatch', prior: { ...common, shaded_gain: 0.5 }, penalty: 10 },
  { diagnosis: 'shading_or_mismatch', prior: { ...common, shaded_voltage: 0.3 }, penalty: 10 },
]

interface UsablePoint {
  time_ms: number
  fit: FitPoint
  /** Measured over expected current at the measured voltage. */
  ratio: number
  partner_ratios: readonly (number | null)[]
}

/** The diagnosis of `string` from its points of a window, in any order. */
export function diagnoseString(
  string: StringModel,
  points: readonly DiagnosedPoint[],
): StringDiagnosis {
  const usable = points
    .flatMap((point) => usablePoint(string, point) ?? [])
    .sort((a, b) => a.time_ms - b.time_ms)
  const point_count = usable.length
  if (point_count < points_min) return undecided('insufficient_data', point_count)
  if (isOpen(usable)) {
    const open = { diagnosis: 'open', current_loss_pct: 100, confidence_pct: 100 } as const
    return { ...undecided(null, point_count), ...open }
  }
  const alone: FitOptions = { resistance_unit_ohm: resistanceUnit(string), partner_count: 0 }
  const taken = shadeByHour(evenly(usable, points_max), alone)
  const partners = soundPartners(taken)
  const options = { ...alone, partner_count: partners ?? 0 }
  const lit = taken.map(({ fit }) => (partners === null ? { ...fit, is_at_maximum: false } : fit))
  const fits = causes.map((cause) => named(cause, fitString(lit, cause.prior, options)))
  return verdict(fits, lit, { options, point_count })
}

/** No current in most of the window, or at its end. */
function isOpen(points: readonly UsablePoint[]): boolean {
  const isDead = ({ ratio }: UsablePoint) => ratio < open_ratio
  return points.filter(isDead).length > points.length / 2 || points.slice(-points_min).every(isDead)
}

function undecided(reason: NoDiagnosisReason | null, point_count: number): StringDiagnosis {
  const unknown = { current_loss_pct: null, voltage_loss_pct: null, confidence_pct: null }
  return { diagnosis: null, reason, ...unknown, point_count }
}

/** Null when the point is too dark, not measured, or too close to open circuit. */
function usablePoint(string: StringModel, point: DiagnosedPoint): UsablePoint | null {
  const {
    effective_irradiance_w_m2,
    cell_temperature_c,
    expected_i_sc_a,
    expected_v_mp_v,
    expected_current_at_voltage_a: expected_a,
    measured_current_a: current_a,
    measured_voltage_v: voltage_v,
  } = point
  if (effective_irradiance_w_m2 === null || cell_temperature_c === null) return null
  if (expected_i_sc_a === null || expected_v_mp_v === null || expected_a === null) return null
  if (current_a === null || voltage_v === null || !(expected_a > 0)) return null
  if (effective_irradiance_w_m2 < irradiance_min_w_m2) return null
  if (point.flags.some((flag) => excluded.includes(flag))) return null
  const circuit = stringCircuit(string, { effective_irradiance_w_m2, cell_temperature_c })
  const slope_a_v = currentAtVoltage(circuit, voltage_v + 1) - expected_a
  return {
    time_ms: Date.parse(point.measured_at),
    fit: {
      circuit,
      current_a,
      voltage_v,
      // Instrument resolution, irradiance changes between readings, and the voltage error.
      current_sigma_a: Math.hypot(0.05, 0.012 * expected_i_sc_a, 0.004 * (slope_a_v * voltage_v)),
      is_at_maximum: !point.curtailed,
      slope_sigma_a: slopeSigma(circuit, expected_v_mp_v),
      is_shaded: false,
    },
    ratio: current_a / expected_a,
    partner_ratios: (point.partner_currents_a ?? []).map((partner_a) =>
      partner_a === null ? null : partner_a / expected_a,
    ),
  }
}

function resistanceUnit(string: StringModel): number {
  const rated = { effective_irradiance_w_m2: 1000, cell_temperature_c: 25 }
  const { voltage_v, current_a } = maximumPowerPoint(stringCircuit(string, rated))
  return voltage_v / current_a
}

/** Strings of one MPPT with a smaller difference of current count as equal. */
const alike_within = 0.005
/** A string with the current of its curve is healthy at any operating point. */
const sound_ratio_min = 0.99
const carrying_ratio = 0.1

/**
 * Number of healthy partners that share the voltage with the string when the string may cause a
 * voltage loss, that is when no partner is weaker over all or the shaded hours. Equally weak
 * partners are assumed to have the same fault. Null when a weaker partner, or no string, reduces
 * the voltage.
 */
function soundPartners(points: readonly UsablePoint[]): number | null {
  for (const part of [points, points.filter(({ fit }) => fit.is_shaded)]) {
    if (part.length === 0) continue
    const own = median(part.map(({ ratio }) => ratio))!
    const partners = carryingPartners(part)
    if (partners.some((ratio) => ratio < own - alike_within)) continue
    const stronger = partners.filter((ratio) => ratio > own + alike_within).length
    if (stronger > 0 || own < sound_ratio_min) return stronger
  }
  return null
}

/** Median ratio of measured to expected current of each partner with current. */
function carryingPartners(points: readonly UsablePoint[]): number[] {
  const partner_count = Math.max(...points.map(({ partner_ratios }) => partner_ratios.length))
  return Array.from({ length: partner_count }, (_, index) => {
    const ratios = points.flatMap(({ partner_ratios }) => partner_ratios[index] ?? [])
    return median(ratios) ?? 0
  }).filter((ratio) => ratio > carrying_ratio)
}

const bin_ms = 30 * 60_000

/** Marks the part of the day with the largest loss relative to the rest of the day as shaded. */
function shadeByHour(points: readonly UsablePoint[], options: FitOptions): UsablePoint[] {
  const bins = new Map<number, { sum: number; count: number }>()
  const start_ms = dayStart(points)
  const binOf = ({ time_ms }: UsablePoint) =>
    Math.floor(((((time_ms - start_ms) % day_ms) + day_ms) % day_ms) / bin_ms)
  for (const point of points) {
    const [current, voltage] = residuals(point.fit, sound, options)
    const bin = bins.get(binOf(point)) ?? { sum: 0, count: 0 }
    const sum = bin.sum + clamped(current) + clamped(voltage)
    bins.set(binOf(point), { sum, count: bin.count + 1 })
  }
  const [from, to] = darkestStretch(bins)
  return points.map((point) => {
    const bin = binOf(point)
    return { ...point, fit: { ...point.fit, is_shaded: bin >= from && bin <= to } }
  })
}

const clamped = (residual: number): number => Math.min(5, Math.max(-5, residual))

/** Time of day after the longest gap without points: start of the daylight. */
function dayStart(points: readonly UsablePoint[]): number {
  const times = points.map(({ time_ms }) => ((time_ms % day_ms) + day_ms) % day_ms)
  times.sort((a, b) => a - b)
  let start_ms = times[0]!
  let longest_ms = times[0]! + day_ms - times.at(-1)!
  for (let i = 1; i < times.length; i += 1) {
    const gap_ms = times[i]! - times[i - 1]!
    if (gap_ms <= longest_ms) continue
    longest_ms = gap_ms
    start_ms = times[i]!
  }
  return start_ms
}

/** First and last bin of the shaded part, with a sixth of the points inside and a third outside. */
function darkestStretch(
  bins: ReadonlyMap<number, { sum: number; count: number }>,
): [from: number, to: number] {
  const all = [...bins.keys()].sort((a, b) => a - b)
  const total = { sum: 0, count: 0 }
  for (const { sum, count } of bins.values()) {
    total.sum += sum
    total.count += count
  }
  let best = { contrast: 0, from: -1, to: -1 }
  for (let i = 0; i < all.length; i += 1) {
    let sum = 0
    let count = 0
    for (let j = i; j < all.length; j += 1) {
      const bin = bins.get(all[j]!)!
      sum += bin.sum
      count += bin.count
      const rest = total.count - count
      if (count < total.count / 6 || rest < total.count / 3) continue
      const fall = (total.sum - sum) / rest - sum / count
      const contrast = fall > 0 ? (fall * fall * count * rest) / total.count : 0
      if (contrast > best.contrast) best = { contrast, from: all[i]!, to: all[j]! }
    }
  }
  return [best.from, best.to]
}

interface FittedCause {
  diagnosis: IvDiagnosis | 'more_than_expected'
  fit: Fit
  /** Cost of the fit plus the penalty of the cause. */
  cost: number
}

/** Minimum probability of a reported fault. */
const probability_min = 0.5

/** Excess beyond the errors of the instruments. */
const gain_max = 0.05
const voltage_gain_max = 0.03

/** A negative loss means a healthy string, or a wrong expectation. */
function named({ diagnosis, penalty }: Cause, fit: Fit): FittedCause {
  const cost = fit.cost + penalty
  const { gain, lost_voltage } = fit.parameters
  const isCurrent = diagnosis === 'current_loss' && gain > 0
  const isVoltage = diagnosis === 'voltage_loss' && lost_voltage < 0
  if (!isCurrent && !isVoltage) return { diagnosis, fit, cost }
  const isExcess = isCurrent ? gain > gain_max : -lost_voltage > voltage_gain_max
  return { diagnosis: isExcess ? 'more_than_expected' : 'normal', fit, cost }
}

function verdict(
  fits: readonly FittedCause[],
  points: readonly FitPoint[],
  { options, point_count }: { options: FitOptions; point_count: number },
): StringDiagnosis {
  const best = fits.reduce((least, each) => (each.cost < least.cost ? each : least))
  if (best.diagnosis === 'more_than_expected') return undecided(best.diagnosis, point_count)
  const likelihood = (which: readonly FittedCause[]) =>
    which.reduce((sum, { cost }) => sum + Math.exp((best.cost - cost) / 2), 0)
  const alike = fits.filter(({ diagnosis }) => diagnosis === best.diagnosis)
  const probability = likelihood(alike) / likelihood(fits)
  // A fault is reported only when it is more likely than a healthy string.
  const is_named = best.diagnosis === 'normal' || probability >= probability_min
  const { gain, lost_voltage, resistance, shaded_gain, shaded_voltage } = best.fit.parameters
  const shaded = meanOf(points, ({ is_shaded }) => (is_shaded ? 1 : 0))
  const r_ohm = resistance * options.resistance_unit_ohm
  const resistive = r_ohm * meanOf(points, ({ current_a, voltage_v }) => current_a / voltage_v)
  return {
    diagnosis: is_named ? best.diagnosis : null,
    reason: is_named ? null : 'ambiguous',
    current_loss_pct: -100 * (gain + shaded * shaded_gain),
    voltage_loss_pct: 100 * (lost_voltage + shaded * shaded_voltage + resistive),
    confidence_pct: is_named ? 100 * probability : null,
    point_count,
  }
}

const meanOf = <T>(values: readonly T[], of: (value: T) => number): number =>
  values.reduce((sum, value) => sum + of(value), 0) / values.length

function evenly<T>(values: readonly T[], count_max: number): readonly T[] {
  const length = Math.min(values.length, count_max)
  return Array.from({ length }, (_, nth) => values[Math.floor((nth * values.length) / length)]!)
}
