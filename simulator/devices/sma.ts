/** An SMA inverter with the maker's registers: setpoints are ignored until control is active. */
import type { Inverter } from '@heliograph/domain/site'
import type { InverterSnapshot } from '../site.ts'
import {
  createImage,
  type InverterNow,
  numberOf,
  type RegisterDevice,
  stateIf,
} from './register-device.ts'
import { Refusal } from './unit.ts'

interface SmaState {
  /** 802: external setpoints apply; 803: they are accepted and ignored. */
  control: 802 | 803
  setpoint_w: number
  set_at_ms: number
  /** 1079: an external setpoint; others limit by settings of the device. */
  operating_mode: number
  /** 2506 keeps the last setpoint, 2507 falls back after the timeout. */
  fallback_mode: number
  fallback_timeout_s: number
  /** Hundredths of a percent of WMax. */
  fallback: number
  /** Of the setpoint in watts; changed only with the Grid Guard code. */
  fallback_w: number
}

const external_setpoint = 1079
const keeps_last = 2506
export const falls_back = 2507
const active = 802
const inactive = 803
const not_available = 0x00ff_fffd

const state_code: Readonly<Record<InverterSnapshot['state'], number>> = {
  off: 381,
  sleeping: 1393,
  starting: 1467,
  mppt: 295,
  throttled: 2119,
  shutting_down: 1469,
  fault: 1392,
  standby: 1393,
  test: not_available,
  unknown: not_available,
}

export function sma(inverter: Inverter): RegisterDevice<SmaState, InverterNow> {
  const w_max_w = Math.round(inverter.rated_ac_power_kw * 1000)

  function limit_w(state: SmaState, now_ms: number): number | null {
    if (state.control === inactive || state.operating_mode !== external_setpoint) return null
    const is_late = now_ms - state.set_at_ms >= state.fallback_timeout_s * 1000
    if (state.fallback_mode === falls_back && is_late) {
      return Math.max((state.fallback / 10_000) * w_max_w, state.fallback_w)
    }
    return state.setpoint_w
  }

  return {
    initial: {
      control: inactive,
      setpoint_w: w_max_w,
      set_at_ms: 0,
      operating_mode: external_setpoint,
      fallback_mode: keeps_last,
      fallback_timeout_s: 300,
      fallback: 10_000,
      fallback_w: 0,
    },
    registers({ measured, frequency_hz, line_voltage_v, energy_kwh }, state, now_ms) {
      const { image, holding } = createImage('high_first')
      holding.u32(30_053, 9344)
      holding.u32(30_057, 3_000_000_000 + inverter.inverter_id)
      holding.u32(30_201, measured.state === 'fault' ? 35 : 307)
      holding.u32(30_231, w_max_w)
      holding.u32(30_233, w_max_w)
      holding.u64(30_513, energy_kwh * 1000)
      holding.u32(30_775, measured.ac_power_kw * 1000)
      for (let phase = 0; phase < 3; phase += 1) {
        holding.u32(30_783 + 2 * phase, (line_voltage_v / Math.sqrt(3)) * 100)
      }
      // Inputs 1, 2 to 4, and 5 to 6.
      const inputs = [30_769, 30_957, 30_963, 30_969, 31_209, 31_215]
      for (const [nth, address] of inputs.entries()) {
        const [voltage_v = 0, current_a = 0] = [
          measured.mppt_voltage_v[nth],
          measured.mppt_current_a[nth],
        ]
        holding.u32(address, current_a * 1000)
        holding.u32(address + 2, voltage_v * 100)
        holding.u32(address + 4, current_a * voltage_v)
      }
      holding.u32(30_953, measured.cabinet_temperature_c * 10)
      holding.u32(30_803, frequency_hz * 100)
      holding.u32(30_805, 0)
      holding.u32(30_813, Math.abs(measured.ac_power_kw) * 1000)
      holding.u32(30_835, state.operating_mode)
      holding.u32(31_405, limit_w(state, now_ms) ?? w_max_w)
      holding.u32(40_029, state_code[measured.state])
      holding.u32(41_193, state.fallback_mode)
      holding.u32(41_195, state.fallback_timeout_s)
      holding.u32(41_197, state.fallback)
      holding.u32(41_215, state.fallback_w)
      return image
    },
    write(state, { address, values, now_ms }) {
      if (values.length !== 2) return new Refusal('illegal data address')
      const number = numberOf(values, 'high_first')
      switch (address) {
        case 40_149:
          // Accepted and ignored while control is inactive.
          return state.control === inactive
            ? state
            : { ...state, setpoint_w: number, set_at_ms: now_ms }
        case 40_151:
          return number === active || number === inactive
            ? { ...state, control: number }
            : new Refusal('illegal data value')
        case 41_193:
          return stateIf(number === keeps_last || number === falls_back, {
            ...state,
            fallback_mode: number,
          })
        case 41_197:
          return stateIf(number <= 10_000, { ...state, fallback: number })
        case 41_215:
          // Without the Grid Guard code: taken without a word, and not done.
          return state
        default:
          return new Refusal('illegal data address')
      }
    },
    limit_w,
  }
}
