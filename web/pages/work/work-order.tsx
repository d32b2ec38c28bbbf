/** A work order, with its next steps first. */

import type { WholeWorkOrder } from '@heliograph/sdk'
import { Alert, Badge, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMay } from '../../queries.ts'
import { DeviceLinks } from '../../ui/devices.tsx'
import { useHasDraft } from '../../ui/draft.ts'
import { edit_draft } from '../../ui/edit-form.tsx'
import { Page } from '../../ui/page.tsx'
import { SeverityBadge, StateBadge } from '../../ui/severity.tsx'
import { Answered } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { inWords } from '../../ui/words.ts'
import { WriteButton } from '../../ui/write-button.tsx'
import NotFound from '../not-found.tsx'
import type { SitePageProps } from '../pages.ts'
import { Attachments } from './work-order/attachments.tsx'
import { Checklist } from './work-order/checklist.tsx'
import { EditOrder } from './work-order/edit.tsx'
import { OrderRecord } from './work-order/record.tsx'
import { endOf, isOver, isWorking } from './work-order/states.ts'
import { Steps } from './work-order/steps.tsx'
import { useOrder } from './work-order/use-order.ts'

export default function WorkOrderPage({ site_id, wo_id }: SitePageProps) {
  if (!/^\d+$/.test(wo_id ?? '')) return <NotFound />
  return <Order site_id={site_id} wo_id={Number(wo_id)} />
}

function Order({ site_id, wo_id }: { site_id: string; wo_id: number }) {
  const order = useOrder(site_id, wo_id)
  const title = order.data ? `${order.data.number} ${order.data.title}` : 'Work order'
  return (
    <Page title={title}>
      <Answered query={order}>{(order) => <Whole {...{ site_id, order }} />}</Answered>
    </Page>
  )
}

function Whole({ site_id, order }: { site_id: string; order: WholeWorkOrder }) {
  const [is_editing, editing] = useDisclosure(useHasDraft(edit_draft))
  const may = useMay()
  const can_edit = may('om:write') && !isOver(order.status)
  return (
    <Stack>
      <Group gap="xs">
        <StateBadge state={order.status} />
        <SeverityBadge severity={order.priority} />
        <Badge color="gray">{inWords(order.type)}</Badge>
        {order.sla_breached && <Badge color="red">Overdue</Badge>}
        {order.loto_required && <Badge color="red">Lockout/tagout required</Badge>}
      </Group>
      <DeviceLinks site_id={site_id} named={order} />
      <Until order={order} />
      {order.description && <Text style={{ whiteSpace: 'pre-wrap' }}>{order.description}</Text>}
      <Steps {...{ site_id, order }} />
      {order.checklist_total > 0 && <Checklist {...{ site_id, order }} />}
      <Group justify="space-between">
        <Title order={2} size="h4">
          Details
        </Title>
        {can_edit && !is_editing && (
          <WriteButton scope="om:write" variant="default" onClick={editing.open}>
            Change
          </WriteButton>
        )}
      </Group>
      {is_editing && can_edit && <EditOrder {...{ site_id, order }} onClose={editing.close} />}
      <Paper withBorder p="sm">
        <OrderRecord {...{ site_id, order }} />
      </Paper>
      <Attachments {...{ site_id, order }} />
    </Stack>
  )
}

/** Due dates of open orders. */
function Until({ order }: { order: WholeWorkOrder }) {
  const { acknowledged_at, response_due_at } = order
  if (!isWorking(order.status)) return null
  const time = (at: string | null) => <Time at={at} />
  const text = (
    <>
      {acknowledged_at === null && <>Start due by {time(response_due_at)}, </>}
      {acknowledged_at === null ? 'completion' : 'Completion due'} by {time(endOf(order))}.
    </>
  )
  if (!order.sla_breached) return <Text>{text}</Text>
  return (
    <Alert color="red" variant="outline" title="Overdue">
      {text}
    </Alert>
  )
}
