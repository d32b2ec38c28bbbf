/** One inverter with its strings: from irradiance and cell temperature to DC and AC. */

import type { InverterState } from '@heliograph/domain/readings'
import { pvwattsAcPower } from '@heliograph/physics/inverter-efficiency'
import {
  type CecModule,
  cecSingleDiode,
  currentAtVoltage,
  maximumPowerPoint,
  openCircuitVoltage,
  type SingleDiode,
} from '@heliograph/physics/single-diode'

export interface StringModel {
  string_index: number
  mppt_index: number
  module: CecModule
  module_count: number
  connected: boolean
  /** Which of the plant's surfaces it lies on. */
  surface: number
  /** Share of the light that its cells turn to current beside a flawless, clean module. */
  light_ratio: number
}

export interface InverterModel {
  inverter_id: number
  rated_ac_power_kw: number
  /** What the inverter itself consumes at night. */
  standby_power_kw: number
  mppts: readonly (readonly StringModel[])[]
  string_count: number
}

export interface Light {
  effective_irradiance_w_m2: number
  cell_temperature_c: number
}

export interface InverterOutput {
  state: InverterState
  ac_power_kw: number
  dc_power_kw: number
  /** What it could deliver without the limit of its rating. */
  available_power_kw: number
  mppt_voltage_v: number[]
  mppt_current_a: number[]
  string_current_a: number[]
}

const nominal_efficiency_ratio = 0.975
const clip_steps = 18

export interface InverterFaults {
  dead: boolean
  open_strings: ReadonlySet<number>
}

/** A string of the MPPT in this light: its circuit for one module, and how many are in series. */
interface LitString {
  string_index: number
  diode: SingleDiode
  module_count: number
}

/**
 * Each MPPT holds its strings, in parallel, at the voltage of maximum power of their mean; when the
 * inverter would exceed its rating, all MPPTs move to a higher voltage until it does not.
 */
export function inverterOutput(
  model: InverterModel,
  surfaces: readonly Light[],
  faults: InverterFaults,
): InverterOutput {
  const lit = model.mppts.map((strings) => litStrings(strings, surfaces, faults))
  const open_v = lit.map((strings) => openVoltage(strings))
  if (faults.dead) return idle(model, 'fault', 0, open_v)

  const best_v = lit.map((strings) => bestVoltage(strings))
  const possible_kw = powerAt(lit, best_v) / 1000
  const rated_dc_w = (model.rated_ac_power_kw * 1000) / nominal_efficiency_ratio
  // Below what its own electronics take there is nothing to deliver.
  if (pvwattsAcPower(possible_kw * 1000, { rated_dc_w, nominal_efficiency_ratio }) <= 0) {
    const dark = open_v.every((voltage) => voltage < 1)
    return idle(model, dark ? 'sleeping' : 'standby', -model.standby_power_kw, open_v)
  }
  const clips = possible_kw * 1000 > rated_dc_w
  const voltage_v = clips ? clippedVoltages(lit, best_v, open_v, rated_dc_w) : best_v
  return running(model, lit, voltage_v, { clips, possible_kw, rated_dc_w })
}

function running(
  model: InverterModel,
  lit: readonly LitString[][],
  voltage_v: readonly number[],
  { clips, possible_kw, rated_dc_w }: { clips: boolean; possible_kw: number; rated_dc_w: number },
): InverterOutput {
  const string_current_a = new Array<number>(model.string_count).fill(0)
  const mppt_current_a = lit.map((strings, mppt) => {
    let sum_a = 0
    for (const string of strings) {
      const current_a = Math.max(0, stringCurrent(string, voltage_v[mppt]!))
      string_current_a[string.string_index] = current_a
      sum_a += current_a
    }
    return sum_a
  })
  const dc_w = mppt_current_a.reduce((sum, current, mppt) => sum + current * voltage_v[mppt]!, 0)
  const rating = { rated_dc_w, nominal_efficiency_ratio }
  const ac_power_kw = pvwattsAcPower(dc_w, rating) / 1000
  return {
    state: clips ? 'throttled' : 'mppt',
    ac_power_kw,
    dc_power_kw: dc_w / 1000,
    available_power_kw: Math.min(
      model.rated_ac_power_kw,
      pvwattsAcPower(possible_kw * 1000, rating) / 1000,
    ),
    mppt_voltage_v: [...voltage_v],
    mppt_current_a,
    string_current_a,
  }
}

function idle(
  model: InverterModel,
  state: InverterState,
  ac_power_kw: number,
  open_v: readonly number[],
): InverterOutput {
  return {
    state,
    ac_power_kw,
    dc_power_kw: 0,
    available_power_kw: 0,
    mppt_voltage_v: [...open_v],
    mppt_current_a: open_v.map(() => 0),
    string_current_a: new Array<number>(model.string_count).fill(0),
  }
}

function litStrings(
  strings: readonly StringModel[],
  surfaces: readonly Light[],
  faults: InverterFaults,
): LitString[] {
  return strings
    .filter(({ connected, string_index }) => connected && !faults.open_strings.has(string_index))
    .map(({ string_index, module, module_count, surface, light_ratio }) => {
      const light = surfaces[surface]!
      const irradiance = light.effective_irradiance_w_m2 * light_ratio
      const diode = cecSingleDiode(module, irradiance, light.cell_temperature_c)
      return { string_index, diode, module_count }
    })
}

const stringCurrent = ({ diode, module_count }: LitString, voltage_v: number): number =>
  currentAtVoltage(diode, voltage_v / module_count)

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

const openVoltage = (strings: readonly LitString[]): number =>
  mean(strings.map(({ diode, module_count }) => openCircuitVoltage(diode) * module_count))

/** The strings of an MPPT differ little: the mean of their best voltages is within a volt. */
const bestVoltage = (strings: readonly LitString[]): number =>
  mean(strings.map(({ diode, module_count }) => maximumPowerPoint(diode).voltage_v * module_count))

function powerAt(lit: readonly LitString[][], voltage_v: readonly number[]): number {
  let power_w = 0
  lit.forEach((strings, mppt) => {
    for (const string of strings) {
      power_w += Math.max(0, stringCurrent(string, voltage_v[mppt]!)) * voltage_v[mppt]!
    }
  })
  return power_w
}

/** Bisects how far every MPPT moves from its best voltage towards open circuit. */
function clippedVoltages(
  lit: readonly LitString[][],
  best_v: readonly number[],
  open_v: readonly number[],
  limit_w: number,
): number[] {
  const moved = (share: number) => best_v.map((best, mppt) => best + (open_v[mppt]! - best) * share)
  let low = 0
  let high = 1
  for (let step = 0; step < clip_steps; step += 1) {
    const middle = (low + high) / 2
    if (powerAt(lit, moved(middle)) > limit_w) low = middle
    else high = middle
  }
  return moved(high)
}
