import type { SensorNode } from '@heliograph/sdk'
import { Text } from '@mantine/core'
import { formatQuantity } from '../../../ui/format.ts'
import { useNodeNow } from './reads.ts'

/** Highest temperature of a node, and its warnings. */
export function NodeNow({ site_id, node }: { site_id: string; node: SensorNode }) {
  const { data } = useNodeNow(site_id, node.node_id)
  if (!data) return null
  const [hottest] = data.temperatures
    .filter(({ temperature_c }) => temperature_c !== null)
    .toSorted((one, other) => other.temperature_c! - one.temperature_c!)
  const warnings = [
    ...data.temperatures
      .filter(({ status }) => status === 'warning' || status === 'alarm')
      .map(({ label }) => `${label} hot`),
    ...data.fans.filter(({ fault }) => fault).map(({ label }) => `${label} fault`),
    ...data.doors.filter(({ open }) => open).map(({ label }) => `${label} open`),
  ]
  return (
    <>
      {hottest && (
        <Text size="sm">
          {hottest.label} {formatQuantity(hottest.temperature_c, '°C')}
        </Text>
      )}
      {warnings.length > 0 && (
        <Text size="sm" fw={600}>
          {warnings.join(', ')}
        </Text>
      )}
    </>
  )
}
