import type { StringHealth, StringHealthList } from '@heliograph/sdk'
import { Group, Text } from '@mantine/core'
import { formatNumber } from '../../../ui/format.ts'
import { healthNames } from '../../../ui/health-names.ts'
import { looks, type Status, statuses } from './looks.ts'

export function Legend({
  strings,
  thresholds,
}: {
  strings: readonly StringHealth[]
  thresholds: StringHealthList['meta']['thresholds']
}) {
  const counts = new Map<Status, number>()
  for (const { status } of strings) counts.set(status, (counts.get(status) ?? 0) + 1)
  const limits: Partial<Record<Status, string>> = {
    watch: `below ${thresholds.watch_pct} %`,
    underperforming: `below ${thresholds.underperforming_pct} %`,
    critical: `below ${thresholds.critical_pct} %`,
    dead: `below ${thresholds.dead_pct} %`,
  }
  return (
    <Group gap="md" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
      {statuses.map((status) => (
        <Group key={status} component="li" gap={6} wrap="nowrap">
          <Swatch status={status} />
          <Text size="sm">
            <b>{formatNumber(counts.get(status) ?? 0, 0)}</b>{' '}
            {(healthNames[status] ?? status).toLowerCase()}
            {limits[status] && `, ${limits[status]}`}
          </Text>
        </Group>
      ))}
    </Group>
  )
}

export function Swatch({ status }: { status: Status }) {
  const { fill, ink, sign } = looks[status]
  return (
    <svg width={18} height={18} aria-hidden="true">
      <rect x={0.5} y={0.5} width={17} height={17} fill={fill} stroke="#868e96" />
      <text x={9} y={13} textAnchor="middle" fontSize={13} fontWeight={700} fill={ink}>
        {sign}
      </text>
    </svg>
  )
}
