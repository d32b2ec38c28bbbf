/** Quantities of one device against each other: strings, DC, AC, currents and voltages. */
import { stringsOf } from '@heliograph/domain/site'
import { type CheckedDevice, loaded_part, type Numbers, numberOf } from './checked-device.ts'
import { judged, type TestRow, without } from './test-row.ts'

/** Currents and voltages of strings are read one after the other, at 1 % each. */
const strings_part = 0.1
const efficiency_pct = { min: 80, max: 101 }
/** Of a power factor from 0.8 on; below 1 by what was read at different instants. */
const apparent_ratio = { min: 0.95, max: 1.3 }
const line_ratio = { min: 1.68, max: 1.79 }
const phases_pct_max = 10

export function checkPower(device: CheckedDevice, all: readonly CheckedDevice[]): TestRow[] {
  if (!device.read) return []
  return [
    ...checkVoltages(device),
    ...checkCurrents(device),
    ...checkDcSide(device, all),
    ...checkEfficiency(device),
  ]
}

/** Null unless all of them have a value. */
function allOf(device: CheckedDevice, columns: readonly string[]): number[] | null {
  const values = columns.map((column) => numberOf(device, column))
  return values.every((value) => value !== null) ? values : null
}

const phase_voltages = ['voltage_l1_n_v', 'voltage_l2_n_v', 'voltage_l3_n_v']
const line_voltages = ['voltage_l1_l2_v', 'voltage_l2_l3_v', 'voltage_l3_l1_v']
const currents = ['current_l1_a', 'current_l2_a', 'current_l3_a']

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

function checkVoltages(device: CheckedDevice): TestRow[] {
  const rows: TestRow[] = []
  const [phases, lines] = [allOf(device, phase_voltages), allOf(device, line_voltages)]
  for (const [name, values] of [['phase', phases] as const, ['line', lines] as const]) {
    const mean_v = values && meanOf(values)
    if (!values || !mean_v) continue
    rows.push(
      judged({
        device: device.of.name,
        test: `${name} voltages against each other`,
        measured: (100 * (Math.max(...values) - Math.min(...values))) / mean_v,
        unit: '%',
        max: phases_pct_max,
        reason: 'a phase is missing or connected wrongly',
      }),
    )
  }
  const mean_v = phases && meanOf(phases)
  if (!lines || !mean_v) return rows
  const ratio = judged({
    device: device.of.name,
    test: 'line voltage / phase voltage',
    measured: meanOf(lines) / mean_v,
    ...line_ratio,
    reason: 'in a grid of three phases it is 1.73',
  })
  return [...rows, ratio]
}

const powerOf = (device: CheckedDevice) =>
  numberOf(device, 'active_power_kw') ?? numberOf(device, 'ac_power_kw')

function checkCurrents(device: CheckedDevice): TestRow[] {
  const amperes = allOf(device, currents)
  const phases = allOf(device, phase_voltages)
  const lines = allOf(device, line_voltages)
  const power_kw = powerOf(device)
  if (!amperes || !(phases ?? lines) || power_kw === null) return []
  const test = 'voltage x current / active power'
  const phase_v = phases ?? lines!.map(() => meanOf(lines!) / Math.sqrt(3))
  const apparent_kva =
    amperes.reduce((sum, current_a, nth) => sum + Math.abs(current_a) * phase_v[nth]!, 0) / 1000
  const { name } = device.of
  if (!isLoaded(device, power_kw)) {
    return [tooLow(device, test)]
  }
  const ratio = apparent_kva / Math.abs(power_kw)
  if (ratio > apparent_ratio.max && isLoaded(device, numberOf(device, 'reactive_power_kvar'))) {
    return [without('not_judged', name, test, 'much of the power is reactive')]
  }
  return [judged({ device: name, test, measured: ratio, ...apparent_ratio })]
}

function isLoaded({ of }: CheckedDevice, power_kw: number | null): boolean {
  if (power_kw === null) return false
  const rated_kw = of.kind === 'inverter' ? of.device.rated_ac_power_kw : null
  return Math.abs(power_kw) > (rated_kw === null ? 1 : loaded_part * rated_kw)
}

