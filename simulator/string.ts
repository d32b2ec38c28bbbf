/** One string of modules: its properties, its faults, and its circuit in a given light. */
import {
  type ShadedString,
  shadedString,
  stringCurrent,
  stringOpenCircuitVoltage,
  stringPeaks,
  substringCircuit,
} from '@heliograph/physics/shaded-string'
import {
  type CecModule,
  cecSingleDiode,
  currentAtVoltage,
  maximumPowerPoint,
  openCircuitVoltage,
  type SingleDiode,
} from '@heliograph/physics/single-diode'
import { type Obstacle, shadowRatio } from './shade.ts'

export const substrings_per_module = 3

export interface StringModel {
  string_index: number
  mppt_index: number
  module: CecModule
  module_count: number
  connected: boolean
  /** The plant's surface of the string. */
  surface: number
  /** Share of the light converted, relative to a new and clean module without flaws. */
  mismatch_ratio: number
  /** Permanent dirt, as a share of the light. */
  lasting_soiling_ratio: number
  soiling_ratio_per_day: number
  degradation_ratio_per_year: number
  wiring_ohm: number
  /** Obstacle of a string with the fault `shaded_string`. */
  obstacle: Obstacle
}

export interface StringAilment {
  is_open: boolean
  is_shaded: boolean
  /** Light lost to dirt, 0 to below 1, in addition to that of its neighbours. */
  soiling_loss_ratio: number
  /** Substrings whose bypass diode has failed as a short circuit. */
  bypassed_substrings: number
  /** In series with the whole string. */
  resistance_ohm: number
  /** Shunt of each module where that is lower than its own. */
  shunt_ohm: number
}

export const sound: StringAilment = {
  is_open: false,
  is_shaded: false,
  soiling_loss_ratio: 0,
  bypassed_substrings: 0,
  resistance_ohm: 0,
  shunt_ohm: Number.POSITIVE_INFINITY,
}

interface Light {
  /** After reflection at the glass. */
  effective_irradiance_w_m2: number
  /** The same behind an obstacle that hides the sun and the bright sky around it. */
  shaded_irradiance_w_m2: number
  cell_temperature_c: number
}

/** Conditions of all strings of a plant. */
export interface Surroundings {
  surfaces: readonly Light[]
  sun: { azimuth_deg: number; apparent_elevation_deg: number }
  dust_days: number
  years_in_use: number
}

/**
 * A string in a given light: equal modules in series, or shaded and unshaded parts. A bypassed
 * substring removes a third of a module.
 */
export interface LitString {
  string_index: number
  diode: SingleDiode
  modules_in_series: number
  shaded: ShadedString | null
}

/** Share of the sky visible to a shaded part. */
const sky_in_shade_ratio = 0.9

export function litString(
  string: StringModel,
  ailment: StringAilment,
  around: Surroundings,
): LitString {
  const { string_index, module, module_count } = string
  const light = around.surfaces[string.surface]!
  const kept = keptRatio(string, around) * (1 - ailment.soiling_loss_ratio)
  const moduleIn = (irradiance_w_m2: number): SingleDiode => {
    const circuit = cecSingleDiode(module, irradiance_w_m2 * kept, light.cell_temperature_c)
    circuit.g_sh_s = Math.max(circuit.g_sh_s, 1 / ailment.shunt_ohm)
    return circuit
  }
  const diode = moduleIn(light.effective_irradiance_w_m2)
  const substrings = module_count * substrings_per_module
  const alive = Math.max(1, substrings - ailment.bypassed_substrings)
  const modules_in_series = alive / substrings_per_module
  const series_resistance_ohm = string.wiring_ohm * module_count + ailment.resistance_ohm
  const shadow = ailment.is_shaded ? shadowRatio(string.obstacle, around.sun) : 0
  if (shadow <= 0) {
    diode.r_s_ohm += series_resistance_ohm / modules_in_series
    return { string_index, diode, modules_in_series, shaded: null }
  }
  const dim = moduleIn(light.shaded_irradiance_w_m2 * sky_in_shade_ratio)
  const hidden = Math.min(alive, Math.ceil(shadow * substrings))
  const groups = [
    { circuit: substringCircuit(diode, substrings_per_module), count: alive - hidden },
    { circuit: substringCircuit(dim, substrings_per_module), count: hidden },
  ]
  const shaded = shadedString(groups, { series_resistance_ohm })
  return { string_index, diode, modules_in_series, shaded }
}

/** Share of the light converted, relative to a new and clean module without flaws. */
function keptRatio(string: StringModel, { dust_days, years_in_use }: Surroundings): number {
  const soiling = string.lasting_soiling_ratio + string.soiling_ratio_per_day * dust_days
  const aged = Math.max(0, 1 - string.degradation_ratio_per_year * years_in_use)
  return string.mismatch_ratio * Math.max(0, 1 - soiling) * aged
}

/** Current, A, at a voltage, not below 0: no reverse current. */
export function litCurrent(string: LitString, voltage_v: number): number {
  const current_a = string.shaded
    ? stringCurrent(string.shaded, voltage_v)
    : currentAtVoltage(string.diode, voltage_v / string.modules_in_series)
  return Math.max(0, current_a)
}

export function litOpenVoltage({ shaded, diode, modules_in_series }: LitString): number {
  return shaded ? stringOpenCircuitVoltage(shaded) : openCircuitVoltage(diode) * modules_in_series
}

/** Voltages of local maximum power; none in the dark. */
export function litBestVoltages({ shaded, diode, modules_in_series }: LitString): number[] {
  if (shaded) return stringPeaks(shaded).local.map(({ voltage_v }) => voltage_v)
  return [maximumPowerPoint(diode).voltage_v * modules_in_series]
}
