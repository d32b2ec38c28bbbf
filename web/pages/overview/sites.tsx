import type { Site } from '@heliograph/sdk'
import { Badge, Card, Group, SimpleGrid } from '@mantine/core'
import { useInViewport } from '@mantine/hooks'
import { Link } from 'wouter'
import { useMayReadAt, useRead, useSites } from '../../queries.ts'
import { HealthBadge } from '../../ui/badges.tsx'
import {
  formatAge,
  formatEnergy,
  formatMoney,
  formatNumber,
  formatPower,
  formatQuantity,
  isKnown,
} from '../../ui/format.ts'
import { Heading, Muted, NamedFigure, Page, useNow } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { netOf, useEarnedToday } from './earned-today.ts'

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
        <Heading>{site.name}</Heading>
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

/** Present values of a site, read only while its card is visible. */
function SiteNow({ site }: { site: Site }) {
  const { ref, inViewport } = useInViewport()
  const mayRead = useMayReadAt(site)
  const { site_id, ac_capacity_kw } = site
  const { data: status } = useRead(
    'plant-status',
    'plantStatusGet',
    { site_id },
    { refetchInterval: 15_000, enabled: inViewport && mayRead('plant:read') },
  )
  const { data: earned } = useEarnedToday(site, inViewport && mayRead('earnings:read'))
  const power_kw = status?.ac_power_kw
  const kwh_kwp = status?.specific_yield_today_kwh_kwp
  const share_pct = isKnown(power_kw) && ac_capacity_kw ? (100 * power_kw) / ac_capacity_kw : null
  return (
    <Group ref={ref} mt="sm" gap="lg" align="flex-start">
      <NamedFigure
        size="xs"
        name="Power now"
        value={formatPower(power_kw)}
        note={share_pct === null ? null : `${formatNumber(share_pct, 0)} % of AC`}
      />
      <NamedFigure
        size="xs"
        name="Energy today"
        value={formatEnergy(status?.energy_today_kwh)}
        note={isKnown(kwh_kwp) ? formatQuantity(kwh_kwp, 'kWh/kWp', 2) : null}
      />
      {mayRead('earnings:read') && (
        <NamedFigure
          size="xs"
          name="Revenue today"
          value={formatMoney(netOf(earned), earned?.currency ?? null)}
          note={earned ? `since midnight, ${earned.timezone}` : null}
        />
      )}
    </Group>
  )
}
