/** What needs attention, in one list: alerts, weak strings, open work, plan deviations, limits. */
import type { Overview } from '@heliograph/sdk'
import { Group, Skeleton, Stack, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { readOf, useMayRead, useRead } from '../../queries.ts'
import { SeverityBadge } from '../../ui/badges.tsx'
import { deviceText, useDevices } from '../../ui/devices.tsx'
import { formatMoney, formatPower } from '../../ui/format.ts'
import { isDisconnected } from '../../ui/known-now.ts'
import { Muted, Section, SiteLink, Time } from '../../ui/page.tsx'
import { dayAt } from '../../ui/site-clock.ts'
import {
  alertItem,
  deviationItem,
  healthItems,
  type Item,
  ranked,
  stringItems,
  workItems,
} from './attention.ts'
import { useEarned, useOpenOrders } from './reads.ts'
import type { Shown } from './shown-days.ts'

const shown_max = 8

export function AttentionList(props: Shown) {
  const { items, is_pending } = useItems(props)
  const more = items.length - shown_max
  return (
    <Section
      title="Needs attention"
      aside={
        <SiteLink to="/alerts" size="sm">
          All alerts
        </SiteLink>
      }
    >
      {is_pending && <Skeleton height={160} />}
      {!is_pending && items.length === 0 && <Nothing overview={props.overview} />}
      {!is_pending && items.length > 0 && (
        <Stack component="ol" gap={0} m={0} p={0} style={{ listStyle: 'none' }}>
          {items.slice(0, shown_max).map((item) => (
            <Row key={item.key} item={item} />
          ))}
        </Stack>
      )}
      {more > 0 && <Muted mt="xs">and {more} more of lower rank</Muted>}
    </Section>
  )
}

const Nothing = ({ overview: { loggers } }: Pick<Shown, 'overview'>) => (
  <Text>
    {loggers.some(isDisconnected)
      ? 'No active alerts. Offline plants are not monitored.'
      : 'Nothing needs attention.'}
  </Text>
)

const Row = ({ item: { severity, title, to, since, note, lost_amount, currency } }: RowProps) => (
  <Group component="li" gap="sm" py={6} wrap="nowrap" justify="space-between" align="flex-start">
    <div>
      <Group gap="xs">
        <SeverityBadge severity={severity} />
        <SiteLink to={to} size="sm" underline="always">
          {title}
        </SiteLink>
      </Group>
      {(since || note) && (
        <Muted>
          {since && (
            <>
              since <Time at={since} />
            </>
          )}
          {since && note && ', '}
          {note}
        </Muted>
      )}
    </div>
    {lost_amount !== null && (
      <Text size="sm" fw={600} className="figure" style={{ whiteSpace: 'nowrap' }}>
        {formatMoney(lost_amount, currency)} lost
      </Text>
    )}
  </Group>
)

interface RowProps {
  item: Item
}

const slow = { staleTime: 300_000, refetchInterval: 300_000 }

function useItems({ overview, days }: Shown): { items: Item[]; is_pending: boolean } {
  const mayRead = useMayRead()
  const devices = useDevices()
  const { site_id } = overview.site
  const alerts = useRead(
    'alerts',
    'alertsList',
    {},
    { refetchInterval: 30_000, enabled: mayRead('alerts:read') },
  )
  const strings = useRead(
    'health-matrix',
    'efficiencyHealthList',
    {},
    { ...slow, enabled: mayRead('diagnostics:read') },
  )
  const orders = useOpenOrders(site_id, mayRead('om:read'))
  const units = overview.bess ?? []
  const target_date = dayAt(Date.parse(overview.generated_at), 'UTC')
  const deviations = useQueries({
    queries: units.map(({ bess_id }) =>
      readOf('bess', 'bessDeviationsList', { site_id, bess_id, target_date }, slow),
    ),
  })
  const earned = useEarned(overview, days).data
  const price = earned?.average_price_per_mwh &&
    earned.currency && { per_mwh: earned.average_price_per_mwh, currency: earned.currency }
  const open = alerts.data?.data ?? []
  const reads = [alerts, strings, orders, ...deviations]
  return {
    is_pending: reads.some(({ isLoading }) => isLoading),
    items: ranked([
      ...open.map((alert) => alertItem(alert, deviceText(devices, alert))),
      ...healthItems(overview, open),
      ...stringItems(strings.data?.data ?? [], price || null),
      ...units.flatMap(({ bess_id, name }, nth) =>
        deviationItem({ bess_id, name }, deviations[nth]?.data?.data ?? []),
      ),
      ...workItems(orders.data ?? [], Date.parse(overview.generated_at)),
      ...limitItems(overview),
    ]),
  }
}

function limitItems({ curtailment }: Overview): Item[] {
  if (!curtailment || curtailment.active_count === 0) return []
  const { curtailed_now_kw: curtailed_kw, limit_kw } = curtailment
  return [
    {
      key: 'curtailment',
      severity: 'info',
      title: `Curtailment in force: limit ${formatPower(limit_kw)}`,
      to: '/curtailment',
      note:
        curtailed_kw === null
          ? 'present curtailment unknown'
          : `${formatPower(curtailed_kw)} curtailed now`,
      lost_amount: null,
      currency: null,
    },
  ]
}
