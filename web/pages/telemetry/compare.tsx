import { Group, MultiSelect, NativeSelect, Stack } from '@mantine/core'
import { useSite } from '../../queries.ts'
import { DayPicker, useDaySpan } from '../../ui/days.tsx'
import { useDevices } from '../../ui/devices.tsx'
import { Choice, FilterTabs } from '../../ui/filters.tsx'
import { loaded } from '../../ui/lazy-chart.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { inverterQuantities, plantQuantities } from '../../ui/quantities.ts'
import { Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'

const CompareChart = loaded(() => import('./compare/chart.tsx'))

const devices_max = 12

/**
 * Inverters or plants in one chart. The selection is in the address, so that it can be shared; it
 * defaults to the power of the first four devices.
 */
export default function Compare() {
  const days = useDaySpan(useSite().timezone, 3)
  const filters = useFilters()
  const devices = useDevices()
  const kind = filters.get('of') === 'logger' ? 'logger' : 'inverter'
  const choices = kind === 'logger' ? devices.plants : devices.inverters()
  const quantities = kind === 'logger' ? plantQuantities : inverterQuantities
  const name = filters.get('quantity') ?? 'ac_power_kw'
  const quantity = quantities.find((one) => one.name === name) ?? quantities[0]!
  const asked = filters.get('devices')?.split(',') ?? choices.slice(0, 4).map(({ value }) => value)
  const chosen = asked.filter((id) => choices.some(({ value }) => value === id))
  return (
    <Page title="Compare">
      <Stack gap="sm">
        <Group align="end" gap="sm">
          <Choice
            label="What is compared"
            choices={{ inverter: 'Inverters', logger: 'Plants' }}
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
            <FilterTabs
              name="by"
              label="Scale"
              initial="unit"
              choices={{ unit: 'In kW', rated: 'Per installed kWp' }}
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
            <CompareChart
              {...{ kind, quantity }}
              span={days.span}
              ids={chosen.map(Number)}
              by_rated={filters.get('by') === 'rated' && quantity.unit === 'kW'}
            />
          )}
        </Section>
      </Stack>
    </Page>
  )
}
