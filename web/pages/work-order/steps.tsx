/** What may be done with an order in its state, the usual next step first. */

import type { WholeWorkOrder } from '@heliograph/sdk'
import { Alert, Anchor, Button, Group, List, Modal, Stack, Text, Textarea } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { heliograph } from '../../api.ts'
import { dialog } from '../../ui/dialog.ts'
import { Differences } from '../../ui/differences.tsx'
import { Failure } from '../../ui/states.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
import { nextStates, type OrderState, stepName } from './states.ts'
import { useOrderWrite } from './use-order.ts'

interface Step {
  to: OrderState
  note?: string
}

function takeStep(site_id: string, wo_id: number, { to, note }: Step, condition: object) {
  const named = { site_id, wo_id, ...condition }
  if (to === 'approved') return heliograph.workOrderApprove({ ...named, ...(note && { note }) })
  const cancel_reason = to === 'cancelled' && note ? { cancel_reason: note } : {}
  return heliograph.workOrderChange({ ...named, status: to, ...cancel_reason })
}

export function Steps({ site_id, order }: { site_id: string; order: WholeWorkOrder }) {
  const [asked, setAsked] = useState<OrderState | null>(null)
  const { run, is_pending, error, differences, reset } = useOrderWrite<Step>({
    ...{ site_id, seen: order },
    write: (step, condition) => takeStep(site_id, order.wo_id, step, condition),
    done: 'The work order has changed',
    onDone: () => setAsked(null),
  })
  const missing = order.checklist.filter(({ required, status }) => required && status === 'pending')
  const choose = (to: OrderState) => {
    reset()
    if (to === 'cancelled' || to === 'approved') setAsked(to)
    else run({ to })
  }
  const problem = differences ? (
    <Differences differences={differences} />
  ) : (
    error && <Failure error={error} />
  )
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {nextStates[order.status].map((to, nth) => (
          <WriteButton
            key={to}
            scope="om:write"
            size="md"
            variant={nth === 0 ? 'filled' : 'default'}
            loading={is_pending}
            disabled={to === 'completed' && missing.length > 0}
            onClick={() => choose(to)}
          >
            {stepName(order.status, to)}
          </WriteButton>
        ))}
      </Group>
      {order.status === 'in_progress' && missing.length > 0 && <Missing missing={missing} />}
      {asked === null && problem}
      <StepDialog
        {...{ to: asked, is_pending, problem }}
        onClose={() => setAsked(null)}
        onTake={(note) => asked && run({ to: asked, note })}
      />
    </Stack>
  )
}

const missing_shown = 5

function Missing({ missing }: { missing: WholeWorkOrder['checklist'] }) {
  return (
    <Alert color="blue" variant="outline" title="To complete it, these are still to be done">
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

interface StepDialogProps {
  to: OrderState | null
  is_pending: boolean
  /** Why it was not done. */
  problem: ReactNode
  onClose: () => void
  onTake: (note: string) => void
}

/** What cannot be taken back is asked for twice. */
function StepDialog({ to, is_pending, problem, onClose, onTake }: StepDialogProps) {
  const [note, setNote] = useState('')
  const is_approval = to !== 'cancelled'
  return (
    <Modal
      opened={to !== null}
      onClose={onClose}
      title={is_approval ? 'Approve the work' : 'Cancel the work order'}
      {...dialog}
    >
      <Stack>
        <Text size="sm">
          {is_approval
            ? 'You have looked at what was done. Neither the order nor its checklist changes any more.'
            : 'The order is closed without the work. It does not change any more.'}
        </Text>
        <Textarea
          label={is_approval ? 'Note' : 'Reason'}
          autosize
          minRows={3}
          data-autofocus
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
        {problem}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Back
          </Button>
          <WriteButton
            scope="om:write"
            loading={is_pending}
            {...(!is_approval && { color: 'red' })}
            onClick={() => onTake(note.trim())}
          >
            {is_approval ? 'Approve' : 'Cancel the order'}
          </WriteButton>
        </Group>
      </Stack>
    </Modal>
  )
}
