/** The edge that runs from a data directory, and the buses by which its devices are read. */

import { lookup } from 'node:dns/promises'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemStopwatch, systemTimers } from '@heliograph/domain/clock'
import type { Connection, Site } from '@heliograph/domain/site'
import { parseSiteFile } from '@heliograph/domain/site-file'
import type { Bus } from '../drivers/driver.ts'
import { lockDirectory } from '../lock.ts'
import { accepted_site } from '../site-watch.ts'
import { createDoorBus } from './door-bus.ts'
import { createReadOnlyBus } from './read-only-bus.ts'
import { hasUnit } from './site-devices.ts'

/** Most devices accept one client: what is in here must not get a second connection. */
export interface RunningEdge {
  data_dir: string
  site: Site
  /** Its connections to a host or serial line. */
  connectionsTo(place: string): Promise<Connection[]>
}

const timeout_ms = 2000

/**
 * Null where no edge runs.
 *
 * @throws Error where one may run and its devices are not known
 */
export async function runningEdge(data_dir: string): Promise<RunningEdge | null> {
  if (!existsSync(join(data_dir, 'lock')) || !isLocked(data_dir)) return null
  const text = await readFile(join(data_dir, accepted_site), 'utf8')
  const parsed = parseSiteFile(text, { was_accepted: true })
  if ('problems' in parsed) throw new Error(`cannot read the site of the edge in ${data_dir}`)
  const { site } = parsed
  const places = await Promise.all(
    site.connections.map(async (connection) => ({
      connection,
      addresses: await addressesOf(placeOf(connection)),
    })),
  )
  return {
    data_dir,
    site,
    async connectionsTo(place) {
      const wanted = await addressesOf(place)
      return places
        .filter(({ addresses }) => addresses.some((one) => wanted.includes(one)))
        .map(({ connection }) => connection)
    },
  }
}

function isLocked(data_dir: string): boolean {
  try {
    lockDirectory(data_dir).release()
    return false
  } catch (error) {
    if ((error as Error).cause === undefined) return true
    throw error
  }
}

/** The name itself too, where it has no address now. */
async function addressesOf(place: string): Promise<string[]> {
  const found = await lookup(place, { all: true }).catch(() => [])
  return [place, ...found.map(({ address }) => address)]
}

/**
 * A bus that only reads: through the running edge if it polls the unit, else of its own.
 *
 * @throws Error where the edge polls the host and not the unit
 */
export async function openReadingBus(
  connection: Connection,
  unit_id: number,
  edge: RunningEdge | null,
): Promise<Bus> {
  const same = (await edge?.connectionsTo(placeOf(connection))) ?? []
  if (!edge || same.length === 0) {
    return createReadOnlyBus(connection, {
      timers: systemTimers,
      now_ms: () => systemStopwatch.elapsedMs(),
      timeout_ms,
      ends_at_ms: Number.POSITIVE_INFINITY,
    })
  }
  const polled = same.find(
    (one) =>
      portOf(one) === portOf(connection) &&
      hasUnit(edge.site, { connection: one.connection_id, unit_id }),
  )
  if (polled) return doorBusOf(polled, edge)
  throw new Error(
    `the edge that runs here polls ${placeOf(connection)}, and no unit ${unit_id} at this port: ` +
      'most devices accept one client. Add the unit to its site file, or stop the edge first',
  )
}

export const doorBusOf = ({ connection_id }: Connection, { data_dir }: RunningEdge): Bus =>
  createDoorBus(connection_id, { data_dir, timers: systemTimers })

const portOf = (connection: Connection): number =>
  connection.protocol === 'modbus_rtu' ? 0 : connection.port

const placeOf = (connection: Connection): string =>
  connection.protocol === 'modbus_rtu' ? connection.path : connection.host
