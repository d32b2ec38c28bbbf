import type { Site } from '@heliograph/sdk'
import { Badge, Card, Group, SimpleGrid, Title } from '@mantine/core'
import { Link } from 'wouter'
import { useSites } from '../../queries.ts'
import { formatAge, formatPower } from '../../ui/format.ts'
import { HealthBadge } from '../../ui/health.tsx'
import { Muted } from '../../ui/muted.tsx'
import { Page } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useNow } from '../../ui/use-now.ts'
import { SiteNow } from './sites/site-now.tsx'

export default function Sites() {
  const sites = useSites()
  return (
    <Page title="Sites">
      <Answered query={sites}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No sites yet">
              A site appears here as soon as its edge agent has reported it.
            </Empty>
          ) : (
            <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
              {data.map((site) => (
                <SiteCard key={site.site_id} site={site} />
              ))}
            </SimpleGrid>
          )
        }
      </Answered>
    </Page>
  )
}

function SiteCard({ site }: { site: Site }) {
  const now_ms = useNow(10_000)
  const age_s = site.last_data_at ? (now_ms - Date.parse(site.last_data_at)) / 1000 : null
  return (
    <Card withBorder component={Link} href={`/sites/${site.site_id}`}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {site.name}
        </Title>
        <HealthBadge status={site.health_status} />
      </Group>
      <Muted>
        {formatPower(site.ac_capacity_kw)} AC, {site.logger_count} plants, {site.inverter_count}{' '}
        inverters
      </Muted>
      <SiteNow site={site} />
      <Group gap="xs" mt="sm">
        {site.commissioning_safe_mode && <Badge color="yellow">Safe mode</Badge>}
        {site.active_alert_count !== null && site.active_alert_count > 0 && (
          <Badge color={site.highest_alert_severity === 'critical' ? 'red' : 'orange'}>
            {site.active_alert_count} {site.active_alert_count === 1 ? 'alert' : 'alerts'}
          </Badge>
        )}
        <Muted>Last data {formatAge(age_s)}</Muted>
      </Group>
    </Card>
  )
}
