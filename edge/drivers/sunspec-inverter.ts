import { emptyReading } from '@heliograph/domain/readings'
import { type Inverter, stringsOf } from '@heliograph/domain/site'
import { classicInverter, columnsFrom, type PointsOf } from '@heliograph/domain/sunspec/grid-side'
import { stateFromInvSt, stateFromSt } from '@heliograph/domain/sunspec/states'
import type { Answer, InverterAnswer } from './driver.ts'
import { plausible, type Range } from './plausible.ts'
import { derToNeutral, derValues, kilo } from './sunspec-grid-side.ts'
import type { Snapshot } from './sunspec-snapshot.ts'
import { inputsOf, stringModels, stringValues } from './sunspec-strings.ts'

/** Measurements, the older family first: only it has the DC side and the maker's alarm words. */
export const inverterModels = [101, 102, 103, 111, 112, 113, 701] as const

/** Further models of an inverter: availability, limits, MPPTs, strings. */
export const inverterExtras = [122, 123, 704, 160, 714, ...stringModels] as const

type Values = InverterAnswer['inverter']

export function inverterAnswer(
  snapshot: Snapshot,
  inverter: Inverter,
  known: Pick<InverterAnswer, 'ratings' | 'limit'>,
): Answer<InverterAnswer> {
  const [classic] = snapshot.all(101, 102, 103, 111, 112, 113)
  const [der] = classic ? [] : snapshot.all(701)
  const mppts = mpptValues(snapshot)
  const measured = {
    ...emptyReading('inverter'),
    ...(classic && classicValues(classic.values)),
    ...(der && newerValues(der.values)),
    ...statusValues(snapshot),
    ...mppts,
    power_limit_pct: powerLimit(snapshot),
  }
  const dc_power_kw = measured.dc_power_kw ?? sum(mppts.mppt_power_kw)
  const { complaints } = snapshot
  const values = plausible({ ...measured, dc_power_kw }, complaints, powerRanges(inverter))
  return {
    values: {
      inverter: values,
      strings: stringsOfInverter(snapshot, values, inverter),
      alarm_table: classic ? 'sunspec-inverter' : 'sunspec-701',
      ...known,
    },
    complaints,
  }
}

function classicValues(points: PointsOf<103 | 113>): Partial<Values> {
  return {
    ...columnsFrom(classicInverter, points),
    state: stateFromSt(points.St),
    state_vendor_code: points.StVnd,
  }
}

function newerValues(points: PointsOf<701>): Partial<Values> {
  return {
    ...derValues(points),
    state: stateFromInvSt(points.InvSt),
    ...derToNeutral(points),
    energy_total_kwh: kilo(points.TotWhInj),
  }
}

function statusValues(snapshot: Snapshot): Partial<Values> {
  const [status] = snapshot.all(122)
  return {
    available_power_kw: kilo(status?.values.WAval ?? null),
    insulation_resistance_kohm: kilo(status?.values.Ris ?? null),
  }
}

/** The limit in force at the device, in percent of its WMax; `null` if none is enabled. */
function powerLimit(snapshot: Snapshot): number | null {
  const [newer] = snapshot.all(704)
  if (newer?.values.WMaxLimPctEna === 1) return newer.values.WMaxLimPct
  const [older] = snapshot.all(123)
  return older?.values.WMaxLim_Ena === 1 ? older.values.WMaxLimPct : null
}

type MpptValues = Pick<
  Values,
  | 'mppt_voltage_v'
  | 'mppt_current_a'
  | 'mppt_power_kw'
  | 'mppt_temperature_c'
  | 'mppt_energy_total_kwh'
>

const storage_port = 1

function mpptValues(snapshot: Snapshot): MpptValues {
  const modules = snapshot
    .all(160)
    .flatMap(({ groups }) => groups.map(({ DCWH, ...points }) => ({ ...points, energy_wh: DCWH })))
  const ports = snapshot
    .all(714)
    .flatMap(({ groups }) =>
      groups
        .filter(({ PrtTyp }) => PrtTyp !== storage_port)
        .map(({ DCWhInj, ...points }) => ({ ...points, energy_wh: DCWhInj })),
    )
  const mppts = modules.length > 0 ? modules : ports
  const each = (value: (mppt: (typeof mppts)[number]) => number | null) =>
    mppts.length > 0 ? mppts.map(value) : null
  return {
    mppt_voltage_v: each(({ DCV }) => DCV),
    mppt_current_a: each(({ DCA }) => DCA),
    mppt_power_kw: each(({ DCW }) => kilo(DCW)),
    mppt_temperature_c: each(({ Tmp }) => Tmp),
    mppt_energy_total_kwh: each(({ energy_wh }) => kilo(energy_wh)),
  }
}

/**
 * Strings measured by the inverter itself: by its own combiner model, or by its MPPTs if each has
 * one string. `null` with separate combiners or without a measurement.
 */
function stringsOfInverter(
  snapshot: Snapshot,
  { mppt_current_a, mppt_voltage_v }: Values,
  inverter: Inverter,
): InverterAnswer['strings'] {
  if (inverter.combiners?.length) return null
  const strings = stringsOf(inverter)
  const inputs = inputsOf(snapshot)
  if (inputs.length > 0) return stringValues(inputs, strings.length, snapshot.complaints)
  const alone = strings.every(({ mppt_index }, index) => mppt_index === index)
  if (!alone || !mppt_current_a) return null
  return {
    current_a: strings.map((_, index) => mppt_current_a[index] ?? null),
    voltage_v: strings.map((_, index) => mppt_voltage_v?.[index] ?? null),
  }
}

/** Several times the rating is no surge, but a wrong scale factor. */
export function powerRanges({ rated_ac_power_kw }: Inverter): Record<string, Range> {
  const range: Range = [-4 * rated_ac_power_kw, 4 * rated_ac_power_kw]
  const names = [
    'ac_power_kw',
    'reactive_power_kvar',
    'apparent_power_kva',
    'dc_power_kw',
    'available_power_kw',
    'mppt_power_kw',
  ]
  return Object.fromEntries(names.map((name) => [name, range]))
}

export function sum(values: readonly (number | null)[] | null): number | null {
  if (!values || values.length === 0) return null
  return values.reduce((total, value) => (total === null || value === null ? null : total + value))
}
