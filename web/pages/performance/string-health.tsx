import type { StringHealth } from '@heliograph/sdk'
import { NativeSelect, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { heliograph } from '../../api.ts'
import { useMay, useSite } from '../../queries.ts'
import { StringHealthBadge } from '../../ui/badges.tsx'
import { type Column, column, DataTable, numeric, wrapped } from '../../ui/data-table.tsx'
import { FilterTabs } from '../../ui/filters.tsx'
import { formatEnergy } from '../../ui/format.ts'
import { healthNames } from '../../ui/health-names.ts'
import { loaded } from '../../ui/lazy-chart.tsx'
import { Page, Section, SiteLink, Time } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { Legend } from './string-health/legend.tsx'
import { statuses } from './string-health/looks.ts'
import { reasonOf } from './string-health/reason.ts'

const HeatMap = loaded(() => import('./string-health/heat-map.tsx'))

const day_ms = 86_400_000

export default function StringHealthPage() {
  const { site_id } = useSite()
  const days = useFilters().get('days') ?? '7'
  const query = useQuery({
    queryKey: ['health-matrix', site_id, days],
    staleTime: 300_000,
    refetchInterval: 300_000,
    queryFn: ({ signal }) => {
      const window = { start: new Date(Date.now() - Number(days) * day_ms), end: new Date() }
      return heliograph.efficiencyHealthList({ site_id, ...(days !== '7' && window) }, { signal })
    },
  })
  return (
    <Page
      title="String health"
      actions={
        <FilterTabs
          name="days"
          label="Period"
          initial="7"
          choices={{ '1': '1 day', '7': '7 days', '30': '30 days' }}
        />
      }
    >
      <Answered query={query}>
        {({ data, meta }) => {
          const first = data[0]
          if (!first) return <Empty title="No strings at this site" />
          return (
            <Stack>
              <Text>
                Power of each string compared with its peers, from <Time at={first.start_at} /> to{' '}
                <Time at={first.end_at} />.
              </Text>
              <Legend strings={data} thresholds={meta.thresholds} />
              <Section title="Map">
                <HeatMap strings={data} />
              </Section>
              <Section title="Table, most severe first">
                <HealthTable strings={data} />
              </Section>
            </Stack>
          )
        }}
      </Answered>
    </Page>
  )
}

const limit = 25

const ranks: readonly StringHealth['status'][] = [
  'dead',
  'critical',
  'underperforming',
  'watch',
  'healthy',
  'no_data',
]

const worstFirst = (a: StringHealth, b: StringHealth) =>
  ranks.indexOf(a.status) - ranks.indexOf(b.status) ||
  (a.health_score_pct ?? 101) - (b.health_score_pct ?? 101) ||
  (a.deviation_pct ?? 0) - (b.deviation_pct ?? 0)

const columns: readonly Column<StringHealth>[] = [
  column('String', ({ inverter_id, inverter_name, string_index }) => (
    <SiteLink to={`/inverters/${inverter_id}/strings/${string_index}`}>
      {inverter_name}, string {string_index}
    </SiteLink>
  )),
  column(
    'Status',
    ({ status }) => <StringHealthBadge status={status} />,
    ({ status }) => healthNames[status],
  ),
  numeric('Energy lost', ({ estimated_loss_kwh }) => estimated_loss_kwh, formatEnergy),
  wrapped('Reason', reasonOf),
]

const defect: Column<StringHealth> = column(
  'Defect',
  ({ inverter_id, inverter_name, string_index }) => (
    <SiteLink
      to={`/defects/new?inverter_id=${inverter_id}&string_index=${string_index}`}
      aria-label={`Report a defect of ${inverter_name}, string ${string_index}`}
    >
      Report
    </SiteLink>
  ),
)

function HealthTable({ strings }: { strings: readonly StringHealth[] }) {
  const may = useMay()
  const filters = useFilters()
  const status = filters.get('status')
  const found = useMemo(
    () => strings.filter((one) => !status || one.status === status).sort(worstFirst),
    [strings, status],
  )
  return (
    <Stack gap="sm">
      <NativeSelect
        label="Status"
        maw={240}
        value={status ?? ''}
        data={[
          { value: '', label: 'All' },
          ...statuses.map((value) => ({ value, label: healthNames[value] })),
        ]}
        onChange={({ currentTarget }) => filters.set({ status: currentTarget.value || null })}
      />
      <DataTable
        label="Strings, most severe first"
        width={960}
        columns={may('om:write') ? [...columns, defect] : columns}
        rows={found}
        by={({ inverter_id, string_index }) => `${inverter_id}/${string_index}`}
        page_size={limit}
        nouns={['string', 'strings']}
      />
    </Stack>
  )
}
