import { Alert, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { askPlatform, type Role } from '../../../api.ts'
import { CopyText } from '../../../ui/copy-text.tsx'
import { DialogButtons, Modal } from '../../../ui/modal.tsx'
import { leadTo, Problem, withFields } from '../../../ui/problem.tsx'
import { checkSites, SiteChoice } from '../../../ui/site-choice.tsx'
import { LocalTime } from '../../../ui/time.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import { invitations_changed, type NewInvitation, roles } from './people.ts'

interface Order {
  email: string
  role: Role
  site_ids: string[] | null
}

const initialValues: Order = { email: '', role: 'viewer', site_ids: null }

export function Invite({ onClose }: { onClose(): void }) {
  const [made, setMade] = useState<NewInvitation | null>(null)
  if (made) return <TheLink made={made} onClose={onClose} />
  return <InviteForm onMade={setMade} onClose={onClose} />
}

interface InviteFormProps {
  onMade(made: NewInvitation): void
  onClose(): void
}

function InviteForm({ onMade, onClose }: InviteFormProps) {
  const form = useForm<Order>({
    initialValues,
    validate: {
      email: (email) => (/^\S+@\S+$/.test(email.trim()) ? null : 'Enter an e-mail address.'),
      site_ids: checkSites,
    },
  })
  const invite = useWrite({
    write: (order: Order) =>
      withFields(form, () =>
        askPlatform<NewInvitation>('POST', '/invitations', { ...order, email: order.email.trim() }),
      ),
    changes: invitations_changed,
    onDone: onMade,
  })
  return (
    <Modal opened onClose={onClose} title="Invite person" closeOnClickOutside={false}>
      <form onSubmit={form.onSubmit(invite.run, leadTo(form))} noValidate>
        <Stack>
          <TextInput
            label="E-mail"
            type="email"
            autoComplete="off"
            data-autofocus
            {...form.getInputProps('email')}
          />
          <Select
            label="Role"
            data={roles as { value: string; label: string }[]}
            allowDeselect={false}
            {...form.getInputProps('role')}
          />
          <SiteChoice
            value={form.values.site_ids}
            onChange={(chosen) => form.setFieldValue('site_ids', chosen)}
            error={form.errors['site_ids'] as string | undefined}
          />
          <Problem error={invite.error} />
          <DialogButtons onClose={onClose}>
            <Button type="submit" loading={invite.is_pending}>
              Invite
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Modal>
  )
}

function TheLink({ made, onClose }: { made: NewInvitation; onClose(): void }) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Link for ${made.email}`}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Alert color="orange" variant="outline">
          The link is shown only once. Anybody who has it can create the account: hand it over in
          private.
        </Alert>
        <CopyText label="Link" text={`${location.origin}${made.link_path}`} />
        <Text size="sm">
          {made.is_mailed ? 'The link was also mailed.' : 'This server sends no mail.'} The link
          works once, until <LocalTime at={made.expires_at} />.
        </Text>
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
