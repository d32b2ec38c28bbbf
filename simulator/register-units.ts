/**
 * The simulated devices with proprietary registers: they measure the plant, and writes limit it.
 * Their state is lost when the simulator ends, as after a loss of power.
 */
import {
  type Inverter,
  type Logger,
  type Meter,
  type Station,
  stringsOf,
} from '@heliograph/domain/site'
import { huaweiSmartLogger } from './devices/huawei-smartlogger.ts'
import { huaweiSun2000 } from './devices/huawei-sun2000.ts'
import { type ProfileNow, profileDevice } from './devices/profile-device.ts'
import type { InverterNow, RegisterDevice } from './devices/register-device.ts'
import { sma } from './devices/sma.ts'
import { sungrowSg } from './devices/sungrow-sg.ts'
import { Refusal, type Unit } from './devices/unit.ts'
import { type Grid, nominal_voltage_v } from './grid-side.ts'
import type { Plant } from './plant.ts'
import { readProfile } from './profiles.ts'
import { measuredInverter, measuredMeter } from './readings.ts'

export interface RegisterUnits {
  /** Null for an inverter without proprietary registers. */
  inverter(inverter_id: number): Unit | null
  controller(logger_id: number): Unit | null
  /** Null for a meter with SunSpec models. */
  meter(meter: Meter): Unit | null
  /** Null for a station with SunSpec models. */
  station(station: Station): Unit | null
}

/** A device and its opaque state. */
interface Held<Now> {
  device: RegisterDevice<unknown, Now>
  state: unknown
  restarted_at_ms: number | null
}

type Made = (inverter: Inverter) => RegisterDevice<unknown, InverterNow>

/** Devices with quirks that no profile describes; all others are served from their profile. */
const makers: Readonly<Record<string, Made>> = {
  huawei_sun2000: huaweiSun2000 as Made,
  sungrow_sg: sungrowSg as Made,
  sma: sma as Made,
}

interface Member {
  inverter: Inverter
  logger: Logger
  own: Held<InverterNow>
}

/** @param site_dir folder of the site file, from which paths of profiles lead */
export function createRegisterUnits(plant: Plant, site_dir: string): RegisterUnits {
  const { loggers } = plant.simulation.site
  const members = new Map(loggers.flatMap((logger) => membersOf(logger, site_dir)))
  const controllers = new Map(
    loggers.flatMap((logger) =>
      logger.controller ? [[logger.logger_id, held(huaweiSmartLogger(logger))] as const] : [],
    ),
  )

  /** Brings all devices up to date. */
  function follow(): void {
    const now_ms = plant.now_ms()
    for (const [inverter_id, { inverter, logger, own }] of members) {
      const { restarted_at_ms, is_enabled, limit_pct } = plant.limits.stateOf(inverter_id)
      if (restarted_at_ms !== own.restarted_at_ms) {
        Object.assign(own, { state: own.device.initial, restarted_at_ms })
      }
      const rated_w = inverter.rated_ac_power_kw * 1000
      const controller = controllers.get(logger.logger_id)
      const plant_w = controller?.device.limit_w(controller.state, now_ms) ?? null
      const share_w = plant_w === null ? rated_w : (plant_w * rated_w) / ratedOf(logger)
      const limit_w = Math.min(own.device.limit_w(own.state, now_ms) ?? rated_w, share_w)
      const told = { is_enabled: limit_w < rated_w, limit_pct: (100 * limit_w) / rated_w }
      if (told.is_enabled !== is_enabled || (is_enabled && told.limit_pct !== limit_pct)) {
        plant.limits.tell(inverter_id, told)
      }
    }
  }

  return {
    inverter(inverter_id) {
      const member = members.get(inverter_id)
      if (!member) return null
      const isAway = () => plant.isAway(inverter_id)
      const now = () => inverterNow(plant, inverter_id)
      return unitOf(member.own, { plant, follow, now, isAway })
    },
    controller(logger_id) {
      const controller = controllers.get(logger_id)
      const logger = loggers.find((one) => one.logger_id === logger_id)
      if (!controller || !logger) return null
      const now = () => ({ plant_power_kw: powerOf(plant, logger) })
      return unitOf(controller, { plant, follow, now, isAway: () => false })
    },
    meter({ driver, meter_id: serial }) {
      if (driver === 'sunspec') return null
      const device = profileDevice(readProfile(driver, site_dir), { serial, rated_w: 0 })
      const now = () => measuring(measuredMeter(plant.snapshot(), plant.counters))
      return unitOf(held(device), { plant, follow, now, isAway: () => false })
    },
    station({ driver, station_id, instruments }) {
      if (driver === 'sunspec') return null
      const profile = readProfile(driver, site_dir)
      const device = profileDevice(profile, { serial: station_id, rated_w: 0 })
      const now = () => {
        const { stations } = plant.snapshot()
        const own = stations.find((one) => one.station_id === station_id)!
        const points = instruments.map(({ point }, nth) => [point, own.instrument_values[nth]!])
        return measuring(Object.fromEntries(points))
      }
      return unitOf(held(device), { plant, follow, now, isAway: () => false })
    },
  }
}

