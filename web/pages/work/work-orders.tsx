import type { WorkOrder } from '@heliograph/sdk'
import { Badge, Button, Group, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'
import { heliograph } from '../../api.ts'
import { useRead, useSite, useUser } from '../../queries.ts'
import { SeverityBadge, StateBadge } from '../../ui/badges.tsx'
import { type Column, column, DataTable, NewestList, wide } from '../../ui/data-table.tsx'
import { deviceText, useDevices } from '../../ui/devices.tsx'
import { FilterSelect } from '../../ui/filters.tsx'
import { WriteButton } from '../../ui/form.tsx'
import { choices, inWords, none } from '../../ui/format.ts'
import { Page, Time } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { TitleCell } from './forms.tsx'
import { endOf, isWorking, orderStates } from './work-order/states.ts'

export default function WorkOrders() {
  const { site_id } = useSite()
  const { plants } = useDevices()
  const filters = useFilters()
  const locations = useRead('locations', 'locationsList', {}, { staleTime: 300_000 })
  const places = (locations.data?.data ?? []).map(({ location_id, name }) => ({
    value: String(location_id),
    label: name,
  }))
  const asked = {
    status: orderStates.find((state) => state === filters.get('status')),
    logger_id: filters.number('logger_id'),
    location_id: filters.number('location_id'),
    assigned_to: filters.get('assigned_to') ?? undefined,
  }
  return (
    <Page
      title="Work orders"
      actions={
        <WriteButton scope="om:write" to="/work-orders/new">
          New work order
        </WriteButton>
      }
    >
      <Group gap="xs">
        <FilterSelect name="status" label="Status" all="All states" data={choices(orderStates)} />
        <FilterSelect name="logger_id" label="Plant" all="All plants" data={plants} />
        <FilterSelect name="location_id" label="Location" all="All locations" data={places} />
        <AssignedTo />
      </Group>
      <NewestList<WorkOrder>
        key_parts={['work-orders', site_id]}
        asked={asked}
        read={(part, signal) =>
          heliograph.workOrdersList({ site_id, ...asked, ...part }, { signal })
        }
        nouns={['work order', 'work orders']}
        none={<Empty title="No work orders yet">Create a work order here, or from an alert.</Empty>}
      >
        {(orders) => <Orders orders={orders} />}
      </NewestList>
    </Page>
  )
}

function AssignedTo() {
  const { get, set } = useFilters()
  const { name } = useUser()
  const [text, setText] = useState(get('assigned_to') ?? '')
  const apply = useDebouncedCallback(
    (assigned_to: string) => set({ assigned_to: assigned_to.trim(), page: null }),
    400,
  )
  const ask = (assigned_to: string) => {
    setText(assigned_to)
    apply(assigned_to)
  }
  const is_mine = text === name
  return (
    <Group gap="xs">
      <TextInput
        aria-label="Assigned to"
        placeholder="Assigned to (exactly)"
        value={text}
        onChange={(event) => ask(event.currentTarget.value)}
      />
      <Button
        variant={is_mine ? 'filled' : 'default'}
        aria-pressed={is_mine}
        onClick={() => ask(is_mine ? '' : name)}
      >
        Mine
      </Button>
    </Group>
  )
}

function Orders({ orders: rows }: { orders: readonly WorkOrder[] }) {
  const devices = useDevices()
  const columns: Column<WorkOrder>[] = [
    column('Work order', (order) => (
      <TitleCell
        to={`/work-orders/${order.wo_id}`}
        title={order.title}
        about={[order.number, inWords(order.type), deviceText(devices, order) ?? 'whole site']}
      >
        <StateBadge state={order.status} />
        <SeverityBadge severity={order.priority} />
        {order.sla_breached && <Badge color="red">Overdue</Badge>}
        {isWorking(order.status) && (
          <Text size="sm" span>
            due <Time at={endOf(order)} />
          </Text>
        )}
      </TitleCell>
    )),
    wide('State', ({ status }) => <StateBadge state={status} />),
    wide('Priority', ({ priority }) => <SeverityBadge severity={priority} />),
    column(
      'Assignee',
      (order) =>
        order.assigned_to_name ?? order.assigned_to ?? order.team ?? order.contractor ?? none,
    ),
    column('Due', (order) => (
      <>
        <Time at={isWorking(order.status) ? endOf(order) : null} />
        {order.sla_breached && (
          <div>
            <Badge color="red">Overdue</Badge>
          </div>
        )}
      </>
    )),
    column(
      'Checklist',
      ({ checklist_total, checklist_done, checklist_failed }) =>
        (checklist_total === 0 ? none : `${checklist_done} of ${checklist_total}`) +
        (checklist_failed > 0 ? ` (${checklist_failed} failed)` : ''),
    ),
  ]
  return (
    <DataTable
      label="Work orders"
      width={760}
      columns={columns}
      rows={rows}
      by="wo_id"
      sorts={false}
    />
  )
}
