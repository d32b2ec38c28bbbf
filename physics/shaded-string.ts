/**
 * A string of substrings in series, each with a bypass diode, under unequal light.
 *
 * The bypass diode is ideal with a threshold: it lets no substring fall below -0.5 V. In order of
 * the current at which their diodes take over, the groups of equal substrings divide the curve into
 * sections. Inside a section the voltage of the string is the sum of concave functions of the
 * current, so that its power has one maximum at most, and where two sections meet the power bends
 * upwards, so that no maximum lies there: one search in each section finds all of them.
 */
import {
  currentAtVoltage,
  diodeVoltageAtCurrent,
  type OperatingPoint,
  type SingleDiode,
  seriesParallel,
  voltageAtCurrent,
} from './single-diode.ts'

/** Equal substrings under equal light; where in the string they are does not matter. */
export interface SubstringGroup {
  /** Of one substring. */
  circuit: SingleDiode
  /** Whole, 0 and more. */
  count: number
  /** True where the bypass diodes have failed as short circuits: no voltage at any current. */
  is_bypassed?: boolean
}

/** The groups that have a voltage, in ascending order of their `bypass_a`. */
export interface ShadedString {
  readonly sections: readonly Section[]
  /** Of cables and connectors, beyond that of the modules; 0 and more. */
  readonly series_resistance_ohm: number
}

/** The part of the curve whose highest current is that of its group. */
interface Section {
  readonly circuit: SingleDiode
  readonly count: number
  /** Current through a substring of the group where its diode takes over. */
  readonly bypass_a: number
  /** Voltage of the whole string at that current. */
  readonly voltage_min_v: number
}

interface StringPeaks {
  /** The highest of the local ones; all zero in the dark. */
  global: OperatingPoint
  /** In descending order of voltage. */
  local: OperatingPoint[]
}

/** What a Schottky bypass diode drops at the current of a module. */
export const bypass_voltage_v = 0.5

/** A step below this share of the voltage leaves an error below the rounding. */
const step_ratio_min = 1e-10
const steps_max = 200

/** The circuit of one of `substring_count` (1 and more) equal substrings of a module. */
export function substringCircuit(module: SingleDiode, substring_count: number): SingleDiode {
  return seriesParallel(module, 1 / substring_count, 1)
}

/** Throws a RangeError where a count or resistance is below 0, or no substring has a voltage. */
export function shadedString(
  groups: readonly SubstringGroup[],
  { series_resistance_ohm = 0 }: { series_resistance_ohm?: number } = {},
): ShadedString {
  for (const { count } of groups) {
    if (!(Number.isInteger(count) && count >= 0)) throw new RangeError(`count: ${count}`)
  }
  if (!(series_resistance_ohm >= 0)) {
    throw new RangeError(`series_resistance_ohm: ${series_resistance_ohm}`)
  }
  const sections = groups
    .filter(({ count, is_bypassed }) => count > 0 && !is_bypassed)
    .map(({ circuit, count }) => ({
      circuit,
      count,
      bypass_a: currentAtVoltage(circuit, -bypass_voltage_v),
      voltage_min_v: 0,
    }))
    .sort((a, b) => a.bypass_a - b.bypass_a)
  if (sections.length === 0) throw new RangeError('groups: no substring has a voltage')
  const string = { sections, series_resistance_ohm }
  for (const section of sections) section.voltage_min_v = stringVoltage(string, section.bypass_a)
  return string
}

/**
 * Voltage, V, of the string at a current; it falls with the current, steeply where a group passes
 * to its bypass diodes. `current_a` of up to 1e200 either way.
 */
export function stringVoltage(string: ShadedString, current_a: number): number {
  let voltage_v = -current_a * string.series_resistance_ohm
  for (const { circuit, count, bypass_a } of string.sections) {
    const one_v = current_a < bypass_a ? voltageAtCurrent(circuit, current_a) : -bypass_voltage_v
    voltage_v += count * Math.max(-bypass_voltage_v, one_v)
  }
  return voltage_v
}

/** Voltage, V, of the string without load. */
export function stringOpenCircuitVoltage(string: ShadedString): number {
  return stringVoltage(string, 0)
}

/**
 * Current, A, of the string at a voltage, the inverse of `stringVoltage`. Above the open circuit
 * voltage it is negative. `voltage_v` of up to 1e200 either way. Where every substring is bypassed
 * only the series resistance limits it; without one the least current at which that is so stands
 * for all.
 */
export function stringCurrent(string: ShadedString, voltage_v: number): number {
  if (Number.isNaN(voltage_v)) return Number.NaN
  const { sections, series_resistance_ohm } = string
  const first = sections.findIndex((section) => voltage_v >= section.voltage_min_v)
  if (first < 0) {
    const bypassed = sections.reduce((sum, { count }) => sum + count, 0)
    const driven_a = (-bypass_voltage_v * bypassed - voltage_v) / series_resistance_ohm
    const least_a = sections.at(-1)!.bypass_a
    return series_resistance_ohm > 0 ? Math.max(least_a, driven_a) : least_a
  }
  const { circuit } = sections[first]!
  const range = diodeRange(sections, first)
  if (first === 0) range.high = Math.max(range.high, fedDiodeVoltageMax(string, voltage_v))
  const active = sections.slice(first).reduce((sum, section) => sum + section.count, 0)
  const vd = fallingRoot(range, voltage_v / active + circuit.i_l_a * circuit.r_s_ohm, (at_v) => {
    const limiting = diodeState(circuit, at_v)
    const { voltage_v: reached_v, fall_ohm } = sectionState(string, first, limiting)
    return { value: voltage_v - reached_v, slope: -fall_ohm * limiting.slope_s }
  })
  return diodeState(circuit, vd).current_a
}