interface Around<Now> {
  plant: Plant
  follow(): void
  now(): Now
  isAway(): boolean
}

function unitOf<Now>(held: Held<Now>, { plant, follow, now, isAway }: Around<Now>): Unit {
  const words = (table: 'holding' | 'input', address: number, count: number) => {
    follow()
    const image = held.device.registers(now(), held.state, plant.now_ms())[table]
    return Uint16Array.from({ length: count }, (_, nth) => {
      const word = image.get(address + nth)
      if (word === undefined) throw new Refusal('illegal data address')
      return word
    })
  }
  return {
    read: (address, count) => words('holding', address, count),
    readInput: (address, count) => words('input', address, count),
    write(address, values) {
      follow()
      const next = held.device.write(held.state, { address, values, now_ms: plant.now_ms() })
      if (next instanceof Refusal) throw next
      held.state = next
      follow()
    },
    isAway,
  }
}

function membersOf(logger: Logger, site_dir: string): [number, Member][] {
  return logger.inverters.flatMap((inverter): [number, Member][] => {
    const { driver, inverter_id } = inverter
    if (driver === 'sunspec') return []
    const made = makers[driver] ?? ((of: Inverter) => profiled(of, site_dir))
    return [[inverter_id, { inverter, logger, own: held(made(inverter)) }]]
  })
}

function columnsAt(
  measured: InverterNow['measured'],
  grid: Grid,
  energy_total_kwh: number,
): Record<string, number | null> {
  const columns = Object.entries({ ...measuredInverter(measured, grid), energy_total_kwh })
  return Object.fromEntries(
    columns.flatMap(([name, value]) => (typeof value === 'number' ? [[name, value]] : [])),
  )
}

/** What a device measures that is no inverter. */
const measuring = (columns: ProfileNow['columns']): ProfileNow => {
  const none = { voltage_v: [], current_a: [] }
  return { columns, state: null, strings: none, mppts: none }
}

function profiled(inverter: Inverter, site_dir: string): RegisterDevice<unknown, InverterNow> {
  const { inverter_id: serial, rated_ac_power_kw } = inverter
  const profile = readProfile(inverter.driver, site_dir)
  const device = profileDevice(profile, { serial, rated_w: rated_ac_power_kw * 1000 })
  const mppts = stringsOf(inverter).map(({ mppt_index }) => mppt_index)
  return {
    ...(device as RegisterDevice<unknown, ProfileNow>),
    registers({ measured, frequency_hz, line_voltage_v, energy_kwh }, state, now_ms) {
      const grid = { frequency_hz, voltage_ratio: line_voltage_v / nominal_voltage_v }
      const { mppt_voltage_v, mppt_current_a, string_current_a } = measured
      const now: ProfileNow = {
        columns: columnsAt(measured, grid, energy_kwh),
        state: measured.state,
        strings: {
          voltage_v: mppts.map((mppt) => mppt_voltage_v[mppt] ?? null),
          current_a: string_current_a,
        },
        mppts: { voltage_v: mppt_voltage_v, current_a: mppt_current_a },
      }
      return (device as RegisterDevice<unknown, ProfileNow>).registers(now, state, now_ms)
    },
  }
}

function held<State, Now>(device: RegisterDevice<State, Now>): Held<Now> {
  const erased = device as unknown as RegisterDevice<unknown, Now>
  return { device: erased, state: device.initial, restarted_at_ms: null }
}

function inverterNow(plant: Plant, inverter_id: number): InverterNow {
  const snapshot = plant.snapshot()
  const measured = snapshot.inverters.find((one) => one.inverter_id === inverter_id)!
  return {
    measured,
    frequency_hz: snapshot.frequency_hz,
    line_voltage_v: nominal_voltage_v * snapshot.voltage_ratio,
    energy_kwh: plant.counters.inverters[inverter_id]!.ac_kwh,
  }
}

function powerOf(plant: Plant, { inverters }: Logger): number {
  const ids = inverters.map(({ inverter_id }) => inverter_id)
  return plant
    .snapshot()
    .inverters.filter(({ inverter_id }) => ids.includes(inverter_id))
    .reduce((sum, { ac_power_kw }) => sum + ac_power_kw, 0)
}

const ratedOf = ({ inverters }: Logger): number =>
  inverters.reduce((sum, { rated_ac_power_kw }) => sum + rated_ac_power_kw, 0) * 1000
