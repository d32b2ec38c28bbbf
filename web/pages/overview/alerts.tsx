import type { Overview } from '@heliograph/sdk'
import { Anchor, Group, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import { useRead } from '../../queries.ts'
import { isDisconnected } from '../../ui/known-now.ts'
import { Muted } from '../../ui/muted.tsx'
import { Section } from '../../ui/section.tsx'
import { SeverityBadge } from '../../ui/severity.tsx'
import { inSiteTime } from '../../ui/site-time.ts'
import { Answered } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'

const ranks = ['critical', 'major', 'warning', 'info']

/** The most severe open alerts. */
export function OpenAlerts({ overview: { site, loggers } }: { overview: Overview }) {
  const { site_id } = site
  const is_blind = loggers.some(isDisconnected)
  const query = useRead('alerts', 'alertsList', { site_id }, 30_000)
  return (
    <Section
      title="Alerts"
      aside={
        <Anchor size="sm" component={Link} href={`/sites/${site_id}/alerts`}>
          All alerts
        </Anchor>
      }
    >
      <Answered query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Text>
              No active alerts.
              {is_blind && ' Offline plants are not monitored.'}
            </Text>
          ) : (
            <Stack gap="xs">
              {[...data]
                .sort((a, b) => ranks.indexOf(a.severity) - ranks.indexOf(b.severity))
                .slice(0, 4)
                .map((alert) => (
                  <div key={alert.alert_id}>
                    <Group gap="xs">
                      <SeverityBadge severity={alert.severity} />
                      <Muted>
                        since <Time at={alert.started_at} />
                      </Muted>
                    </Group>
                    <Text size="sm">{inSiteTime(alert.message, site.timezone)}</Text>
                  </div>
                ))}
              {data.length > 4 && <Text size="sm">and {data.length - 4} more</Text>}
            </Stack>
          )
        }
      </Answered>
    </Section>
  )
}
