import { emptyReading, type MeterReading } from '@heliograph/domain/readings'
import type { Meter } from '@heliograph/domain/site'
import type { Answer, Values } from './driver.ts'
import { plausible } from './plausible.ts'
import type { Snapshot } from './sunspec-snapshot.ts'

export const meterModels = [201, 202, 203, 204, 211, 212, 213, 214] as const

/** Power is positive towards the grid; `positive_power` of the meter is the device's direction. */
export function meterAnswer(snapshot: Snapshot, meter: Meter): Answer<Values<MeterReading>> {
  const [scaled] = snapshot.all(202, 203, 204)
  const [other] = snapshot.all(201, 211, 212, 213, 214)
  const points = (scaled ?? other)?.values
  if (!points) return { values: emptyReading('meter'), complaints: snapshot.complaints }

  const power = (value: number | null) =>
    value === null ? null : (meter.positive_power === 'import' ? 0 - value : value) / 1000
  const energy = (value: number | null) => (value === null ? null : value / 1000)
  // Models with scale factors have the power factor in percent, those in floats as a ratio.
  const power_factor = 'PF_SF' in points && points.PF !== null ? Number(points.PF) / 100 : points.PF
  const values: Values<MeterReading> = {
    active_power_kw: power(points.W),
    reactive_power_kvar: power(points.VAR),
    apparent_power_kva: energy(points.VA),
    power_factor,
    frequency_hz: points.Hz,
    voltage_l1_n_v: points.PhVphA,
    voltage_l2_n_v: points.PhVphB,
    voltage_l3_n_v: points.PhVphC,
    voltage_l1_l2_v: scaled ? scaled.values.PhVphAB : (other?.values.PPVphAB ?? null),
    voltage_l2_l3_v: scaled ? scaled.values.PhVphBC : (other?.values.PPVphBC ?? null),
    voltage_l3_l1_v: scaled ? scaled.values.PhVphCA : (other?.values.PPVphCA ?? null),
    current_l1_a: points.AphA,
    current_l2_a: points.AphB,
    current_l3_a: points.AphC,
    energy_export_kwh: energy(points.TotWhExp),
    energy_import_kwh: energy(points.TotWhImp),
  }
  return { values: plausible(values, snapshot.complaints), complaints: snapshot.complaints }
}
