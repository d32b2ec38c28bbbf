import type { WholeWorkOrder } from '@heliograph/sdk'
import { Alert, Anchor, Badge, Group, List, Paper, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { heliograph } from '../../api.ts'
import { useMay, useRead, useSite } from '../../queries.ts'
import { SeverityBadge, StateBadge } from '../../ui/badges.tsx'
import { DeviceLinks } from '../../ui/devices.tsx'
import { useFormDraft, useHasDraft } from '../../ui/draft.ts'
import { SubmitForm, WriteButton } from '../../ui/form.tsx'
import { formatEnergy, formatMoney, formatQuantity, inWords } from '../../ui/format.ts'
import { Facts, Heading, Page, Section, Time, timeBy } from '../../ui/page.tsx'
import { StateSteps, type Step } from '../../ui/state-steps.tsx'
import { Answered } from '../../ui/states.tsx'
import { type Condition, useSeenWrite } from '../../ui/use-write.ts'
import NotFound from '../not-found.tsx'
import type { SitePageProps } from '../pages.ts'
import { bodyOf, valuesOf } from './form-values.ts'
import { EditForm, edit_draft, isId, linksTo, seen_read } from './forms.tsx'
import { Checklist } from './work-order/checklist.tsx'
import { order_fields, rulesOf } from './work-order/fields.ts'
import { WhatAndWhere, WhatWasDone, WhoAndWhen } from './work-order/form-parts.tsx'
import {
  endOf,
  isOver,
  isWorking,
  nextStates,
  type OrderState,
  stepName,
} from './work-order/states.ts'
import { orderSubject } from './work-order/subject.ts'

export default function WorkOrderPage({ wo_id }: SitePageProps) {
  const enabled = isId(wo_id)
  const options = { ...seen_read, enabled }
  const order = useRead('work-order', 'workOrderGet', { wo_id: Number(wo_id) }, options)
  if (!enabled) return <NotFound />
  const title = order.data ? `${order.data.number} ${order.data.title}` : 'Work order'
  return (
    <Page title={title}>
      <Answered query={order}>{(order) => <Whole order={order} />}</Answered>
    </Page>
  )
}

interface OrderProps {
  order: WholeWorkOrder
}

function Whole({ order }: OrderProps) {
  const [is_editing, editing] = useDisclosure(useHasDraft(edit_draft))
  const can_edit = useMay()('om:write') && !isOver(order.status)
  return (
    <Stack>
      <Group gap="xs">
        <StateBadge state={order.status} />
        <SeverityBadge severity={order.priority} />
        <Badge color="gray">{inWords(order.type)}</Badge>
        {order.sla_breached && <Badge color="red">Overdue</Badge>}
        {order.loto_required && <Badge color="red">Lockout/tagout required</Badge>}
      </Group>
      <DeviceLinks named={order} />
      <Until order={order} />
      {order.description && <Text style={{ whiteSpace: 'pre-wrap' }}>{order.description}</Text>}
      <Steps order={order} />
      {order.checklist_total > 0 && <Checklist order={order} />}
      <Group justify="space-between">
        <Heading>Details</Heading>
        {can_edit && !is_editing && (
          <WriteButton scope="om:write" variant="default" onClick={editing.open}>
            Change
          </WriteButton>
        )}
      </Group>
      {is_editing && can_edit && <EditOrder order={order} onClose={editing.close} />}
      <Paper withBorder p="sm">
        <OrderFacts order={order} />
      </Paper>
      <Section title="Attachments">
        <Stack gap="sm">
          {order.attachments.length === 0 && <Text size="sm">No attachments</Text>}
          <List size="sm">
            {order.attachments.map(({ attachment_id, file_name, url }) => (
              <List.Item key={attachment_id}>
                <Anchor href={url} target="_blank" rel="noreferrer" size="sm">
                  {file_name}
                </Anchor>
              </List.Item>
            ))}
          </List>
          {can_edit && <AddAttachment order={order} />}
        </Stack>
      </Section>
    </Stack>
  )
}

function Until({ order }: OrderProps) {
  const { status, acknowledged_at, response_due_at, sla_breached } = order
  if (!isWorking(status)) return null
  const text = (
    <>
      {acknowledged_at === null && (
        <>
          Start due by <Time at={response_due_at} />,{' '}
        </>
      )}
      {acknowledged_at === null ? 'completion' : 'Completion due'} by <Time at={endOf(order)} />.
    </>
  )
  if (!sla_breached) return <Text>{text}</Text>
  return (
    <Alert color="red" title="Overdue">
      {text}
    </Alert>
  )
}

function EditOrder({ order, onClose }: OrderProps & { onClose: () => void }) {
  const { site_id, timezone } = useSite()
  const { wo_id } = order
  return (
    <EditForm
      whole={order}
      subjectOf={(seen) => orderSubject(site_id, seen)}
      initialValues={valuesOf(order_fields, order, timezone)}
      rules={rulesOf(timezone)}
      bodyOf={(values) => bodyOf(order_fields, values, timezone)}
      change={(changes, condition) =>
        heliograph.workOrderChange({ site_id, wo_id, ...changes, ...condition })
      }
      onClose={onClose}
    >
      {(form) => (
        <>
          <WhatAndWhere form={form} />
          <WhoAndWhen form={form} />
          <WhatWasDone form={form} />
        </>
      )}
    </EditForm>
  )
}

const asks: Partial<Record<OrderState, Step<OrderState>['ask']>> = {
  approved: {
    label: 'Note',
    text: 'An approved order and its checklist cannot be changed.',
  },
  cancelled: {
    label: 'Reason',
    text: 'The order is closed without the work, and cannot be changed.',
    color: 'red',
  },
}

const missing_shown = 5

function Steps({ order }: OrderProps) {
  const { site_id } = useSite()
  const { wo_id, status, checklist } = order
  const missing = checklist.filter((item) => item.required && item.status === 'pending')
  const write = (to: OrderState, note: string, condition: Condition) => {
    const named = { site_id, wo_id, ...condition }
    if (to === 'approved') return heliograph.workOrderApprove({ ...named, ...(note && { note }) })
    const cancel_reason = to === 'cancelled' && note ? { cancel_reason: note } : {}
    return heliograph.workOrderChange({ ...named, status: to, ...cancel_reason })
  }
  const steps = nextStates[status].map((to) => ({
    to,
    name: stepName(status, to),
    ask: asks[to],
    is_blocked: to === 'completed' && missing.length > 0,
  }))
  return (
    <Stack gap="xs">
      <StateSteps steps={steps} write={write} subject={orderSubject(site_id, order)} />
      {status === 'in_progress' && missing.length > 0 && (
        <Alert color="blue" title="Required items before completion">
          <List size="sm">
            {missing.slice(0, missing_shown).map(({ item_id, position, title }) => (
              <List.Item key={item_id}>
                <Anchor href={`#item-${item_id}`} size="sm">
                  {position}. {title}
                </Anchor>
              </List.Item>
            ))}
          </List>
          {missing.length > missing_shown && (
            <Text size="sm">and {missing.length - missing_shown} more</Text>
          )}
        </Alert>
      )}
    </Stack>
  )
}

function OrderFacts({ order }: OrderProps) {
  const quantity = (value: number | null, unit: string, digits?: number) =>
    value === null ? null : formatQuantity(value, unit, digits)
  const { cost_amount, lost_energy_kwh } = order
  return (
    <Facts
      left_out
      rows={[
        ['Assigned to', order.assigned_to_name ?? order.assigned_to],
        ['Team or contractor', [order.team, order.contractor].filter(Boolean).join(', ') || null],
        ['Planned from', timeBy(order.scheduled_start_at)],
        ['Planned until', timeBy(order.scheduled_end_at)],
        ['Start due', timeBy(order.response_due_at)],
        ['Completion due', timeBy(order.resolution_due_at)],
        ['Contract due date', timeBy(order.due_at)],
        ['Created', timeBy(order.created_at, order.created_by)],
        ['Acknowledged', timeBy(order.acknowledged_at)],
        ['Started', timeBy(order.started_at)],
        ['Completed', timeBy(order.completed_at, order.completed_by)],
        ['Approved', timeBy(order.approved_at, order.approved_by, order.approval_note)],
        ['Cancelled', timeBy(order.cancelled_at, null, order.cancel_reason)],
        ['Alerts', linksTo('/alerts?alert_id=', order.alert_ids, 'Alert')],
        ['Defects', linksTo('/defects/', order.defect_ids, 'Defect')],
        ['Root cause', order.root_cause],
        ['Resolution', order.resolution],
        ['Hours worked', quantity(order.labour_h, 'h')],
        ['Travel', quantity(order.travel_km, 'km')],
        ['Cost', cost_amount === null ? null : formatMoney(cost_amount, order.currency)],
        ['Downtime', quantity(order.downtime_min, 'min', 0)],
        ['Energy lost', lost_energy_kwh === null ? null : formatEnergy(lost_energy_kwh)],
        ['Permit to work', order.safety_permit_no],
      ]}
    />
  )
}

const types: Record<string, string> = {
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  heic: 'image/heic',
  pdf: 'application/pdf',
  csv: 'text/csv',
  txt: 'text/plain',
}

/** Guessed from the file name, because the file is not fetched. */
const typeOf = (name: string) =>
  types[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream'

/** Adds a link to a file on another server: a photo, a protocol, an invoice. */
function AddAttachment({ order }: OrderProps) {
  const { site_id } = useSite()
  const form = useForm({
    initialValues: { url: '', file_name: '' },
    validate: {
      url: (url) => (URL.canParse(url.trim()) ? null : 'Enter an address such as https://…'),
      file_name: (name) => (name.trim() ? null : 'Enter a file name such as fuse.jpg.'),
    },
  })
  const draft = useFormDraft('attachment', form)
  const write = useSeenWrite({
    ...orderSubject(site_id, order),
    done: 'Attachment added',
    onDone: draft.discard,
    write: ({ url, file_name: name }: typeof form.values, condition: Condition) => {
      const file_name = name.trim()
      const added = { url: url.trim(), file_name, content_type: typeOf(file_name) }
      // The request replaces the whole list.
      const kept = order.attachments.map(({ uploaded_at: _, ...one }) => one)
      const attachments = [...kept, added]
      const { wo_id } = order
      return heliograph.workOrderChange({ site_id, wo_id, attachments, ...condition })
    },
  })
  return (
    <SubmitForm
      form={form}
      draft={draft}
      write={write}
      scope="om:write"
      action="Add"
      variant="default"
      gap="xs"
    >
      <Group align="flex-start" gap="xs">
        <TextInput
          label="URL of the file"
          description="The file is linked, not uploaded."
          inputMode="url"
          style={{ flex: '2 1 240px' }}
          {...form.getInputProps('url')}
        />
        <TextInput
          label="Name"
          description="With extension, such as fuse.jpg"
          style={{ flex: '1 1 180px' }}
          {...form.getInputProps('file_name')}
        />
      </Group>
    </SubmitForm>
  )
}
