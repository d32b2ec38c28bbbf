/** The AC terminals of simulated devices: balanced phases at unity power factor. */

export const nominal_voltage_v = 800

export interface Grid {
  frequency_hz: number
  /** Share of the nominal voltage. */
  voltage_ratio: number
}

export const unityPower = (ac_power_kw: number) => ({
  ac_power_kw,
  reactive_power_kvar: 0,
  apparent_power_kva: Math.abs(ac_power_kw),
  power_factor: ac_power_kw === 0 ? null : 1,
})

/** Frequency, voltages between phases and currents at this power, full precision. */
export function phasesAt(ac_power_kw: number, { frequency_hz, voltage_ratio }: Grid) {
  const line_v = nominal_voltage_v * voltage_ratio
  const current_a = (Math.abs(ac_power_kw) * 1000) / (Math.sqrt(3) * line_v)
  return {
    frequency_hz,
    voltage_l1_l2_v: line_v,
    voltage_l2_l3_v: line_v,
    voltage_l3_l1_v: line_v,
    current_l1_a: current_a,
    current_l2_a: current_a,
    current_l3_a: current_a,
  }
}

export function toNeutral({ voltage_ratio }: Grid) {
  const phase_v = (nominal_voltage_v * voltage_ratio) / Math.sqrt(3)
  return { voltage_l1_n_v: phase_v, voltage_l2_n_v: phase_v, voltage_l3_n_v: phase_v }
}

const hardware_test_failure = 2 ** 15

export const alarmWords = (is_fault: boolean) => ({
  alarm_1: is_fault ? hardware_test_failure : 0,
  alarm_2: 0,
  alarm_3: 0,
  alarm_4: 0,
  alarm_5: 0,
})

/** Temperatures in an inverter or PCS at a load of 0 to 1, °C. */
export const temperaturesAt = (ambient_c: number, load: number) => ({
  cabinet_temperature_c: ambient_c + 6 + 18 * load,
  heatsink_temperature_c: ambient_c + 8 + 34 * load,
})
