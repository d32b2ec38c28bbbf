/** What the devices of a running edge report of themselves, read through that edge. */
import type { Profile } from '@heliograph/domain/profile'
import type { Connection } from '@heliograph/domain/site'
import { BusError } from '../bus/bus-error.ts'
import type { Bus } from '../drivers/driver.ts'
import { findChain } from '../drivers/sunspec-chain.ts'
import { type DeviceFacts, profileFacts, sunspecFacts } from './found-device.ts'
import { doorBusOf, type RunningEdge } from './running-edge.ts'
import { type FoundDevice, inParallel } from './scan.ts'
import { devicesOf, type SiteDevice } from './site-devices.ts'

/** Below the number of clients that the edge accepts. */
const at_once = 4

interface Polled {
  edge: RunningEdge
  connections: readonly Connection[]
  profiles: ReadonlyMap<string, Profile>
}

/**
 * The drivers are those of its site file: registers of other families are not tried on a device
 * that it polls.
 */
export async function polledDevices({ edge, connections, profiles }: Polled) {
  const all = devicesOf(edge.site)
  const found = await inParallel([...new Set(connections)], at_once, async (connection) => {
    const units = all.filter((one) => one.connection === connection.connection_id)
    const bus = doorBusOf(connection, edge)
    try {
      const devices: FoundDevice[] = []
      // A meter that is read through another device may have a driver of its own.
      const of_driver = Map.groupBy(units, ({ unit_id, driver }) => `${unit_id} ${driver}`)
      for (const same of of_driver.values()) {
        const { unit_id, driver } = same[0]!
        const found = await factsOf(bus, { unit_id, driver }, profiles)
        // The site file knows a battery inverter, which has the registers of an inverter.
        const facts = found && { ...found, kinds: same.map(({ kind }) => kind) }
        devices.push({ connection, unit_id, driver, others: [], facts })
      }
      return devices
    } finally {
      await bus.close()
    }
  })
  return found.flat()
}

/** Null for a device that does not answer now. */
async function factsOf(
  bus: Bus,
  { unit_id, driver }: Pick<SiteDevice, 'unit_id' | 'driver'>,
  profiles: ReadonlyMap<string, Profile>,
): Promise<DeviceFacts | null> {
  try {
    if (driver === 'sunspec')
      return await sunspecFacts(bus, unit_id, await findChain(bus, { unit_id }))
    const profile = profiles.get(driver)
    return profile ? await profileFacts(bus, unit_id, profile) : null
  } catch (error) {
    if (error instanceof BusError && error.kind === 'closed') throw error
    return null
  }
}
