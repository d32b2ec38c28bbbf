/** Any quantities of any devices over days to years. The address holds all that is shown. */
import { Button, Group, MultiSelect, Skeleton, Stack } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useMemo } from 'react'
import { useOverview, useSite } from '../../queries.ts'
import { DayPicker, useDaySpan } from '../../ui/days.tsx'
import { FilterTabs } from '../../ui/filters.tsx'
import { loaded } from '../../ui/lazy-chart.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { type Quantity, quantityChoices } from '../../ui/quantities.ts'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { useNodes } from '../plant/station/switchings.tsx'
import { type Source, sourcesOf } from './explorer/sources.ts'

const ExplorerChart = loaded(
  () => import('./explorer/chart.tsx'),
  () => <Skeleton height={640} />,
)

const devices_max = 12
const quantities_max = 6
const day_choices = [1, 2, 3, 7, 31, 92, 366, 1098]
const first_quantities = ['ac_power_kw', 'expected_power_kw']

export default function Explorer() {
  const query = useOverview()
  return (
    <Page title="Explorer" actions={<CopyLink />}>
      <Answered query={query}>{() => <Chosen />}</Answered>
    </Page>
  )
}

function CopyLink() {
  const { copied, copy } = useClipboard({ timeout: 2000 })
  return (
    <Button variant="default" size="xs" onClick={() => copy(location.href)}>
      {copied ? 'Link copied' : 'Copy link'}
    </Button>
  )
}

function Chosen() {
  const { timezone } = useSite()
  const days = useDaySpan(timezone, Math.max(...day_choices))
  const filters = useFilters()
  const { sources, chosen } = useSources(filters.get('devices'))
  const offered = quantitiesOf(chosen)
  const names = filters.get('show')?.split(',') ?? first_quantities
  const quantities = offered.filter(({ name }) => names.includes(name))
  const has_power = quantities.some(({ unit }) => unit === 'kW')
  // Other days end a zoom.
  const period = {
    ...days,
    set: (changes: Parameters<typeof days.set>[0]) => {
      filters.set({ zoom: null })
      days.set(changes)
    },
  }
  return (
    <Stack gap="sm">
      <Group align="end" gap="sm">
        <DayPicker chosen={period} choices={day_choices} />
        {has_power && (
          <FilterTabs
            name="by"
            label="Scale of power"
            initial="unit"
            choices={{ unit: 'In kW', rated: 'Per installed kWp' }}
          />
        )}
      </Group>
      <MultiSelect
        label="Devices"
        description={`Up to ${devices_max}; choose an inverter to see its strings`}
        data={grouped(sources)}
        value={chosen.map(({ id }) => id)}
        onChange={(ids) => filters.set({ devices: ids.join(',') || 'none' })}
        maxValues={devices_max}
        limit={200}
        searchable
      />
      <MultiSelect
        label="Quantities"
        description={`Up to ${quantities_max}`}
        data={quantityChoices(offered)}
        value={quantities.map(({ name }) => name)}
        onChange={(next) => filters.set({ show: next.join(',') || 'none' })}
        maxValues={quantities_max}
        searchable
      />
      <Section title="Over time">
        {chosen.length === 0 || quantities.length === 0 ? (
          <Empty title="Choose devices and quantities" />
        ) : (
          <ExplorerChart
            sources={chosen}
            quantities={quantities}
            days={days.span}
            by_rated={has_power && filters.get('by') === 'rated'}
          />
        )}
      </Section>
    </Stack>
  )
}

/** Defaults to the first four plants. */
function useSources(asked: string | null) {
  const { data: overview } = useOverview()
  const { data: nodes } = useNodes()
  const ids = asked?.split(',')
  const sources = useMemo(
    () => (overview ? sourcesOf(overview, nodes?.data ?? [], asked?.split(',') ?? []) : []),
    [overview, nodes, asked],
  )
  const chosen = ids
    ? ids.flatMap((id) => sources.find((source) => source.id === id) ?? [])
    : sources.filter(({ group }) => group === 'Plants').slice(0, 4)
  return { sources, chosen }
}

const grouped = (sources: readonly Source[]) =>
  [...Map.groupBy(sources, ({ group }) => group)].map(([group, own]) => ({
    group,
    items: own.map(({ id, name }) => ({ value: id, label: name })),
  }))

/** Quantities of the chosen devices, each once. */
function quantitiesOf(sources: readonly Source[]): Quantity[] {
  const all = new Map(
    sources.flatMap(({ quantities }) => quantities.map((one) => [one.name, one] as const)),
  )
  return [...all.values()]
}
