import type { Inverter } from '@heliograph/sdk'
import { Group, Select } from '@mantine/core'
import { useOverview } from '../../queries.ts'
import { PagesOf } from '../../ui/data-table.tsx'
import { InverterTable } from '../../ui/device-tables.tsx'
import { useDevices } from '../../ui/devices.tsx'
import { FilterTabs } from '../../ui/filters.tsx'
import { Page, SiteLink } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'

const limit = 50

const orders: Record<string, (a: Inverter, b: Inverter) => number> = {
  name: () => 0,
  yield: (a, b) => (a.specific_yield_today_kwh_kwp ?? -1) - (b.specific_yield_today_kwh_kwp ?? -1),
  alarms: (a, b) => trouble(b) - trouble(a),
}

const trouble = ({ comm_state, state, active_alarm_count }: Inverter) =>
  (comm_state === 'disconnected' ? 200 : 0) + (state === 'fault' ? 100 : 0) + active_alarm_count

export default function Inverters() {
  const overview = useOverview()
  const { plants, plantName } = useDevices()
  const filters = useFilters()
  const plant = filters.get('plant')
  const page = filters.number('page') ?? 1
  return (
    <Page title="Inverters" actions={<SiteLink to="/explorer">Explorer</SiteLink>}>
      <Group align="end">
        <Select
          label="Plant"
          placeholder="All plants"
          data={plants}
          value={plant}
          onChange={(value) => filters.set({ plant: value, page: null })}
          clearable
          clearButtonProps={{ 'aria-label': 'All plants' }}
        />
        <FilterTabs
          name="order"
          label="Order"
          initial="name"
          choices={{ name: 'By name', yield: 'Lowest yield first', alarms: 'Faults first' }}
        />
      </Group>
      <Answered query={overview}>
        {({ inverters }) => {
          const found = inverters
            .filter(({ logger_id }) => plant === null || String(logger_id) === plant)
            .sort(orders[filters.get('order') ?? 'name'] ?? orders['name'])
          if (found.length === 0) return <Empty title="No inverters" />
          return (
            <>
              <InverterTable
                inverters={found.slice((page - 1) * limit, page * limit)}
                plantName={plantName}
              />
              <PagesOf
                {...{ count: found.length, limit, page, nouns: ['inverter', 'inverters'] }}
                onPage={(to) => filters.set({ page: String(to) })}
              />
            </>
          )
        }}
      </Answered>
    </Page>
  )
}
