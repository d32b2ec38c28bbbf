import type { Overview } from '@heliograph/sdk'
import { Alert, Anchor, Group, List, Text } from '@mantine/core'
import { Link } from 'wouter'
import { HealthBadge, healthReason } from '../../ui/health.tsx'
import { sentence } from './sentence.ts'
import { useShareToday } from './share-today.ts'
import { WeakStrings } from './weak-strings.tsx'

const shown_max = 8

/** Health of the site with its problems. */
export function Verdict({ overview }: { overview: Overview }) {
  const { health_status, health_reasons } = overview.status
  const share_pct = useShareToday(overview.site.site_id)
  const more = health_reasons.length - shown_max
  return (
    <div>
      <Group gap="sm" mb={health_reasons.length > 0 ? 'xs' : 0}>
        <HealthBadge status={health_status} />
        <Text>{sentence(overview.status, share_pct)}</Text>
      </Group>
      <WeakStrings site_id={overview.site.site_id} />
      {health_reasons.length > 0 && (
        <Alert
          variant="outline"
          color={health_status === 'offline' ? 'red' : 'orange'}
          title="Problems"
        >
          <List size="sm">
            {health_reasons.slice(0, shown_max).map((reason) => (
              <List.Item key={reason}>
                <Reason reason={reason} overview={overview} />
              </List.Item>
            ))}
            {more > 0 && <List.Item>and {more} more</List.Item>}
          </List>
        </Alert>
      )}
    </div>
  )
}

/** A problem with a link to its device. */
function Reason({ reason, overview }: { reason: string; overview: Overview }) {
  const { site, loggers, inverters } = overview
  const [code = '', id = ''] = reason.split(':')
  const logger = loggers.find(({ logger_id }) => String(logger_id) === id)
  const inverter = inverters.find(({ inverter_id }) => String(inverter_id) === id)
  const ways: [starts: string, path: string, name: string | undefined][] = [
    ['critical_alerts', '/alerts', id],
    ['logger_', `/plants/${id}`, logger?.name],
    ['inverter_', `/inverters/${id}`, inverter?.name],
  ]
  const [, path, name] = ways.find(([starts]) => code.startsWith(starts)) ?? []
  if (!path) return healthReason(reason)
  const words = healthReason(`${code}:${name ?? id}`)
  return (
    <Anchor component={Link} href={`/sites/${site.site_id}${path}`} size="sm" underline="always">
      {logger ? words.replace(`Plant ${logger.name}`, logger.name) : words}
    </Anchor>
  )
}
