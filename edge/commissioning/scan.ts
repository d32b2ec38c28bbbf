/**
 * Finds the Modbus devices of a network and recognises them. Hosts are asked in parallel, the ports
 * of a host one after the other, as most inverters accept one client. Nothing is written.
 */
import { connect } from 'node:net'
import type { Profile } from '@heliograph/domain/profile'
import type { Connection } from '@heliograph/domain/site'
import { BusError } from '../bus/bus-error.ts'
import type { Bus } from '../drivers/driver.ts'
import { findUnits, first_timeout_ms } from './find-units.ts'
import { type DeviceFacts, profileFacts, sunspecFacts } from './found-device.ts'
import { type BusTimes, createReadOnlyBus } from './read-only-bus.ts'
import { type Recognition, recognise } from './recognise.ts'

export interface FoundDevice {
  connection: Connection
  unit_id: number
  /** Null for a device that no driver or several recognise. */
  driver: string | null
  /** Profiles that recognise it, beside `driver`. */
  others: readonly string[]
  /** Null where `driver` is, and for a device that was silent when it was asked for them. */
  facts: DeviceFacts | null
}

export interface ScanResult {
  devices: FoundDevice[]
  /** For the operator: what was left out and why. */
  notes: string[]
}

interface ScanPlan {
  hosts: readonly string[]
  ports: readonly number[]
  unit_ids: readonly number[]
  /** Serial lines by their settings; the first setting with an answer ends those of its path. */
  serial: readonly (readonly Connection[])[]
  profiles: ReadonlyMap<string, Profile>
}

interface ScanNeeds extends BusTimes {
  onProgress(progress: Progress): void
}

export interface Progress {
  opened: number
  places: number
  done: number
  devices: number
}

/** Requests of all hosts together stay below this times 50 a second. */
const hosts_max = 128
const connect_ms_max = 1000
/** For each port that answers, and each setting of a serial line. */
export const place_ms_max = 180_000

/** Longest time to find open ports. */
export const connectingMs = ({ hosts, ports }: Pick<ScanPlan, 'hosts' | 'ports'>): number =>
  Math.ceil((hosts.length * ports.length) / hosts_max) * connect_ms_max

export async function scan(plan: ScanPlan, needs: ScanNeeds): Promise<ScanResult> {
  const { timers, now_ms, onProgress } = needs
  const notes: string[] = []
  const devices: FoundDevice[] = []
  const places = plan.hosts.flatMap((host) => plan.ports.map((port) => ({ host, port })))
  const is_open = await inParallel(places, hosts_max, (place) => isOpen(place, needs))
  const open = places.filter((_, nth) => is_open[nth])
  const of_hosts: (readonly Connection[])[] = [
    ...Map.groupBy(open, ({ host }) => host).values(),
  ].map((same) => same.map(tcpConnection))
  const progress = { opened: open.length, places: open.length + plan.serial.length, done: 0 }
  const report = () => onProgress({ ...progress, devices: devices.length })
  report()

  const visit = async (connection: Connection): Promise<number> => {
    const found = await scanPlace(connection, plan, {
      timers,
      now_ms,
      onDevice(device) {
        devices.push(device)
        report()
      },
      note: (text) => notes.push(`${connection.connection_id}: ${text}`),
    })
    return found
  }
  await inParallel([...of_hosts, ...plan.serial], hosts_max, async (connections) => {
    for (const connection of connections) {
      const found = await visit(connection)
      const is_serial = connection.protocol === 'modbus_rtu'
      progress.done += is_serial ? 0 : 1
      report()
      if (is_serial && found > 0) break
    }
    if (connections[0]?.protocol === 'modbus_rtu') progress.done += 1
  })
  const { kept, repeated } = withoutRepetitions(sorted(devices, plan))
  return { devices: kept, notes: [...notes, ...repeated] }
}

/** The place of each connection in the order of the plan, then its unit; unit 0 comes last. */
function sorted(devices: readonly FoundDevice[], { hosts }: ScanPlan): FoundDevice[] {
  const placeOf = ({ connection }: FoundDevice) =>
    connection.protocol === 'modbus_rtu' ? hosts.length : hosts.indexOf(connection.host)
  const portOf = ({ connection }: FoundDevice) =>
    connection.protocol === 'modbus_rtu' ? 0 : connection.port
  const unitOf = ({ unit_id }: FoundDevice) => unit_id || Number.POSITIVE_INFINITY
  return devices.toSorted((a, b) => {
    const by_place = placeOf(a) - placeOf(b) || portOf(a) - portOf(b)
    return by_place || (unitOf(a) < unitOf(b) ? -1 : 1)
  })
}

