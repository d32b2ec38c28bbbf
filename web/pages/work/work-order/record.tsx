/** Details of a work order. */

import type { WholeWorkOrder } from '@heliograph/sdk'
import { Anchor, Group } from '@mantine/core'
import { Link } from 'wouter'
import { Facts } from '../../../ui/facts.tsx'
import { formatEnergy, formatMoney, formatQuantity } from '../../../ui/format.ts'
import { Time } from '../../../ui/time.tsx'

interface OrderRecordProps {
  site_id: string
  order: WholeWorkOrder
}

const known = (value: number | null, text: (value: number) => string) =>
  value === null ? null : text(value)

export function OrderRecord({ site_id, order }: OrderRecordProps) {
  const time = (at: string | null) => (at === null ? null : <Time at={at} />)
  const by = (at: string | null, who: string | null, note: string | null = null) =>
    at === null ? null : (
      <>
        {time(at)}
        {who && ` by ${who}`}
        {note && `: ${note}`}
      </>
    )
  const links = (page: string, ids: readonly number[], name: string) =>
    ids.length === 0 ? null : (
      <Group gap="xs">
        {ids.map((id) => (
          <Anchor key={id} component={Link} href={`/sites/${site_id}/${page}${id}`}>
            {name} {id}
          </Anchor>
        ))}
      </Group>
    )
  return (
    <Facts
      left_out
      rows={[
        ['Assigned to', order.assigned_to_name ?? order.assigned_to],
        ['Team or contractor', [order.team, order.contractor].filter(Boolean).join(', ') || null],
        ['Planned from', time(order.scheduled_start_at)],
        ['Planned until', time(order.scheduled_end_at)],
        ['Start due', time(order.response_due_at)],
        ['Completion due', time(order.resolution_due_at)],
        ['Contract due date', time(order.due_at)],
        ['Created', by(order.created_at, order.created_by)],
        ['Acknowledged', time(order.acknowledged_at)],
        ['Started', time(order.started_at)],
        ['Completed', by(order.completed_at, order.completed_by)],
        ['Approved', by(order.approved_at, order.approved_by, order.approval_note)],
        ['Cancelled', by(order.cancelled_at, null, order.cancel_reason)],
        ['Alerts', links('alerts?alert_id=', order.alert_ids, 'Alert')],
        ['Defects', links('defects/', order.defect_ids, 'Defect')],
        ['Root cause', order.root_cause],
        ['Resolution', order.resolution],
        ['Hours worked', known(order.labour_h, (h) => formatQuantity(h, 'h'))],
        ['Travel', known(order.travel_km, (km) => formatQuantity(km, 'km'))],
        ['Cost', known(order.cost_amount, (amount) => formatMoney(amount, order.currency))],
        ['Downtime', known(order.downtime_min, (min) => formatQuantity(min, 'min', 0))],
        ['Energy lost', known(order.lost_energy_kwh, formatEnergy)],
        ['Permit to work', order.safety_permit_no],
      ]}
    />
  )
}
