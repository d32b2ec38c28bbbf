/** One read of every device of a site, for its commissioning test. */
import { type NumberRegister, oneSourceControls, type Profile } from '@heliograph/domain/profile'
import type { Site } from '@heliograph/domain/site'
import { BusError } from '../bus/bus-error.ts'
import type { Bus, Complaint, Device, DeviceIdentity, Driver } from '../drivers/driver.ts'
import { openReadingBus, type RunningEdge } from './running-edge.ts'
import { inParallel } from './scan.ts'
import { devicesOf, type SiteDevice } from './site-devices.ts'

/** Columns of a reading, or `point` of an instrument of a met station. */
type Values = Readonly<Record<string, unknown>>

export interface CheckedDevice {
  of: SiteDevice
  /** Null for a device that could not be read; `error` says why. */
  read: CheckedRead | null
  error: string | null
}

interface CheckedRead {
  identity: DeviceIdentity
  values: Values
  /** Of the strings that an inverter or combiner measures. */
  strings: { current_a: Numbers; voltage_v: Numbers }
  /** Reported by the device; null if it does not report it. */
  rated_power_kw: number | null
  complaints: readonly Complaint[]
  /** Names of refused registers. */
  missing: readonly string[]
  has_limit: boolean
  /** Registers by which its power is set, and which one source alone has. */
  one_source_controls: readonly NumberRegister[]
  /** Registers by column or point, with their marks; null for SunSpec. */
  described: Readonly<Record<string, NumberRegister | undefined>> | null
  /** By the profile, a battery shares the DC side. */
  is_hybrid: boolean
}

export type Numbers = readonly (number | null)[] | null

/** Below this part of the rated power, errors of measurement outweigh what is compared. */
export const loaded_part = 0.05

/** Null for a value that is absent, or no number. */
export function numberOf({ read }: CheckedDevice, column: string): number | null {
  const value = read?.values[column]
  return typeof value === 'number' ? value : null
}

interface Needs {
  site: Site
  edge: RunningEdge | null
  driverOf(name: string): Driver
  onDevice(device: CheckedDevice): void
}

/** Below the number of clients that a running edge accepts. */
const at_once = 4

/** Connections in parallel, the devices of each one after the other. */
export async function readSite({ site, edge, driverOf, onDevice }: Needs) {
  const all = devicesOf(site)
  const found = await inParallel(site.connections, at_once, async (connection) => {
    const units = all.filter((one) => one.connection === connection.connection_id)
    const checked: CheckedDevice[] = []
    for (const of of units) {
      const device = await checkedDevice(of, driverOf(of.driver), () =>
        openReadingBus(connection, of.unit_id, edge),
      )
      onDevice(device)
      checked.push(device)
    }
    return checked
  })
  const checked = new Map(found.flat().map((one) => [one.of, one]))
  return all.flatMap((one) => checked.get(one) ?? [])
}

async function checkedDevice(
  of: SiteDevice,
  driver: Driver,
  openBus: () => Promise<Bus>,
): Promise<CheckedDevice> {
  let bus: Bus | null = null
  try {
    bus = await openBus()
    return { of, read: await readDevice(of, driver, bus), error: null }
  } catch (error) {
    const { message } = error as Error
    const reason = error instanceof BusError ? `no answer: ${message}` : message
    return { of, read: null, error: reason }
  } finally {
    await bus?.close()
  }
}

/** What `readDevice` takes from the answer of a kind. */
type Part = Pick<CheckedRead, 'values'> & Partial<Pick<CheckedRead, 'strings' | 'rated_power_kw'>>

async function readDevice(of: SiteDevice, driver: Driver, bus: Bus): Promise<CheckedRead> {
  const { identity, answer, part } = await readPart(of, driver, bus)
  const { profile } = driver
  const is_controlled = ['inverter', 'controller', 'pcs'].includes(of.kind)
  return {
    identity,
    strings: { current_a: null, voltage_v: null },
    rated_power_kw: null,
    ...part,
    complaints: answer.complaints,
    missing: answer.missing ?? [],
    has_limit: is_controlled && (profile?.inverter?.limit ?? profile?.controller?.limit) != null,
    one_source_controls: profile && is_controlled ? oneSourceControls(profile) : [],
    described: profile ? describedBy(profile, of) : null,
    is_hybrid: /hybrid/i.test(`${profile?.identity.family} ${of.driver}`),
  }
}

async function readPart(of: SiteDevice, driver: Driver, bus: Bus) {
  const opened = async <Of>(
    opening: Promise<Device<Of>> | undefined,
    partOf: (values: Of) => Part,
  ) => {
    if (!opening) throw new Error(`the driver ${of.driver} reads no such device`)
    const device = await opening
    const answer = await device.read()
    return { identity: device.identity, answer, part: partOf(answer.values) }
  }
  switch (of.kind) {
    case 'inverter':
      return await opened(driver.openInverter?.(bus, of.device), (values) => ({
        values: values.inverter,
        strings: values.strings ?? { current_a: null, voltage_v: null },
        rated_power_kw: values.ratings?.rated_power_kw ?? null,
      }))
    case 'combiner':
      return await opened(driver.openCombiner?.(bus, of.device), (strings) => ({
        values: {},
        strings,
      }))
    case 'controller':
      return await opened(driver.openController?.(bus, of.device), ({ active_power_kw }) => ({
        values: { active_power_kw },
      }))
    case 'station':
      return await opened(driver.openStation?.(bus, of.device), ({ instrument_values }) => ({
        values: Object.fromEntries(
          of.device.instruments.map(({ point }, nth) => [point, instrument_values?.[nth] ?? null]),
        ),
      }))
    case 'meter':
      return await opened(driver.openMeter?.(bus, of.device), (values) => ({ values }))
    case 'battery':
      return await opened(driver.openBattery?.(bus, of.device), ({ battery }) => ({
        values: battery,
      }))
    case 'pcs':
      return await opened(driver.openPcs?.(bus, of.device), ({ pcs }) => ({ values: pcs }))
  }
}

function describedBy({ inverter, meter, weather, pcs, controller }: Profile, { kind }: SiteDevice) {
  if (kind === 'inverter') return inverter?.readings ?? null
  if (kind === 'meter') return meter?.readings ?? null
  if (kind === 'station') return weather?.points ?? null
  if (kind === 'pcs') return pcs?.readings ?? null
  if (kind === 'controller' && controller) return { active_power_kw: controller.active_power }
  return null
}
