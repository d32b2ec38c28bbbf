/** Names of plants and inverters, and links to them. */
import { Anchor, Group, Text } from '@mantine/core'
import { Link } from 'wouter'
import { useOverview } from '../queries.ts'

interface Choice {
  value: string
  label: string
}

export interface Devices {
  plants: Choice[]
  /** Inverters of one plant, or of all. */
  inverters(logger_id?: number | null): Choice[]
  plantName(id: number): string
  inverterName(id: number): string
}

export function useDevices(site_id: string): Devices {
  const { data } = useOverview(site_id)
  const loggers = data?.loggers ?? []
  const inverters = data?.inverters ?? []
  return {
    plants: loggers.map(({ logger_id, name }) => ({
      value: String(logger_id),
      label: name ?? `Plant ${logger_id}`,
    })),
    inverters: (of = null) =>
      inverters
        .filter(({ logger_id }) => of === null || logger_id === of)
        .map(({ inverter_id, name }) => ({
          value: String(inverter_id),
          label: name ?? `Inverter ${inverter_id}`,
        })),
    plantName: (id) => loggers.find(({ logger_id }) => logger_id === id)?.name ?? `Plant ${id}`,
    inverterName: (id) =>
      inverters.find(({ inverter_id }) => inverter_id === id)?.name ?? `Inverter ${id}`,
  }
}

/** Ids of a device, as alerts, work orders and defects have them. */
interface Named {
  logger_id: number | null
  inverter_id: number | null
  string_index: number | null
  bess_id: number | null
  node_id?: string | null
  asset_label?: string | null
}

/** Name of the device with its plant; null for the whole site. */
export function deviceText(devices: Devices, named: Named): string | null {
  const parts = placesOf('', devices, named).map(({ label }) => label)
  return parts.length === 0 ? null : parts.join(' › ')
}

export function DeviceLinks({ site_id, named }: { site_id: string; named: Named }) {
  const devices = useDevices(site_id)
  const places = placesOf(site_id, devices, named)
  if (places.length === 0) return <Text size="sm">Whole site</Text>
  return (
    <Group gap={6}>
      {places.map(({ label, href }, nth) => (
        <Text key={label} size="sm" span>
          {nth > 0 && '› '}
          {href ? (
            <Anchor component={Link} href={href} size="sm" underline="always">
              {label}
            </Anchor>
          ) : (
            label
          )}
        </Text>
      ))}
    </Group>
  )
}

function placesOf(site_id: string, devices: Devices, named: Named) {
  const { logger_id, inverter_id, string_index, bess_id, node_id, asset_label } = named
  const at = `/sites/${site_id}`
  const places: { label: string; href?: string }[] = []
  if (logger_id !== null) {
    places.push({ label: devices.plantName(logger_id), href: `${at}/plants/${logger_id}` })
  }
  if (inverter_id !== null) {
    const href = `${at}/inverters/${inverter_id}`
    places.push({ label: devices.inverterName(inverter_id), href })
    if (string_index !== null) {
      places.push({ label: `String ${string_index}`, href: `${href}/strings/${string_index}` })
    }
  }
  if (bess_id !== null)
    places.push({ label: `Battery ${bess_id}`, href: `${at}/batteries/${bess_id}` })
  if (node_id) places.push({ label: `Node ${node_id}`, href: `${at}/stations/${node_id}` })
  if (asset_label) places.push({ label: asset_label })
  return places
}
