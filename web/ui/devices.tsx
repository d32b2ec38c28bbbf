import { Alert, Group, List, Text } from '@mantine/core'
import { useMayRead, useOverview, useRead } from '../queries.ts'
import { SeverityBadge } from './badges.tsx'
import { type AlertPlace, alertsOf } from './device-places.ts'
import { SiteLink, Time } from './page.tsx'

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

export function useDevices(): Devices {
  const { loggers = [], inverters = [] } = useOverview().data ?? {}
  const plantName = (id: number) =>
    loggers.find(({ logger_id }) => logger_id === id)?.name ?? `Plant ${id}`
  const inverterName = (id: number) =>
    inverters.find(({ inverter_id }) => inverter_id === id)?.name ?? `Inverter ${id}`
  return {
    plants: loggers.map(({ logger_id: id }) => ({ value: String(id), label: plantName(id) })),
    inverters: (of = null) =>
      inverters
        .filter(({ logger_id }) => of === null || logger_id === of)
        .map(({ inverter_id: id }) => ({ value: String(id), label: inverterName(id) })),
    plantName,
    inverterName,
  }
}

interface Named {
  logger_id: number | null
  inverter_id: number | null
  string_index: number | null
  bess_id: number | null
  node_id?: string | null
  asset_label?: string | null
}

/** Name of the device with its plant; null for the whole site. */
export const deviceText = (devices: Devices, named: Named): string | null =>
  placesOf(devices, named)
    .map(({ label }) => label)
    .join(' › ') || null

export function DeviceLinks({ named }: { named: Named }) {
  const places = placesOf(useDevices(), named)
  if (places.length === 0) return <Text size="sm">Whole site</Text>
  return (
    <Group gap={6}>
      {places.map(({ label, to }, nth) => (
        <Text key={label} size="sm" span>
          {nth > 0 && '› '}
          {to ? (
            <SiteLink to={to} size="sm" underline="always">
              {label}
            </SiteLink>
          ) : (
            label
          )}
        </Text>
      ))}
    </Group>
  )
}

function placesOf(devices: Devices, named: Named) {
  const { logger_id, inverter_id, string_index, bess_id, node_id, asset_label } = named
  const places: { label: string; to?: string }[] = []
  const add = (label: string, to?: string) => places.push({ label, to })
  if (logger_id !== null) add(devices.plantName(logger_id), `/plants/${logger_id}`)
  if (inverter_id !== null) {
    const to = `/inverters/${inverter_id}`
    add(devices.inverterName(inverter_id), to)
    if (string_index !== null) add(`String ${string_index}`, `${to}/strings/${string_index}`)
  }
  if (bess_id !== null) add(`Battery ${bess_id}`, `/batteries/${bess_id}`)
  if (node_id) add(`Node ${node_id}`, `/stations/${node_id}`)
  if (asset_label) add(asset_label)
  return places
}

export function DeviceAlerts(place: AlertPlace) {
  const enabled = useMayRead()('alerts:read')
  const { data } = useRead('alerts', 'alertsList', {}, { refetchInterval: 30_000, enabled })
  const own = alertsOf(data?.data ?? [], place)
  if (own.length === 0) return null
  return (
    <Alert color="red" title={`Alerts: ${own.length}`}>
      <List size="sm" listStyleType="none" spacing={4}>
        {own.map(({ alert_id, severity, title, started_at }) => (
          <List.Item key={alert_id}>
            <Group gap="xs">
              <SeverityBadge severity={severity} />
              <SiteLink to={`/alerts?alert_id=${alert_id}`} size="sm" underline="always">
                {title}
              </SiteLink>
              since <Time at={started_at} />
            </Group>
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
