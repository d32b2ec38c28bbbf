import type { WholeWorkOrder } from '@heliograph/sdk'
import { Alert, Anchor, List, Stack, Text } from '@mantine/core'
import { heliograph } from '../../../api.ts'
import { StateSteps, type Step } from '../../../ui/state-steps.tsx'
import type { Condition } from '../../../ui/write-seen.ts'
import { nextStates, type OrderState, stepName } from './states.ts'
import { orderSubject } from './use-order.ts'

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

export function Steps({ site_id, order }: { site_id: string; order: WholeWorkOrder }) {
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
      <StateSteps {...{ steps, write, subject: orderSubject(site_id, order) }} />
      {status === 'in_progress' && missing.length > 0 && <Missing missing={missing} />}
    </Stack>
  )
}

const missing_shown = 5

function Missing({ missing }: { missing: WholeWorkOrder['checklist'] }) {
  return (
    <Alert color="blue" variant="outline" title="Required items before completion">
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
  )
}
