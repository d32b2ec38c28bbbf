/** A device by its profile alone, without a site file that describes it. */
import type { Pcs } from '@heliograph/domain/battery'
import {
  inputRegisters,
  type NumberRegister,
  type Profile,
  units,
} from '@heliograph/domain/profile'
import {
  type Instrument,
  type Inverter,
  instrumentQuantities,
  type Logger,
  type Meter,
  type Station,
} from '@heliograph/domain/site'
import type { Answer, Bus } from '../drivers/driver.ts'
import { profileDriver } from '../drivers/drivers.ts'
import type { LimitControl } from '../drivers/limit-control.ts'

/** Readings by column, or by point of a met station. */
type Columns = Record<string, unknown>

interface LoneDevice {
  readonly control: LimitControl | null
  read(): Promise<Answer<Columns>>
}

const rated_kw = 33.3

/** Opens the first capability of the profile. */
export async function openAlone(profile: Profile, bus: Bus, unit_id: number): Promise<LoneDevice> {
  const driver = profileDriver(profile)
  const at = { connection: 'main', unit_id, driver: 'profile' }
  const inverter: Inverter = {
    ...at,
    inverter_id: 7,
    name: 'Inverter 7',
    rated_ac_power_kw: rated_kw,
    string_groups: [stringsOf(profile)],
  }
  if (driver.openInverter) {
    const device = await driver.openInverter(bus, inverter)
    return {
      get control() {
        return device.control
      },
      async read() {
        const { values, ...rest } = await device.read()
        const { current_a, voltage_v } = values.strings ?? { current_a: null, voltage_v: null }
        return { ...rest, values: { ...values.inverter, current_a, voltage_v } }
      },
    }
  }
  if (driver.openController) {
    const logger: Logger = {
      logger_id: 1,
      name: 'Plant',
      rated_power_kw: rated_kw,
      controller: at,
      inverters: [inverter],
    }
    const device = await driver.openController(bus, logger)
    return {
      get control() {
        return device.control
      },
      async read() {
        const { values, ...rest } = await device.read()
        return { ...rest, values: { ac_power_kw: values.active_power_kw } }
      },
    }
  }
  if (driver.openPcs) {
    const pcs: Pcs = { ...at, pcs_idx: 0, rated_power_kw: rated_kw }
    const device = await driver.openPcs(bus, pcs)
    return {
      control: null,
      async read() {
        const { values, ...rest } = await device.read()
        return { ...rest, values: { ...values.pcs } }
      },
    }
  }
  if (driver.openMeter) {
    const meter: Meter = { ...at, meter_id: 1, name: 'Meter', role: 'grid_connection' }
    const device = await driver.openMeter(bus, meter)
    return { control: null, read: () => device.read() }
  }
  const instruments = instrumentsOf(profile.weather!.points)
  const station: Station = { ...at, station_id: 1, name: 'Station', instruments }
  const device = await driver.openStation!(bus, station)
  return {
    control: null,
    async read() {
      const { values, ...rest } = await device.read()
      const measured = instruments.map(({ point }, nth) => [
        point,
        values.instrument_values?.[nth] ?? null,
      ])
      return { ...rest, values: Object.fromEntries(measured) }
    },
  }
}

/** As many inputs as the profile has. */
function stringsOf({ inverter }: Profile): Inverter['string_groups'][number] {
  const mppts = inputRegisters(inverter?.mppts).length
  const strings = inputRegisters(inverter?.strings).length || mppts || 1
  const strings_per_mppt = mppts === 0 ? 1 : Math.ceil(strings / mppts)
  const modules = { module_count: 20, params_id: 1, azimuth_deg: 180, tilt_deg: 20 }
  return { strings, strings_per_mppt, ...modules }
}

const instrumentsOf = (points: Readonly<Record<string, NumberRegister>>): Instrument[] =>
  Object.entries(points).map(([point, register]) => ({
    sensor_id: point,
    name: point,
    type: 'other',
    quantity: quantityOf(register),
    point,
  }))

const quantityOf = ({ unit }: NumberRegister): Instrument['quantity'] =>
  instrumentQuantities.find((name) => unit && name.endsWith(units[unit].column))!
