import type { ReportSubscription, ReportTemplate } from '@heliograph/sdk'
import { Badge, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { heliograph } from '../../api.ts'
import { useRead, useUser } from '../../queries.ts'
import { DialogButtons, Modal } from '../../ui/modal.tsx'
import { Problem } from '../../ui/problem.tsx'
import { StateBadge } from '../../ui/severity.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { useWrite } from '../../ui/use-write.ts'
import { WriteButton } from '../../ui/write-button.tsx'
import { whenText } from './schedule.ts'

interface SubscriptionListProps {
  site_id: string
  templates: readonly ReportTemplate[]
  onEdit: (subscription: ReportSubscription) => void
}

export function SubscriptionList({ site_id, templates, onEdit }: SubscriptionListProps) {
  const { set } = useFilters()
  const [to_delete, setToDelete] = useState<ReportSubscription | null>(null)
  const subscriptions = useRead('reports', 'reportSubscriptionsList', { site_id }, 30_000)
  const nameOf = (id: string) => templates.find((one) => one.template_id === id)?.name ?? id
  return (
    <Answered query={subscriptions}>
      {({ data }) => (
        <Stack>
          {data.length === 0 && (
            <Empty title="No subscriptions yet">
              <Stack align="center">
                Subscribe to a report from the catalogue.
                <Button variant="default" onClick={() => set({ tab: 'catalogue' })}>
                  Open catalogue
                </Button>
              </Stack>
            </Empty>
          )}
          {data.map((one) => (
            <Subscription
              key={one.sub_id}
              {...{ site_id, one, name: nameOf(one.template_id) }}
              onEdit={() => onEdit(one)}
              onDelete={() => setToDelete(one)}
            />
          ))}
          <DeleteDialog {...{ site_id, one: to_delete }} onClose={() => setToDelete(null)} />
        </Stack>
      )}
    </Answered>
  )
}

const endings: Record<NonNullable<ReportSubscription['ended_reason']>, string> = {
  key_revoked: 'its key was revoked',
  key_expired: 'its key has expired',
  person_disabled: 'its account is disabled',
  person_removed: 'its account was removed',
  no_access: 'its key or account has no access to this site',
}

interface SubscriptionProps {
  site_id: string
  one: ReportSubscription
  name: string
  onEdit: () => void
  onDelete: () => void
}

function Subscription({ site_id, one, name, onEdit, onDelete }: SubscriptionProps) {
  const { sub_id, enabled } = one
  const running = useWrite({
    write: () => heliograph.reportSubscriptionRun({ site_id, sub_id }),
    done: 'Report is being created: see “Reports”',
    changes: [['reports', site_id]],
  })
  return (
    <Paper withBorder p="sm">
      <Stack gap="xs">
        <Group justify="space-between">
          <Title order={2} size="h5">
            {one.name}
          </Title>
          {one.ended_reason === null ? (
            <Badge color={enabled ? 'teal' : 'gray'}>{enabled ? 'Enabled' : 'Disabled'}</Badge>
          ) : (
            <Badge color="orange">Ended</Badge>
          )}
        </Group>
        <Summary {...{ one, name }} />
        {one.ended_reason && (
          <Text size="sm">
            {`Ended: ${endings[one.ended_reason]}. Change and enable the subscription to take it over.`}
          </Text>
        )}
        <Problem error={running.error} />
        <Group gap="xs">
          <WriteButton
            scope="reports:write"
            size="sm"
            loading={running.is_pending}
            aria-label={`Run now: ${one.name}`}
            onClick={() => running.run(undefined)}
          >
            Run now
          </WriteButton>
          <WriteButton
            scope="reports:write"
            size="sm"
            variant="default"
            aria-label={`Change: ${one.name}`}
            onClick={onEdit}
          >
            Change
          </WriteButton>
          <WriteButton
            scope="reports:write"
            size="sm"
            variant="default"
            aria-label={`Delete: ${one.name}`}
            onClick={onDelete}
          >
            Delete
          </WriteButton>
        </Group>
      </Stack>
    </Paper>
  )
}

/** Schedule, recipients and last outcome of a subscription. */
function Summary({ one, name }: Pick<SubscriptionProps, 'one' | 'name'>) {
  const { recipients } = one
  const { mail_is_sent } = useUser()
  return (
    <>
      <Text size="sm">
        {name}, {one.format.toUpperCase()}, {whenText(one)}
      </Text>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {mailedWords(recipients, mail_is_sent)}
      </Text>
      <Group gap="md">
        {one.next_run_at && (
          <Text size="sm" span>
            Next <Time at={one.next_run_at} />
          </Text>
        )}
        {one.last_run_at && (
          <Text size="sm" span>
            Last <Time at={one.last_run_at} />
          </Text>
        )}
        {one.last_run_status && <StateBadge state={one.last_run_status} />}
        {one.failure_count > 0 && (
          <Text size="sm" span fw={600}>
            {one.failure_count} failed in a row
          </Text>
        )}
      </Group>
    </>
  )
}

/** Delivery by mail. */
function mailedWords(recipients: readonly string[], mail_is_sent: boolean): string {
  if (recipients.length === 0) return 'Not mailed'
  const addresses = recipients.join(', ')
  return mail_is_sent
    ? `Mailed to ${addresses}`
    : `Not mailed to ${addresses}: this server sends no mail`
}

interface DeleteDialogProps {
  site_id: string
  one: ReportSubscription | null
  onClose: () => void
}

function DeleteDialog({ site_id, one, onClose }: DeleteDialogProps) {
  const { run, is_pending, error } = useWrite({
    write: (sub_id: number) => heliograph.reportSubscriptionDelete({ site_id, sub_id }),
    done: 'Subscription deleted',
    changes: [['reports', site_id]],
    onDone: onClose,
  })
  return (
    <Modal opened={one !== null} onClose={onClose} title={`Delete ${one?.name ?? ''}`}>
      <Stack>
        <Text size="sm">
          No more reports are created, and queued ones are cancelled. Existing files stay.
        </Text>
        <Problem error={error} />
        <DialogButtons onClose={onClose}>
          <WriteButton
            scope="reports:write"
            color="red"
            loading={is_pending}
            onClick={() => one && run(one.sub_id)}
          >
            Delete
          </WriteButton>
        </DialogButtons>
      </Stack>
    </Modal>
  )
}
