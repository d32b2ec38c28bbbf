/** What a device of each kind is expected to deliver, for a site in commissioning. Pure. */
import type { Instrument } from '@heliograph/domain/site'

/** Columns of readings by quantity: one of them is enough. */
type Columns = Readonly<Record<string, readonly string[]>>

const voltage = [
  'voltage_l1_n_v',
  'voltage_l2_n_v',
  'voltage_l3_n_v',
  'voltage_l1_l2_v',
  'voltage_l2_l3_v',
  'voltage_l3_l1_v',
]
const current = ['current_l1_a', 'current_l2_a', 'current_l3_a']
const dc_input = ['mppt_voltage_v', 'mppt_current_a', 'dc_power_kw', 'dc_current_a']

/** The quantities that a driver of the kind is measured by (docs/devices.md). */
const expected = {
  inverter: {
    power: ['ac_power_kw'],
    voltage,
    current,
    frequency: ['frequency_hz'],
    energy: ['energy_total_kwh'],
    dc_input,
  },
  meter: {
    power: ['active_power_kw'],
    reactive_power: ['reactive_power_kvar'],
    voltage,
    current,
    frequency: ['frequency_hz'],
    energy_export: ['energy_export_kwh'],
    energy_import: ['energy_import_kwh'],
  },
  bess: {
    power: ['power_kw'],
    state_of_charge: ['soc_pct'],
    voltage: ['dc_voltage_v'],
    current: ['dc_current_a'],
  },
} as const satisfies Record<string, Columns>

export interface Delivered {
  quantity: string
  /** The column of readings with the value; null without one. */
  column: string | null
  value: number | null
}

type Reading = Readonly<Record<string, unknown>>

type ExpectedKind = keyof typeof expected

/** Each quantity of the kind with the first value of its columns, null without one. */
export const deliveredBy = (kind: ExpectedKind, reading: Reading): Delivered[] =>
  Object.entries(expected[kind] as Columns).map(([quantity, columns]) => {
    const column = columns.find((name) => valueIn(reading[name]) !== null) ?? null
    return { quantity, column, value: column === null ? null : valueIn(reading[column]) }
  })

type Measuring = Pick<Instrument, 'sensor_id' | 'quantity'>

/** Each instrument of a met station, whose readings are in the order of `site.yaml`. */
export function deliveredByInstruments(
  instruments: readonly Measuring[],
  { instrument_values }: Reading,
): Delivered[] {
  const values = Array.isArray(instrument_values) ? instrument_values : []
  return instruments.map(({ sensor_id, quantity }, nth) => {
    const value = valueIn(values[nth])
    return { quantity: sensor_id, column: value === null ? null : quantity, value }
  })
}

/** The number, or the first one of an array. */
const valueIn = (value: unknown): number | null =>
  [value].flat().find((one): one is number => typeof one === 'number') ?? null