const tooLow = ({ of }: CheckedDevice, test: string) =>
  without('not_judged', of.name, test, 'the power is too low to compare')

/** Current x voltage of all strings, and of all MPPTs, against the DC power of the inverter. */
function checkDcSide(device: CheckedDevice, all: readonly CheckedDevice[]): TestRow[] {
  const { of } = device
  if (of.kind !== 'inverter') return []
  const dc_kw = numberOf(device, 'dc_power_kw')
  const sums = [
    ['strings against DC power', stringsPower(device, all)],
    ['MPPTs against DC power', mpptPower(device)],
  ] as const
  return sums.flatMap(([test, found]): TestRow[] => {
    if (found === null) return []
    if (dc_kw === null) {
      return [without('not_judged', of.name, test, 'the device does not report its DC power')]
    }
    if (typeof found === 'string') return [without('not_judged', of.name, test, found)]
    if (!isLoaded(device, dc_kw)) {
      return [tooLow(device, test)]
    }
    return [
      judged({
        device: of.name,
        test,
        measured: found,
        unit: 'kW',
        min: dc_kw * (1 - strings_part),
        max: dc_kw * (1 + strings_part),
        reason: `the DC power is ${dc_kw.toFixed(2)} kW`,
      }),
    ]
  })
}

/** In kW; null without measured strings, or why it is not known. */
function stringsPower(
  device: CheckedDevice,
  all: readonly CheckedDevice[],
): number | string | null {
  const { of, read } = device
  if (of.kind !== 'inverter' || !read) return null
  const boxes = (of.device.combiners ?? []).map((box) => ({
    box,
    current_a: all.find(({ of: other }) => other.device === box)?.read?.strings.current_a ?? null,
  }))
  if (!read.strings.current_a && boxes.length === 0) return null
  const mppt_voltage_v = read.values['mppt_voltage_v'] as Numbers | undefined
  let power_kw = 0
  for (const { string_index, mppt_index, connected, combiner_id } of stringsOf(of.device)) {
    if (!connected) continue
    const own = boxes.find(({ box }) => box.combiner_id === combiner_id)
    const current_a = own
      ? own.current_a?.[string_index - own.box.first_string_index]
      : read.strings.current_a?.[string_index]
    const voltage_v =
      read.strings.voltage_v?.[string_index] ??
      mppt_voltage_v?.[mppt_index] ??
      numberOf(device, 'dc_voltage_v')
    if (typeof current_a !== 'number' || typeof voltage_v !== 'number') {
      return `string ${string_index + 1} has no current or voltage`
    }
    power_kw += (current_a * voltage_v) / 1000
  }
  return power_kw
}

/** In kW; null without measured MPPTs, or why it is not known. */
function mpptPower({ read }: CheckedDevice): number | string | null {
  const [voltage_v, current_a] = ['mppt_voltage_v', 'mppt_current_a'].map(
    (column) => read!.values[column] as Numbers | undefined,
  )
  if (!voltage_v || !current_a) return null
  const powers = voltage_v.map((voltage, nth) => {
    const current = current_a[nth]
    return voltage === null || typeof current !== 'number' ? null : (voltage * current) / 1000
  })
  const missing = powers.indexOf(null)
  if (missing >= 0) return `MPPT ${missing + 1} has no current or voltage`
  return powers.reduce<number>((sum, power_kw) => sum + power_kw!, 0)
}

function checkEfficiency(device: CheckedDevice): TestRow[] {
  const { of, read } = device
  const [dc_kw, ac_kw] = [numberOf(device, 'dc_power_kw'), numberOf(device, 'ac_power_kw')]
  if (of.kind !== 'inverter' || dc_kw === null || ac_kw === null) return []
  const test = 'AC power / DC power'
  if (read?.is_hybrid) {
    return [without('not_judged', of.name, test, 'a battery takes or adds power')]
  }
  if (!isLoaded(device, dc_kw)) {
    return [tooLow(device, test)]
  }
  return [
    judged({
      device: of.name,
      test,
      measured: (100 * ac_kw) / dc_kw,
      unit: '%',
      ...efficiency_pct,
      reason: 'no inverter has this efficiency: a scale or a register is wrong',
    }),
  ]
}
