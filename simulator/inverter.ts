/** One inverter with its strings: from light to DC and AC. */

import type { InverterState } from '@heliograph/domain/readings'
import { pvwattsAcPower } from '@heliograph/physics/inverter-efficiency'
import { bestVoltage, limitedVoltages, openVoltage } from './mppt.ts'
import {
  type LitString,
  litCurrent,
  litString,
  type StringAilment,
  type StringModel,
  type Surroundings,
  sound,
} from './string.ts'

export interface InverterModel {
  inverter_id: number
  rated_ac_power_kw: number
  nominal_efficiency_ratio: number
  standby_power_kw: number
  mppts: readonly (readonly StringModel[])[]
  string_count: number
}

export interface InverterOutput {
  state: InverterState
  ac_power_kw: number
  dc_power_kw: number
  /** Power within its rating without a limit. */
  available_power_kw: number
  /** Limit in force, percent of its rating; null without one. */
  power_limit_pct: number | null
  mppt_voltage_v: number[]
  mppt_current_a: number[]
  string_current_a: number[]
}

export interface InverterAilments {
  is_dead: boolean
  power_limit_pct: number | null
  /** By `string_index`; absent strings are healthy. */
  strings: ReadonlyMap<number, StringAilment>
}

interface Rating {
  rated_dc_w: number
  nominal_efficiency_ratio: number
}

/**
 * Each MPPT operates its strings at their maximum power. Above the rating or the limit of the
 * inverter, all MPPTs move to a higher voltage.
 */
export function inverterOutput(
  model: InverterModel,
  around: Surroundings,
  ailments: InverterAilments,
): InverterOutput {
  const { power_limit_pct } = ailments
  const lit = model.mppts.map((strings) => litStrings(strings, around, ailments))
  const idle = (state: InverterState, ac_power_kw: number) => ({
    ...idling(model, lit.map(openVoltage)),
    state,
    ac_power_kw,
    power_limit_pct,
  })
  if (ailments.is_dead) return idle('fault', 0)

  const { nominal_efficiency_ratio } = model
  const rated_ac_w = model.rated_ac_power_kw * 1000
  const rating = { rated_dc_w: rated_ac_w / nominal_efficiency_ratio, nominal_efficiency_ratio }
  const best_v = lit.map(bestVoltage)
  const best = operating(model, lit, best_v)
  const available_w = pvwattsAcPower(best.dc_w, rating)
  // Below its own consumption there is no power to deliver.
  if (available_w <= 0) {
    const dark = lit.every((strings) => openVoltage(strings) < 1)
    return idle(dark ? 'sleeping' : 'standby', -model.standby_power_kw)
  }
  const limit_w = (rated_ac_w * (power_limit_pct ?? 100)) / 100
  const limit_dc_w = dcPowerFor(limit_w, rating)
  const is_limited = best.dc_w > limit_dc_w
  const { dc_w, ...now } = is_limited
    ? operating(
        model,
        lit,
        limitedVoltages(lit, { best_v, best_w: best.dc_w, limit_w: limit_dc_w }),
      )
    : best
  return {
    state: is_limited ? 'throttled' : 'mppt',
    ac_power_kw: Math.min(limit_w, pvwattsAcPower(dc_w, rating)) / 1000,
    dc_power_kw: dc_w / 1000,
    available_power_kw: available_w / 1000,
    power_limit_pct,
    ...now,
  }
}

/** DC power, W, at which `pvwattsAcPower` gives `ac_w`, 0 to the rating: the root of its square. */
function dcPowerFor(ac_w: number, rating: Rating): number {
  const { rated_dc_w, nominal_efficiency_ratio } = rating
  const share = (ac_w / (nominal_efficiency_ratio * rated_dc_w)) * reference_efficiency_ratio
  const linear = 0.9858
  const square = 0.0162
  const root = Math.sqrt(linear * linear - 4 * square * (share + 0.0059))
  return rated_dc_w * ((linear - root) / (2 * square))
}

/** Of PVWatts; see physics/inverter-efficiency.ts. */
const reference_efficiency_ratio = 0.9637

function operating(
  model: InverterModel,
  lit: readonly LitString[][],
  mppt_voltage_v: readonly number[],
) {
  const string_current_a = new Array<number>(model.string_count).fill(0)
  let dc_w = 0
  const mppt_current_a = lit.map((strings, mppt) => {
    const voltage_v = mppt_voltage_v[mppt]!
    let sum_a = 0
    for (const string of strings) {
      const current_a = litCurrent(string, voltage_v)
      string_current_a[string.string_index] = current_a
      sum_a += current_a
    }
    dc_w += sum_a * voltage_v
    return sum_a
  })
  return { dc_w, mppt_voltage_v: [...mppt_voltage_v], mppt_current_a, string_current_a }
}

const idling = (model: InverterModel, open_v: readonly number[]) => ({
  dc_power_kw: 0,
  available_power_kw: 0,
  mppt_voltage_v: [...open_v],
  mppt_current_a: open_v.map(() => 0),
  string_current_a: new Array<number>(model.string_count).fill(0),
})

function litStrings(
  strings: readonly StringModel[],
  around: Surroundings,
  ailments: InverterAilments,
): LitString[] {
  const lit: LitString[] = []
  for (const string of strings) {
    const ailment = ailments.strings.get(string.string_index) ?? sound
    if (string.connected && !ailment.is_open) lit.push(litString(string, ailment, around))
  }
  return lit
}
