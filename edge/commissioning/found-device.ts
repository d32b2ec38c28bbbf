/** What a device that was found reports of itself: identity, kinds, rated power, inputs. */
import {
  type InverterPart,
  inputRegisters,
  type NumberRegister,
  type Profile,
} from '@heliograph/domain/profile'
import type { Instrument } from '@heliograph/domain/site'
import type { Decoded } from '@heliograph/domain/sunspec/codec'
import type { Model } from '@heliograph/domain/sunspec/point'
import { stationModels } from '@heliograph/domain/sunspec/station-points'
import { BusError } from '../bus/bus-error.ts'
import type { Bus, DeviceIdentity } from '../drivers/driver.ts'
import { identify } from '../drivers/register-answer.ts'
import {
  createRegisterReader,
  type Place,
  placeOf,
  type RegisterValues,
} from '../drivers/register-reader.ts'
import type { Chain } from '../drivers/sunspec-chain.ts'
import { inverterModels } from '../drivers/sunspec-inverter.ts'
import { meterModels } from '../drivers/sunspec-meter.ts'
import { ratingModels, readRatings } from '../drivers/sunspec-ratings.ts'
import { createReader } from '../drivers/sunspec-snapshot.ts'
import { stringModels } from '../drivers/sunspec-strings.ts'

export type DeviceKind =
  | 'inverter'
  | 'meter'
  | 'station'
  | 'combiner'
  | 'controller'
  | 'battery'
  | 'pcs'

export interface DeviceFacts {
  kinds: readonly DeviceKind[]
  identity: DeviceIdentity
  /** Null: the device does not report it. */
  rated_kw: number | null
  /** Inputs in use; null: the device does not report them. */
  strings: number | null
  mppts: number | null
  instruments: readonly FoundInstrument[]
}

/** Orientation and mounting are not in the registers: a quantity is the likeliest. */
interface FoundInstrument {
  point: string
  quantity: Instrument['quantity']
}

const sunspec_quantities: Readonly<Record<string, Instrument['quantity']>> = {
  GHI: 'ghi_w_m2',
  POAI: 'poa_irradiance_w_m2',
  DFI: 'dhi_w_m2',
  TmpBOM: 'module_temperature_c',
  TmpAmb: 'ambient_temperature_c',
  RH: 'relative_humidity_pct',
  Pres: 'pressure_hpa',
  WndSpd: 'wind_speed_m_s',
  WndDir: 'wind_direction_deg',
  Rain: 'rain_mm',
}

/** By the names of points in profiles; the temperature of an instrument itself is no quantity. */
const profile_quantities: Readonly<Record<string, Instrument['quantity']>> = {
  irradiance: 'poa_irradiance_w_m2',
  cell_temperature: 'module_temperature_c',
  module_temperature: 'module_temperature_c',
  ambient_temperature: 'ambient_temperature_c',
  humidity: 'relative_humidity_pct',
  pressure: 'pressure_hpa',
  wind_speed: 'wind_speed_m_s',
  wind_direction: 'wind_direction_deg',
  rain: 'rain_mm',
}

const noFacts = { rated_kw: null, strings: null, mppts: null, instruments: [] }

/** Storage behind the inverter, of the older and the newer family. */
const storageModels = [124, 713]
const capacity_model = 702
const batteryModels = [802, 803, 804, 805]
const mppt_model = 160
/** Registers of model 160 before its modules, and of each. */
const mppt_head = 8
const mppt_words = 20

export async function sunspecFacts(
  bus: Bus,
  unit_id: number,
  { identity, models }: Chain,
): Promise<DeviceFacts> {
  const has = (ids: readonly number[]) => models.some(({ model_id }) => ids.includes(model_id))
  const is_inverter = has(inverterModels)
  const kinds: DeviceKind[] = []
  const trackers = models.find(({ model_id }) => model_id === mppt_model)
  // A hybrid inverter, which has PV inputs, is an inverter.
  const is_pcs =
    is_inverter && !trackers && (has(storageModels) || (await canCharge(bus, unit_id, models)))
  if (is_inverter) kinds.push(is_pcs ? 'pcs' : 'inverter')
  if (has(meterModels)) kinds.push('meter')
  if (has(stationModels)) kinds.push('station')
  if (has(batteryModels)) kinds.push('battery')
  if (has(stringModels) && !is_inverter) kinds.push('combiner')
  const rating_models = models.filter(({ model_id }) => ratingModels.some((id) => id === model_id))
  const ratings = is_inverter ? await readRatings(bus, unit_id, rating_models) : null
  const mppts = trackers ? Math.floor((trackers.length - mppt_head) / mppt_words) : 0
  const instruments = await sunspecInstruments(bus, unit_id, { identity, models })
  const rated_kw = ratings?.ratings?.rated_power_kw ?? null
  return { kinds, identity, rated_kw, strings: null, mppts: mppts || null, instruments }
}

