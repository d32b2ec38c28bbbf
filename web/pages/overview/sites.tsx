import type { Site, SiteStatus, SiteTotals } from '@heliograph/sdk'
import { Badge, Button, Card, Group, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { useMayReadAt, useSiteStatuses, useUser } from '../../queries.ts'
import { HealthBadge } from '../../ui/badges.tsx'
import {
  formatAge,
  formatEnergy,
  formatMoney,
  formatNumber,
  formatPower,
  isKnown,
  none,
} from '../../ui/format.ts'
import { figures, Heading, Muted, NamedFigure, Page, useNow } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'

const at_once = 60
/** Older power is not shown as present power. */
const present_s_max = 300

export default function Sites() {
  const sites = useSiteStatuses()
  const [text, setText] = useState('')
  const [shown_count, setShown] = useState(at_once)
  const wanted = text.trim().toLowerCase()
  return (
    <Page title="Sites" actions={<AddSite />}>
      <Answered query={sites}>
        {({ data, meta }) => {
          if (data.length === 0) {
            return <Empty title="No sites yet">An administrator adds sites.</Empty>
          }
          const found = data.filter((site) =>
            [site.site_id, site.name].some((name) => name.toLowerCase().includes(wanted)),
          )
          return (
            <Stack gap="md">
              {data.length > 1 && meta.totals && (
                <>
                  <Totals totals={meta.totals} count={meta.count} />
                  <TextInput
                    aria-label="Search sites"
                    placeholder="Search"
                    leftSection={<IconSearch size={16} />}
                    value={text}
                    onChange={(event) => setText(event.currentTarget.value)}
                  />
                </>
              )}
              {found.length === 0 && <Empty title="No sites match the search" />}
              <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
                {found.slice(0, shown_count).map((site) => (
                  <SiteCard key={site.site_id} site={site} />
                ))}
              </SimpleGrid>
              {found.length > shown_count && (
                <Button variant="default" onClick={() => setShown(shown_count + at_once)}>
                  Show {Math.min(at_once, found.length - shown_count)} more
                </Button>
              )}
            </Stack>
          )
        }}
      </Answered>
    </Page>
  )
}

function AddSite() {
  const { role } = useUser()
  if (role !== 'administrator') return null
  return (
    <Button component={Link} href="/add-site" variant="default">
      Add a site
    </Button>
  )
}

/** Sums over the sites whose metric is known. */
function Totals({ totals, count }: { totals: SiteTotals; count: number }) {
  const ofSites = (known: number) => (known < count ? `${known} of ${count} sites` : null)
  const ratio_pct = totals.energy_to_expected_pct
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="xs">
      {figures([
        ['Power now', formatPower(totals.ac_power_kw), ofSites(totals.power_site_count)],
        [
          'Energy today',
          formatEnergy(totals.energy_today_kwh),
          isKnown(ratio_pct) && `${formatNumber(ratio_pct, 0)} % of the expected energy`,
        ],
        [
          'Revenue today',
          totals.revenue_today
            .map(({ net_amount, currency }) => formatMoney(net_amount, currency))
            .join(', ') || none,
        ],
        [
          'Open alerts',
          totals.open_alert_count ?? none,
          totals.offline_count > 0 && `${totals.offline_count} sites offline`,
        ],
      ])}
    </SimpleGrid>
  )
}

function SiteCard({ site }: { site: Site }) {
  const now_ms = useNow(10_000)
  const { status } = site
  const open_count = status?.open_alert_count ?? 0
  return (
    <Card component={Link} href={`/sites/${site.site_id}`}>
      <Group justify="space-between">
        <Heading>{site.name}</Heading>
        <HealthBadge status={site.health_status} />
      </Group>
      <Muted>
        {formatPower(site.ac_capacity_kw)} AC, {site.logger_count} plants, {site.inverter_count}{' '}
        inverters
      </Muted>
      {status && <SiteNow site={site} status={status} now_ms={now_ms} />}
      <Group gap="xs" mt="sm">
        {site.commissioning_safe_mode && <Badge color="yellow">Safe mode</Badge>}
        {open_count > 0 && (
          <Badge color={site.highest_alert_severity === 'critical' ? 'red' : 'orange'}>
            {open_count} open {open_count === 1 ? 'alert' : 'alerts'}
          </Badge>
        )}
        <Muted>Last data {formatAge(ageOf(site.last_data_at, now_ms))}</Muted>
      </Group>
    </Card>
  )
}

const ageOf = (instant: string | null, now_ms: number): number | null =>
  instant === null ? null : (now_ms - Date.parse(instant)) / 1000

interface SiteNowProps {
  site: Site
  status: SiteStatus
  now_ms: number
}

function SiteNow({ site, status, now_ms }: SiteNowProps) {
  const { energy_to_expected_pct } = status
  const mayRead = useMayReadAt(site)
  return (
    <Group mt="sm" gap="lg" align="flex-start">
      <NamedFigure size="xs" name="Power now" {...powerNow(site, status, now_ms)} />
      <NamedFigure
        size="xs"
        name="Energy today"
        value={formatEnergy(status.energy_today_kwh)}
        note={
          isKnown(energy_to_expected_pct)
            ? `${formatNumber(energy_to_expected_pct, 0)} % of expected`
            : null
        }
      />
      {mayRead('earnings:read') && (
        <NamedFigure
          size="xs"
          name="Revenue today"
          value={formatMoney(status.revenue_today_amount, status.currency)}
        />
      )}
    </Group>
  )
}

/** The last power of a site that sends none is a note with its age. */
function powerNow({ ac_capacity_kw }: Site, { ac_power_kw, power_at }: SiteStatus, now_ms: number) {
  const age_s = ageOf(power_at, now_ms)
  if (!isKnown(ac_power_kw) || age_s === null) return { value: none }
  if (age_s > present_s_max) {
    return { value: none, note: `${formatPower(ac_power_kw)}, ${formatAge(age_s)}` }
  }
  const share_pct = ac_capacity_kw > 0 ? (100 * ac_power_kw) / ac_capacity_kw : null
  return {
    value: formatPower(ac_power_kw),
    note: share_pct === null ? null : `${formatNumber(share_pct, 0)} % of AC`,
  }
}
