/** Every quantity of a device: whether it has a value, within its range. */
import type { NumberRegister } from '@heliograph/domain/profile'
import { type Range, rangeOf } from '../drivers/plausible.ts'
import { describeRegister } from '../drivers/register-reader.ts'
import type { CheckedDevice } from './checked-device.ts'
import type { SiteDevice } from './site-devices.ts'
import { judged, type TestRow, unitOf, without } from './test-row.ts'

/** Closer than what a driver passes on: no plant has other values while it is commissioned. */
const close_ranges: Readonly<Record<string, Range>> = {
  frequency_hz: [45, 65],
  ambient_temperature_c: [-50, 60],
  module_temperature_c: [-50, 110],
  wind_speed_m_s: [0, 60],
  pressure_hpa: [500, 1100],
}

/** More than its rating no inverter delivers, except for a moment. */
const rated_factor_max = 1.1
/** As `rating_differs`. */
const rating_difference_max = 0.05

const essential: Partial<Record<SiteDevice['kind'], readonly string[]>> = {
  inverter: ['ac_power_kw', 'frequency_hz', 'energy_total_kwh'],
  meter: ['active_power_kw', 'frequency_hz', 'energy_export_kwh', 'energy_import_kwh'],
  pcs: ['ac_power_kw', 'frequency_hz'],
  battery: ['soc_pct', 'power_kw'],
}

export function checkQuantities(device: CheckedDevice): TestRow[] {
  const { of, read, error } = device
  if (!read) return [without('failed', of.name, 'communication', error)]
  const columns = new Set([
    ...Object.keys(read.values),
    ...Object.keys(read.described ?? {}),
    ...(essential[of.kind] ?? []),
  ])
  return [
    without('passed', of.name, 'communication', null),
    ...[...columns].flatMap((column) => checkColumn(device, column)),
    ...checkInputs(device),
    ...checkUnconfirmed(device),
    ...checkRating(device),
    ...checkLimit(device),
  ]
}

function checkColumn({ of, read }: CheckedDevice, column: string): TestRow[] {
  const { values, complaints, missing, described } = read!
  const value = values[column]
  // Words, codes and alarm bits have no range.
  if (typeof value === 'string' || typeof value === 'bigint' || /^alarm_|_code$/.test(column)) {
    return []
  }
  const quantity = quantityAt(of, column)
  if (value === 0 && quantity === 'frequency_hz') {
    return [without('not_judged', of.name, column, 'the device measures no grid now')]
  }
  if (typeof value === 'number') {
    const range = rangeAt(of, quantity)
    return [
      judged({
        device: of.name,
        test: column,
        measured: value,
        unit: unitOf(quantity),
        ...(range && { min: range[0], max: range[1] }),
      }),
    ]
  }
  if (Array.isArray(value)) return checkArray(of.name, column, value)
  const complaint = complaints.find(({ point }) => point === column)
  if (complaint) return [without('failed', of.name, column, complaint.reason)]
  const register = described?.[column]
  if (register && missing.includes(describeRegister(register))) {
    const reason = `the device refuses ${describeRegister(register)}`
    return [without('failed', of.name, column, reason)]
  }
  if (register) return [without('not_judged', of.name, column, 'the device has no value now')]
  const is_essential = of.kind === 'station' || essential[of.kind]?.includes(column)
  if (!is_essential) return []
  return [without('not_judged', of.name, column, 'the device does not report it')]
}

/** The quantity of a point of a met station. */
function quantityAt(of: SiteDevice, column: string): string {
  if (of.kind !== 'station') return column
  return of.device.instruments.find(({ point }) => point === column)?.quantity ?? column
}

function rangeAt(of: SiteDevice, quantity: string): Range | null {
  if (of.kind === 'inverter' && /^(ac|dc|available)_power_kw$/.test(quantity)) {
    const most_kw = of.device.max_ac_power_kw ?? of.device.rated_ac_power_kw
    // Panels may be larger than the inverter, which then does not take all of their power.
    return [-0.05 * most_kw, rated_factor_max * most_kw]
  }
  return close_ranges[quantity] ?? rangeOf(quantity)
}

function checkArray(device: string, test: string, values: readonly unknown[]): TestRow[] {
  const measured = values.filter((value) => typeof value === 'number')
  if (measured.length === 0) return []
  const range = rangeOf(test)
  const row = judged({
    device,
    test,
    measured,
    unit: unitOf(test),
    ...(range && { min: range[0], max: range[1] }),
  })
  const without_value = values.flatMap((value, nth) => (value === null ? [nth + 1] : []))
  if (row.result !== 'passed' || without_value.length === 0) return [row]
  return [{ ...row, result: 'not_judged', reason: `no value of ${without_value.join(', ')}` }]
}

/** Currents and voltages of strings, and complaints about single elements. */
function checkInputs({ of, read }: CheckedDevice): TestRow[] {
  const { strings, complaints } = read!
  return [
    ...checkArray(of.name, 'string current_a', strings.current_a ?? []),
    ...checkArray(of.name, 'string voltage_v', strings.voltage_v ?? []),
    ...complaints.flatMap(({ point, reason }) =>
      point.includes('[') ? [without('failed', of.name, point, reason)] : [],
    ),
  ]
}

function checkUnconfirmed({ of, read }: CheckedDevice): TestRow[] {
  const registers = Object.entries(read!.described ?? {}).filter(
    (entry): entry is [string, NumberRegister] => entry[1]?.unconfirmed === true,
  )
  return registers.map(([column, register]) =>
    without(
      'warning',
      of.name,
      column,
      `one source alone has ${describeRegister(register)}: compare it with the display`,
    ),
  )
}

function checkRating({ of, read }: CheckedDevice): TestRow[] {
  const { rated_power_kw } = read!
  if (of.kind !== 'inverter' || rated_power_kw === null) return []
  const { rated_ac_power_kw } = of.device
  return [
    judged({
      device: of.name,
      test: 'rated power of the device against site.yaml',
      measured: rated_power_kw,
      unit: 'kW',
      min: rated_ac_power_kw * (1 - rating_difference_max),
      max: rated_ac_power_kw * (1 + rating_difference_max),
      reason: `site.yaml has ${rated_ac_power_kw} kW`,
    }),
  ]
}

function checkLimit({ of, read }: CheckedDevice): TestRow[] {
  const { has_limit, one_source_controls, complaints } = read!
  const test = 'limit registers'
  const reasons = complaints.flatMap(({ point, reason }) => (point === 'limit' ? [reason] : []))
  const warnings = one_source_controls.map((register) => {
    const reason = `one source alone has ${describeRegister(register)}: try it on one device first`
    return without('warning', of.name, 'control register', reason)
  })
  if (reasons.length > 0) {
    return [without('failed', of.name, test, reasons.join('; ')), ...warnings]
  }
  return has_limit ? [without('passed', of.name, test, null), ...warnings] : warnings
}