/** By its nameplate, the device takes power from the grid. */
async function canCharge(bus: Bus, unit_id: number, models: Chain['models']): Promise<boolean> {
  const wanted = models.filter(({ model_id }) => model_id === capacity_model)
  if (wanted.length === 0) return false
  const [capacity] = (await createReader(bus, unit_id, { wanted })()).all(capacity_model)
  return (capacity?.values.WChaRteMaxRtg ?? 0) > 0
}

/** Instruments that show a value now. */
async function sunspecInstruments(
  bus: Bus,
  unit_id: number,
  { models }: Chain,
): Promise<FoundInstrument[]> {
  const wanted = models.filter(({ model_id }) => stationModels.some((id) => id === model_id))
  if (wanted.length === 0) return []
  const snapshot = await createReader(bus, unit_id, { wanted })()
  return stationModels.flatMap((model_id) => {
    const decoded = snapshot.all(model_id) as Decoded<Model>[]
    const sensors = decoded.flatMap(({ values, groups }) => (groups.length > 0 ? groups : [values]))
    return sensors.flatMap((values, nth) =>
      Object.entries(sunspec_quantities).flatMap(([name, quantity]) =>
        typeof values[name] === 'number'
          ? [{ point: `${model_id}[${nth}].${name}`, quantity }]
          : [],
      ),
    )
  })
}

/** @throws BusError when time ends or the connection is lost */
export async function profileFacts(
  bus: Bus,
  unit_id: number,
  profile: Profile,
): Promise<DeviceFacts> {
  const { inverter, meter, weather, controller, pcs } = profile
  const place = placeOf(profile, bus, unit_id)
  const kinds: DeviceKind[] = []
  if (inverter) kinds.push('inverter')
  if (meter) kinds.push('meter')
  if (weather) kinds.push('station')
  if (controller) kinds.push('controller')
  if (pcs) kinds.push('pcs')
  const identity = await identify(profile, place)
  const instruments = Object.keys(weather?.points ?? {}).flatMap((point) => {
    const quantity = profile_quantities[point]
    return quantity ? [{ point, quantity }] : []
  })
  const facts: DeviceFacts = { ...noFacts, kinds, identity, instruments }
  if (!inverter) return facts
  const values = await readIfAnswered(place, countedRegisters(inverter))
  if (!values) return facts
  const { ratings = {}, input_counts, strings, mppts } = inverter
  const { rated_power, max_power } = ratings
  const kw = [rated_power, max_power].map((one) => (one ? values.inColumn(one) : null))
  return {
    ...facts,
    rated_kw: kw.find((power_kw) => power_kw !== null && power_kw > 0) ?? null,
    strings: input_counts ? countIn(values, input_counts.strings) : inUse(values, strings),
    mppts: input_counts ? countIn(values, input_counts.mppts) : inUse(values, mppts),
  }
}

function countedRegisters({ ratings = {}, input_counts, strings, mppts }: InverterPart) {
  const inputs = [...inputRegisters(strings), ...inputRegisters(mppts)]
  return [
    ...Object.values(ratings),
    ...Object.values(input_counts ?? {}),
    ...inputs.map(({ voltage }) => voltage),
  ].flatMap((register): NumberRegister[] => (register ? [{ ...register, optional: true }] : []))
}

async function readIfAnswered(
  place: Place,
  registers: readonly NumberRegister[],
): Promise<RegisterValues | null> {
  if (registers.length === 0) return null
  try {
    return await createRegisterReader(place, registers)()
  } catch (error) {
    if (error instanceof BusError && error.kind === 'exception') return null
    throw error
  }
}

const countIn = (values: RegisterValues, register: NumberRegister): number | null =>
  values.number(register) || null

/** Inputs up to the last one with a voltage: at night none has any. */
function inUse(values: RegisterValues, rows: InverterPart['mppts']): number | null {
  const voltages = inputRegisters(rows).map(({ voltage }) =>
    voltage ? values.inColumn(voltage) : null,
  )
  return voltages.findLastIndex((voltage_v) => voltage_v !== null && voltage_v > 0) + 1 || null
}