/** Every maximum of the power, V, A and W, to the precision of the circuits. */
export function stringPeaks(string: ShadedString): StringPeaks {
  const local = string.sections.flatMap((_, first) => peakOf(string, first) ?? [])
  const dark = { voltage_v: 0, current_a: 0, power_w: 0 }
  const global = local.reduce((best, peak) => (peak.power_w > best.power_w ? peak : best), dark)
  return { global, local }
}

/** The maximum inside a section, where it has one. */
function peakOf(string: ShadedString, first: number): OperatingPoint | undefined {
  const { circuit } = string.sections[first]!
  // dP/dVd of the limiting substring, and its slope.
  const powerSlope = (vd: number) => {
    const limiting = diodeState(circuit, vd)
    const { current_a, slope_s, curvature } = limiting
    const { voltage_v, fall_ohm, bend } = sectionState(string, first, limiting)
    const gain_v = voltage_v - current_a * fall_ohm
    return {
      value: -slope_s * gain_v,
      slope: -curvature * gain_v - slope_s * slope_s * (2 * fall_ohm + current_a * bend),
    }
  }
  const range = diodeRange(string.sections, first)
  if (!(powerSlope(range.low).value > 0 && powerSlope(range.high).value < 0)) return undefined
  const guess = range.high - circuit.a_v * Math.log1p(Math.max(0, range.high) / circuit.a_v)
  const limiting = diodeState(circuit, fallingRoot(range, guess, powerSlope))
  const { voltage_v } = sectionState(string, first, limiting)
  const { current_a } = limiting
  return { voltage_v, current_a, power_w: voltage_v * current_a }
}

interface Range {
  low: number
  high: number
}

/** Diode voltages of the limiting substring from the end of its section to its start. */
function diodeRange(sections: readonly Section[], first: number): Range {
  const { circuit, bypass_a } = sections[first]!
  const start_a = first === 0 ? 0 : sections[first - 1]!.bypass_a
  return {
    low: bypass_a * circuit.r_s_ohm - bypass_voltage_v,
    high: diodeVoltageAtCurrent(circuit, start_a),
  }
}

/**
 * No diode of the limiting substrings has more voltage when the string is fed from outside: they
 * take no more than the whole, and no more current than the resistances let through.
 */
function fedDiodeVoltageMax(
  { sections, series_resistance_ohm }: ShadedString,
  voltage_v: number,
): number {
  const { circuit, count } = sections[0]!
  if (voltage_v <= 0) return 0
  const resistance_ohm = sections.reduce(
    (sum, section) => sum + section.count * section.circuit.r_s_ohm,
    series_resistance_ohm,
  )
  const fed_v = diodeVoltageAtCurrent(circuit, -voltage_v / resistance_ohm)
  return Math.min(voltage_v / count, fed_v)
}

interface DiodeState {
  vd: number
  current_a: number
  /** Negative first and second derivative of the current by the diode voltage. */
  slope_s: number
  curvature: number
}

function diodeState({ i_l_a, i_o_a, g_sh_s, a_v }: SingleDiode, vd: number): DiodeState {
  const grown = Math.expm1(vd / a_v)
  const diode_s = (i_o_a / a_v) * (grown + 1)
  return {
    vd,
    current_a: i_l_a - i_o_a * grown - vd * g_sh_s,
    slope_s: diode_s + g_sh_s,
    curvature: diode_s / a_v,
  }
}

/** The string in a section: its voltage, and its negative derivatives by the current. */
function sectionState(string: ShadedString, first: number, limiting: DiodeState) {
  const { current_a } = limiting
  let voltage_v = -current_a * string.series_resistance_ohm
  let fall_ohm = string.series_resistance_ohm
  let bend = 0
  for (let i = 0; i < string.sections.length; i++) {
    const { circuit, count } = string.sections[i]!
    if (i < first) {
      voltage_v -= count * bypass_voltage_v
      continue
    }
    const { vd, slope_s, curvature } =
      i === first ? limiting : diodeState(circuit, diodeVoltageAtCurrent(circuit, current_a))
    voltage_v += count * (vd - current_a * circuit.r_s_ohm)
    fall_ohm += count * (1 / slope_s + circuit.r_s_ohm)
    bend += (count * curvature) / (slope_s * slope_s * slope_s)
  }
  return { voltage_v, fall_ohm, bend }
}

/** The root of a falling function by Newton's method, kept inside the range that holds it. */
function fallingRoot(
  { low, high }: Range,
  guess: number,
  at: (x: number) => { value: number; slope: number },
): number {
  let x = Math.min(high, Math.max(low, guess))
  for (let i = 0; i < steps_max; i++) {
    const { value, slope } = at(x)
    if (value > 0) low = x
    else high = x
    const next = x - value / slope
    const step = (next >= low && next <= high ? next : (low + high) / 2) - x
    x += step
    if (!(Math.abs(step) > step_ratio_min * Math.abs(x))) break
  }
  return x
}
