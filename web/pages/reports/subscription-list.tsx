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
            <Empty title="No report is made by itself yet">
              <Stack align="center">
                Choose what to get, and how often, from the catalogue.
                <Button variant="default" onClick={() => set({ tab: 'catalogue' })}>
                  To the catalogue
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
  key_revoked: 'the key that ordered it was revoked',
  key_expired: 'the key that ordered it has expired',
  person_disabled: 'the account that ordered it is disabled',
  person_removed: 'the account that ordered it was removed',
  no_access: 'the key or account that ordered it has no access to this site',
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
    done: 'It is being made: see “Reports”',
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
        <Told {...{ one, name }} />
        {one.ended_reason && (
          <Text size="sm">
            {`No longer run: ${endings[one.ended_reason]}. Change and enable it to take it over.`}
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

/** What is ordered, for whom, and how it went. */
function Told({ one, name }: Pick<SubscriptionProps, 'one' | 'name'>) {
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

/** What becomes of a file besides its download. */
function mailedWords(recipients: readonly string[], mail_is_sent: boolean): string {
  if (recipients.length === 0) return 'Not mailed'
  const addresses = recipients.join(', ')
  return mail_is_sent
    ? `Mailed to ${addresses}`
    : `Not mailed to ${addresses}: this server sends no mails`
}

interface DeleteDialogProps {
  site_id: string
  one: ReportSubscription | null
  onClose: () => void
}

function DeleteDialog({ site_id, one, onClose }: DeleteDialogProps) {
  const { run, is_pending, error } = useWrite({
    write: (sub_id: number) => heliograph.reportSubscriptionDelete({ site_id, sub_id }),
    done: 'The subscription is deleted',
    changes: [['reports', site_id]],
    onDone: onClose,
  })
  return (
    <Modal opened={one !== null} onClose={onClose} title={`Delete ${one?.name ?? ''}`}>
      <Stack>
        <Text size="sm">
          It is not made any more, and nothing that waits is begun. Files that were made stay.
        </Text>
        <Problem error={error} />
        <DialogButtons onClose={onClose}>
          <WriteButton
            scope="reports:write"
            color="red"
            loading={is_pending}
            onClick={() => one && run(one.sub_id)}
          >
            Delete it
          </WriteButton>
        </DialogButtons>
      </Stack>
    </Modal>
  )
}
