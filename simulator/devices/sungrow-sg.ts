/** A Sungrow string inverter: measurements in input registers, low words first. */
import type { Inverter } from '@heliograph/domain/site'
import type { InverterSnapshot } from '../site.ts'
import { createImage, type InverterNow, type RegisterDevice } from './register-device.ts'
import { Refusal } from './unit.ts'

interface SungrowState {
  is_on: boolean
  /** Tenths of a percent of the nominal power. */
  setting: number
}

const on = 0xaa
const off = 0x55
/**
 * Without a limit the device delivers up to a tenth more than its nominal power, and reports it.
 */
const unlimited = 1100

const state_code: Readonly<Record<InverterSnapshot['state'], number>> = {
  off: 0x8000,
  sleeping: 0x1400,
  starting: 0x1600,
  mppt: 0x0000,
  throttled: 0x8200,
  shutting_down: 0x8000,
  fault: 0x5500,
  standby: 0x1400,
  test: 0x1400,
  unknown: 0x8000,
}

export function sungrowSg(inverter: Inverter): RegisterDevice<SungrowState, InverterNow> {
  const nominal_w = inverter.rated_ac_power_kw * 1000
  return {
    initial: { is_on: false, setting: unlimited },
    registers(now, state) {
      const { measured, frequency_hz, line_voltage_v, energy_kwh } = now
      const { ac_power_kw } = measured
      const { image, holding, input } = createImage('low_first')
      holding.u16(5006, state.is_on ? on : off)
      holding.u16(5007, state.is_on ? state.setting : unlimited)
      input.text(4989, 10, `SIM-SUN-${inverter.inverter_id}`)
      input.u16(4999, 0x2c06)
      input.u16(5000, nominal_w / 100)
      input.u32(5003, energy_kwh)
      // In the holding registers this address is the setting of the limit.
      input.u16(5007, measured.cabinet_temperature_c * 10)
      input.u32(5008, Math.abs(ac_power_kw) * 1000)
      for (let nth = 0; nth < 3; nth += 1) {
        input.u16(5010 + 2 * nth, (measured.mppt_voltage_v[nth] ?? 0) * 10)
        input.u16(5011 + 2 * nth, (measured.mppt_current_a[nth] ?? 0) * 10)
        input.u16(5018 + nth, line_voltage_v * 10)
        input.u16(
          5021 + nth,
          ((Math.abs(ac_power_kw) * 1000) / (Math.sqrt(3) * line_voltage_v)) * 10,
        )
      }
      for (const [nth, current_a] of measured.string_current_a.entries()) {
        input.u16(7012 + nth, current_a * 100)
      }
      input.u32(5016, measured.dc_power_kw * 1000)
      input.u32(5030, Math.max(0, ac_power_kw) * 1000)
      input.u32(5032, 0)
      input.u16(5034, ac_power_kw > 0 ? 1000 : 0)
      input.u16(5035, frequency_hz * 10)
      input.u16(5037, state_code[measured.state])
      input.u16(5070, measured.insulation_resistance_kohm)
      return image
    },
    write(state, { address, values }) {
      let next = state
      for (const [nth, value] of values.entries()) {
        if (address + nth === 5006) {
          if (value !== on && value !== off) return new Refusal('illegal data value')
          // Switched on, it limits to full power until the next setting.
          const setting = next.is_on ? next.setting : full
          next = { is_on: value === on, setting }
        } else if (address + nth === 5007) {
          if (!next.is_on || value > full) return new Refusal('illegal data value')
          next = { ...next, setting: value }
        } else return new Refusal('illegal data address')
      }
      return next
    },
    limit_w: ({ is_on, setting }) => (is_on ? (setting / full) * nominal_w : null),
  }
}

const full = 1000