/** A device that a host serves at several ports or unit ids is one. */
function withoutRepetitions(devices: readonly FoundDevice[]) {
  const seen = new Map<string, FoundDevice>()
  const repeated: string[] = []
  const kept = devices.filter((device) => {
    const { connection, unit_id, facts } = device
    if (unit_id === 0 && isOtherUnit(device, devices)) return false
    const serial = facts?.identity.serial_number
    if (!serial || connection.protocol === 'modbus_rtu') return true
    const key = `${connection.host} ${serial}`
    const first = seen.get(key)
    if (!first) {
      seen.set(key, device)
      return true
    }
    const { connection_id } = first.connection
    repeated.push(
      `${connection.connection_id}: unit ${unit_id} is the device of ${connection_id}, unit ` +
        `${first.unit_id}, by its serial number`,
    )
    return false
  })
  return { kept, repeated }
}

/**
 * Many devices and gateways answer as unit 0 too: only a driver that no other unit there has makes
 * unit 0 a device of its own, as a plant controller is.
 */
function isOtherUnit(zero: FoundDevice, devices: readonly FoundDevice[]): boolean {
  const { connection, driver } = zero
  return devices.some(
    (other) =>
      other !== zero &&
      other.connection.connection_id === connection.connection_id &&
      (driver === null || other.driver === driver),
  )
}

const modbus_port = 502

const tcpConnection = ({ host, port }: { host: string; port: number }): Connection => ({
  connection_id: port === modbus_port ? host : `${host}:${port}`,
  protocol: 'modbus_tcp',
  host,
  port,
})

interface Visit extends BusTimes {
  onDevice(device: FoundDevice): void
  note(text: string): void
}

/** The number of unit ids that answered. */
async function scanPlace(connection: Connection, plan: ScanPlan, needs: Visit): Promise<number> {
  const { timers, now_ms, note } = needs
  const began_ms = now_ms()
  const open = () =>
    createReadOnlyBus(connection, {
      timers,
      now_ms,
      timeout_ms: first_timeout_ms,
      ends_at_ms: began_ms + place_ms_max,
    })
  const searched = open()
  const { unit_ids, heeds_no_id, left } = await findUnits(searched, {
    unit_ids: plan.unit_ids,
    now_ms,
    ends_at_ms: began_ms + place_ms_max,
    wait: (ms) => new Promise((resolve) => timers.after(ms, resolve)),
  })
  await searched.close()
  if (unit_ids.length === 0) note('the port is open, and no unit id answers as Modbus')
  else if (left.length > 0) {
    const ids = `unit ids ${left[0]} to ${left.at(-1)}`
    note(`${ids} were not asked: time ended, or the device closes the connection`)
  }
  if (heeds_no_id) note('the device answers to every unit id')
  // A new connection: answers to unit ids that came late are gone.
  const bus = open()
  bus.timeout_ms = 2 * Math.max(first_timeout_ms, searched.answered_ms()?.max ?? 0)
  try {
    for (const unit_id of unit_ids) {
      const device = await describe(bus, { connection, unit_id }, plan.profiles)
      if (device.driver !== null && device.facts === null) {
        note(`unit ${unit_id} was recognised as ${device.driver}, and then did not answer`)
      }
      needs.onDevice(device)
    }
  } catch (error) {
    if (!(error instanceof BusError)) throw error
    note(`not all devices could be recognised: ${error.message}`)
  } finally {
    await bus.close()
  }
  return unit_ids.length
}

async function describe(
  bus: Bus,
  place: Pick<FoundDevice, 'connection' | 'unit_id'>,
  profiles: ReadonlyMap<string, Profile>,
): Promise<FoundDevice> {
  const { unit_id } = place
  const recognition = await recognise(bus, unit_id, profiles)
  const { driver, others } = choose(recognition)
  const profile = driver === null ? undefined : profiles.get(driver)
  try {
    const facts = recognition.chain
      ? await sunspecFacts(bus, unit_id, recognition.chain)
      : profile
        ? await profileFacts(bus, unit_id, profile)
        : null
    return { ...place, driver, others, facts }
  } catch (error) {
    if (!(error instanceof BusError) || error.kind === 'closed') throw error
    return { ...place, driver, others, facts: null }
  }
}

/** SunSpec describes a device exactly; of two profiles a person decides. */
function choose({ chain, profiles }: Recognition): Pick<FoundDevice, 'driver' | 'others'> {
  if (chain) return { driver: 'sunspec', others: profiles }
  const [only, ...more] = profiles
  if (only === undefined || more.length > 0) return { driver: null, others: profiles }
  return { driver: only, others: [] }
}

function isOpen(place: { host: string; port: number }, { timers }: ScanNeeds): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(place)
    const end = (is_open: boolean) => {
      cancel()
      socket.destroy()
      resolve(is_open)
    }
    const cancel = timers.after(connect_ms_max, () => end(false))
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}

/** At most `at_once` at a time; results in the order of the items. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  at_once: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const waiting = items.entries()
  const worker = async () => {
    for (const [nth, item] of waiting) results[nth] = await run(item)
  }
  await Promise.all(Array.from({ length: Math.min(at_once, items.length) }, worker))
  return results
}
