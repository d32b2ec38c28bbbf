import { Group, MultiSelect, NativeSelect, SegmentedControl, Stack } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { useSite } from '../../shell/site-shell.tsx'
import { DayPicker } from '../../ui/day-picker.tsx'
import { useDevices } from '../../ui/devices.tsx'
import { Page } from '../../ui/page.tsx'
import { inverterQuantities, plantQuantities } from '../../ui/quantities.ts'
import { Section } from '../../ui/section.tsx'
import { Empty, Loading } from '../../ui/states.tsx'
import { useDaySpan } from '../../ui/use-day-span.ts'
import { useFilters } from '../../ui/use-filters.ts'
import type { SitePageProps } from '../pages.ts'

const CompareChart = lazy(() => import('./compare/chart.tsx'))

const devices_max = 12

/** Inverters or plants in one chart. The selection is in the address, so that it can be shared. */
export default function Compare({ site_id }: SitePageProps) {
  const { timezone } = useSite()
  const days = useDaySpan(timezone, 3)
  const filters = useFilters()
  const { kind, choices, quantities, quantity, chosen, by } = useChosen(site_id)
  return (
    <Page title="Compare">
      <Stack gap="sm">
        <Group align="end" gap="sm">
          <SegmentedControl
            aria-label="What is compared"
            data={[
              { value: 'inverter', label: 'Inverters' },
              { value: 'logger', label: 'Plants' },
            ]}
            value={kind}
            onChange={(of) => filters.set({ of, devices: null })}
          />
          <NativeSelect
            label="Quantity"
            value={quantity.name}
            data={quantities.map((one) => ({
              value: one.name,
              label: `${one.label} (${one.unit})`,
            }))}
            onChange={({ currentTarget }) => filters.set({ quantity: currentTarget.value })}
          />
          {quantity.unit === 'kW' && (
            <SegmentedControl
              aria-label="Scale"
              data={[
                { value: 'unit', label: 'In kW' },
                { value: 'rated', label: 'Per installed kWp' },
              ]}
              value={by}
              onChange={(value) => filters.set({ by: value })}
            />
          )}
          <DayPicker chosen={days} choices={[1, 2, 3]} />
        </Group>
        <MultiSelect
          label={kind === 'logger' ? 'Plants' : 'Inverters'}
          description={`Up to ${devices_max}`}
          data={choices}
          value={chosen}
          onChange={(ids) => filters.set({ devices: ids.join(',') || 'none' })}
          maxValues={devices_max}
          searchable
        />
        <Section title={`${quantity.label}, comparison`}>
          {chosen.length === 0 ? (
            <Empty title="Choose devices to compare" />
          ) : (
            <Suspense fallback={<Loading />}>
              <CompareChart
                {...{ site_id, kind, quantity, timezone }}
                span={days.span}
                ids={chosen.map(Number)}
                by_rated={by === 'rated' && quantity.unit === 'kW'}
              />
            </Suspense>
          )}
        </Section>
      </Stack>
    </Page>
  )
}

/** Selection from the address; defaults to the power of the first four devices. */
function useChosen(site_id: string) {
  const filters = useFilters()
  const devices = useDevices(site_id)
  const kind = filters.get('of') === 'logger' ? 'logger' : 'inverter'
  const choices = kind === 'logger' ? devices.plants : devices.inverters()
  const quantities = kind === 'logger' ? plantQuantities : inverterQuantities
  const name = filters.get('quantity') ?? 'ac_power_kw'
  const quantity = quantities.find((one) => one.name === name) ?? quantities[0]!
  const asked = filters.get('devices')
  const first = choices.slice(0, 4).map(({ value }) => value)
  const chosen = (asked === null ? first : asked.split(',')).filter((id) =>
    choices.some(({ value }) => value === id),
  )
  const by = filters.get('by') === 'rated' ? 'rated' : 'unit'
  return { kind, choices, quantities, quantity, chosen, by } as const
}
