/** Meters and met stations by the profiles of their makers. */
import { plotAverages } from '@heliograph/domain/instruments'
import type { NumberRegister, Profile } from '@heliograph/domain/profile'
import { emptyReading, type MeterReading, type WeatherReading } from '@heliograph/domain/readings'
import type { Meter, Station } from '@heliograph/domain/site'
import type { Answer, Bus, Complaint, Device, Values } from './driver.ts'
import { plausible } from './plausible.ts'
import { columnsIn, identify } from './register-answer.ts'
import { createRegisterReader, placeOf, type RegisterValues } from './register-reader.ts'

export function openMeter(
  profile: Profile,
  bus: Bus,
  meter: Meter,
): Promise<Device<Values<MeterReading>>> {
  const { readings } = profile.meter!
  const registers = Object.values(readings).flatMap((one) => one ?? [])
  return open({ profile, bus, device: meter, registers }, (values) =>
    meterAnswer(profile, meter, values),
  )
}

export function openStation(
  profile: Profile,
  bus: Bus,
  station: Station,
): Promise<Device<Values<WeatherReading>>> {
  const { points } = profile.weather!
  const registers = station.instruments.flatMap(({ point }) => points[point] ?? [])
  return open({ profile, bus, device: station, registers }, (values) =>
    stationAnswer(profile, station, values),
  )
}

interface Opening {
  profile: Profile
  bus: Bus
  device: Meter | Station
  registers: readonly NumberRegister[]
}

/** After communication loss the device is identified again, as it may have been replaced. */
async function open<Of>(
  { profile, bus, device, registers }: Opening,
  answer: (values: RegisterValues) => Answer<Of>,
): Promise<Device<Of>> {
  const place = placeOf(profile, bus, device.unit_id)
  let identity = await identify(profile, place, device)
  let is_doubted = false
  const read = createRegisterReader(place, registers)
  return {
    get identity() {
      return identity
    },
    async read() {
      try {
        if (is_doubted) identity = await identify(profile, place, device)
        const values = await read()
        is_doubted = false
        return answer(values)
      } catch (error) {
        is_doubted = true
        throw error
      }
    },
  }
}

/** Power is positive towards the grid; `positive_power` of the meter is the device's direction. */
function meterAnswer(
  { meter: part }: Profile,
  meter: Meter,
  values: RegisterValues,
): Answer<Values<MeterReading>> {
  const { positive_power: documented = 'export', readings } = part!
  const { positive_power = documented } = meter
  const found: Values<MeterReading> = { ...emptyReading('meter'), ...columnsIn(readings, values) }
  const directed = (power: number | null) =>
    power === null || positive_power === 'export' ? power : 0 - power
  // A meter that is connected the other way counts the other way as well.
  const is_reversed = positive_power !== documented
  const { energy_export_kwh, energy_import_kwh } = found
  const complaints: Complaint[] = []
  const measured: Values<MeterReading> = {
    ...found,
    active_power_kw: directed(found.active_power_kw),
    reactive_power_kvar: directed(found.reactive_power_kvar),
    energy_export_kwh: is_reversed ? energy_import_kwh : energy_export_kwh,
    energy_import_kwh: is_reversed ? energy_export_kwh : energy_import_kwh,
  }
  return { values: plausible(measured, complaints), complaints, missing: values.missing }
}

function stationAnswer(
  { weather }: Profile,
  { instruments }: Station,
  values: RegisterValues,
): Answer<Values<WeatherReading>> {
  const complaints: Complaint[] = []
  const measured = instruments.map(({ point, quantity }) => {
    const register = weather!.points[point]
    const value = register ? values.inColumn(register) : null
    const odd: Complaint[] = []
    const checked = plausible({ [quantity]: value }, odd)[quantity] ?? null
    complaints.push(...odd.map(({ reason }) => ({ point, reason })))
    return checked
  })
  const averages = plotAverages(instruments, measured)
  const answer = { ...emptyReading('weather'), ...averages, instrument_values: measured }
  return { values: answer, complaints, missing: values.missing }
}
