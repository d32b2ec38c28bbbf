import type { Inverter } from '@heliograph/sdk'
import { Anchor, Group, SegmentedControl, Select } from '@mantine/core'
import { Link } from 'wouter'
import { useOverview } from '../../queries.ts'
import { useDevices } from '../../ui/devices.tsx'
import { InverterTable } from '../../ui/inverter-table.tsx'
import { Page } from '../../ui/page.tsx'
import { PagesOf } from '../../ui/pages-of.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import type { SitePageProps } from '../pages.ts'

const limit = 50

const orders: Record<string, (a: Inverter, b: Inverter) => number> = {
  name: () => 0,
  yield: (a, b) => (a.specific_yield_today_kwh_kwp ?? -1) - (b.specific_yield_today_kwh_kwp ?? -1),
  alarms: (a, b) => trouble(b) - trouble(a),
}

const trouble = ({ comm_state, state, active_alarm_count }: Inverter) =>
  (comm_state === 'disconnected' ? 200 : 0) + (state === 'fault' ? 100 : 0) + active_alarm_count

export default function Inverters({ site_id }: SitePageProps) {
  const overview = useOverview(site_id)
  const { plants, plantName } = useDevices(site_id)
  const filters = useFilters()
  const plant = filters.get('plant')
  const order = filters.get('order') ?? 'name'
  const page = filters.number('page') ?? 1
  return (
    <Page
      title="Inverters"
      actions={
        <Anchor component={Link} href={`/sites/${site_id}/compare`}>
          Compare
        </Anchor>
      }
    >
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
        <SegmentedControl
          aria-label="Order"
          data={[
            { value: 'name', label: 'By name' },
            { value: 'yield', label: 'Lowest yield first' },
            { value: 'alarms', label: 'Faults first' },
          ]}
          value={order}
          onChange={(value) => filters.set({ order: value })}
        />
      </Group>
      <Answered query={overview}>
        {({ inverters }) => {
          const found = inverters
            .filter(({ logger_id }) => plant === null || String(logger_id) === plant)
            .sort(orders[order] ?? orders['name'])
          if (found.length === 0) return <Empty title="No inverters" />
          return (
            <>
              <InverterTable
                site_id={site_id}
                inverters={found.slice((page - 1) * limit, page * limit)}
                plantName={plantName}
              />
              <PagesOf
                {...{ count: found.length, limit, page }}
                noun="inverters"
                onPage={(to) => filters.set({ page: String(to) })}
              />
            </>
          )
        }}
      </Answered>
    </Page>
  )
}
