/**
 * Instruments of a met station and channels of a sensor node by position. Their readings are one
 * array in the order of `site.yaml`: who moves one gives its past to another.
 */
import type { Channel, Node } from './node.ts'
import type { Instrument, Site, Station } from './site.ts'

/** A device whose readings are arrays, and what stands at each position of them. */
export interface ListedDevice {
  kind: 'station' | 'node'
  id: string
  /** What its readings are kept under. */
  number: number
  /** As `oil temperature` and `poa-1 pyranometer poa_irradiance_w_m2`: equal is the same. */
  places: readonly string[]
}

/** What was measured as `was` is told as `now` from here on. */
interface MovedPosition {
  /** From 0. */
  position: number
  was: string
  /** null: the list ends before it. */
  now: string | null
}

interface MovedDevice {
  kind: ListedDevice['kind']
  id: string
  positions: MovedPosition[]
}

interface Devices {
  stations: readonly Pick<Station, 'station_id' | 'instruments'>[]
  nodes: readonly Pick<Node, 'node_id' | 'node_number' | 'channels'>[]
}

export function listedDevices({ stations, nodes }: Devices): ListedDevice[] {
  return [
    ...stations.map(({ station_id, instruments }) => ({
      kind: 'station' as const,
      id: String(station_id),
      number: station_id,
      places: instruments.map(instrumentPlace),
    })),
    ...nodes.map(({ node_id, node_number, channels }) => ({
      kind: 'node' as const,
      id: node_id,
      number: node_number,
      places: channels.map(channelPlace),
    })),
  ]
}

export function listedDevicesOf({ loggers, nodes }: Site): ListedDevice[] {
  const stations = loggers.flatMap((logger) => logger.stations ?? [])
  return listedDevices({ stations, nodes: nodes ?? [] })
}

/**
 * The devices of both lists at which a position is no longer what it was, by the order of `now`.
 * What comes after all that there was moves nothing, nor does another label or serial number.
 */
export function movedDevices(
  former: readonly ListedDevice[],
  now: readonly ListedDevice[],
): MovedDevice[] {
  return now.flatMap(({ kind, id, number, places }) => {
    const known = former.find((device) => device.kind === kind && device.number === number)
    const positions = (known?.places ?? []).flatMap((was, position) => {
      const here = places[position] ?? null
      return here === was ? [] : [{ position, was, now: here }]
    })
    return positions.length > 0 ? [{ kind, id, positions }] : []
  })
}

const instrumentPlace = ({ sensor_id, type, quantity }: Instrument) =>
  `${sensor_id} ${type} ${quantity}`

const channelPlace = ({ channel, kind }: Channel) => `${channel} ${kind}`
