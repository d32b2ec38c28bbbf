/** A Huawei SUN2000: limits in watts or percent, which end by a timer unless it is off. */
import { type Inverter, mpptCount, stringsOf } from '@heliograph/domain/site'
import type { InverterSnapshot } from '../site.ts'
import {
  createImage,
  type InverterNow,
  numberOf,
  type RegisterDevice,
  stateIf,
} from './register-device.ts'
import { Refusal } from './unit.ts'

interface HuaweiState {
  /** Register of the command in force; initially the maximum, 42178. */
  command: 40_120 | 40_125 | 40_126 | 42_178
  /** As written, before gains. */
  value: number
  commanded_at_ms: number
  valid_s: number
  fail_safe_w: number
}

const maximum_active_power = 42_178
const valid_s_max = 86_400
const pmax_ratio = 1.1

const status: Readonly<Record<InverterSnapshot['state'], number>> = {
  off: 0x0301,
  sleeping: 0xa000,
  starting: 0x0100,
  mppt: 0x0200,
  throttled: 0x0201,
  shutting_down: 0x0301,
  fault: 0x0300,
  standby: 0x0002,
  test: 0x0500,
  unknown: 0x0000,
}

type Device = RegisterDevice<HuaweiState, InverterNow>

export function huaweiSun2000(inverter: Inverter): Device {
  const pn_w = Math.round(inverter.rated_ac_power_kw * 1000)
  const pmax_w = Math.round(
    (inverter.max_ac_power_kw ?? inverter.rated_ac_power_kw * pmax_ratio) * 1000,
  )

  /** After its time a command ends, and the device returns to its maximum. */
  function inForce(state: HuaweiState, now_ms: number): Pick<HuaweiState, 'command' | 'value'> {
    const is_over = state.valid_s > 0 && now_ms - state.commanded_at_ms >= state.valid_s * 1000
    return is_over ? { command: maximum_active_power, value: pmax_w } : state
  }

  return {
    initial: {
      command: maximum_active_power,
      value: pmax_w,
      commanded_at_ms: 0,
      valid_s: 0,
      fail_safe_w: pmax_w,
    },
    registers(now, state, now_ms) {
      const { image, holding } = createImage('high_first')
      holding.text(30_000, 15, 'SUN2000-SIM')
      holding.text(30_015, 10, `SIM-HUA-${inverter.inverter_id}`)
      holding.u16(30_071, stringsOf(inverter).length)
      holding.u16(30_072, mpptCount(inverter))
      holding.u32(30_073, pn_w)
      holding.u32(30_075, pmax_w)
      measure(holding, now)
      const { command, value } = inForce(state, now_ms)
      holding.u16(35_300, command === 40_125 ? 0 : 1)
      holding.u32(35_301, value)
      holding.u16(35_303, command)
      holding.u16(40_120, command === 40_120 ? value : 0)
      holding.u16(40_125, command === 40_125 ? value : 0)
      holding.u32(40_126, command === 40_126 ? value : 0)
      holding.u32(42_019, state.valid_s)
      holding.u32(42_405, state.fail_safe_w)
      return image
    },
    write(state, { address, values, now_ms }) {
      const number = numberOf(values, 'high_first')
      const commanded = (command: HuaweiState['command'], most: number) =>
        stateIf(number <= most, { ...state, command, value: number, commanded_at_ms: now_ms })
      const is = (at: number, count: number) => address === at && values.length === count
      if (is(40_120, 1)) return commanded(40_120, pmax_w / 100)
      if (is(40_125, 1)) return commanded(40_125, 1000)
      if (is(40_126, 2)) return commanded(40_126, pmax_w)
      if (is(42_019, 2)) return stateIf(number <= valid_s_max, { ...state, valid_s: number })
      if (is(42_405, 2)) return stateIf(number <= pmax_w, { ...state, fail_safe_w: number })
      return new Refusal('illegal data address')
    },
    limit_w(state, now_ms) {
      const { command, value } = inForce(state, now_ms)
      if (command === 40_126) return value
      if (command === 40_125) return (value / 1000) * pn_w
      return command === 40_120 ? value * 100 : null
    },
  }
}

function measure(holding: ReturnType<typeof createImage>['holding'], now: InverterNow) {
  const { measured, line_voltage_v, frequency_hz, energy_kwh } = now
  const { ac_power_kw, dc_power_kw, mppt_voltage_v, string_current_a } = measured
  const current_a = Math.abs(ac_power_kw * 1000) / (Math.sqrt(3) * line_voltage_v)
  holding.u16(32_008, 0)
  holding.u16(32_009, 0)
  holding.u16(32_010, 0)
  const inputs = 24
  for (let nth = 0; nth < inputs; nth += 1) {
    const per_mppt = Math.max(1, Math.ceil(string_current_a.length / mppt_voltage_v.length))
    const voltage_v = mppt_voltage_v[Math.floor(nth / per_mppt)]
    const is_there = nth < string_current_a.length
    holding.u16(32_016 + 2 * nth, is_there ? (voltage_v ?? 0) * 10 : 0x7fff)
    holding.u16(32_017 + 2 * nth, is_there ? (string_current_a[nth] ?? 0) * 100 : 0x7fff)
  }
  holding.u32(32_064, dc_power_kw * 1000)
  for (let phase = 0; phase < 3; phase += 1) {
    holding.u16(32_066 + phase, line_voltage_v * 10)
    holding.u16(32_069 + phase, (line_voltage_v / Math.sqrt(3)) * 10)
    holding.u32(32_072 + 2 * phase, current_a * 1000)
  }
  holding.u32(32_080, ac_power_kw * 1000)
  holding.u32(32_082, 0)
  holding.u16(32_084, ac_power_kw > 0 ? 1000 : 0)
  holding.u16(32_085, frequency_hz * 100)
  holding.u16(32_087, measured.cabinet_temperature_c * 10)
  holding.u16(32_088, measured.insulation_resistance_kohm)
  holding.u16(32_089, status[measured.state])
  holding.u32(32_106, energy_kwh * 100)
}
