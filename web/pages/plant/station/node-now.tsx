import type { SensorNode } from '@heliograph/sdk'
import { Text } from '@mantine/core'
import { formatQuantity } from '../../../ui/format.ts'
import { useNodeNow } from './reads.ts'

/** The hottest of it, and what nobody may overlook. */
export function NodeNow({ site_id, node }: { site_id: string; node: SensorNode }) {
  const { data } = useNodeNow(site_id, node.node_id)
  if (!data) return null
  const [hottest] = data.temperatures
    .filter(({ temperature_c }) => temperature_c !== null)
    .toSorted((one, other) => other.temperature_c! - one.temperature_c!)
  const told = [
    ...data.temperatures
      .filter(({ status }) => status === 'warning' || status === 'alarm')
      .map(({ label }) => `${label} too hot`),
    ...data.fans.filter(({ fault }) => fault).map(({ label }) => `${label} does not run`),
    ...data.doors.filter(({ open }) => open).map(({ label }) => `${label} open`),
  ]
  return (
    <>
      {hottest && (
        <Text size="sm">
          {hottest.label} {formatQuantity(hottest.temperature_c, '°C')}
        </Text>
      )}
      {told.length > 0 && (
        <Text size="sm" fw={600}>
          {told.join(', ')}
        </Text>
      )}
    </>
  )
}
