/**
 * Instruments of a met station and channels of a sensor node by position. Their readings are one
 * array in the order of `site.yaml`: moving one would assign its past to another.
 */
import type { Channel, Node } from './node.ts'
import type { Instrument, Site, Station } from './site.ts'

/** A device whose readings are arrays, and what stands at each position of them. */
export interface ListedDevice {
  kind: 'station' | 'node'
  id: string
  /** The number under which its readings are stored. */
  number: number
  /**
   * For example `oil temperature` and `poa-1 pyranometer poa_irradiance_w_m2`; equal texts mean the
   * same instrument.
   */
  places: readonly string[]
}

/** A position whose instrument or channel changed from `was` to `now`. */
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
 * The devices in both lists with a changed position, in the order of `now`. Additions at the end,
 * labels and serial numbers are no changes.
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
