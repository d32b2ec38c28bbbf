import { Alert, Badge, Button, Select, Switch, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { askPlatform } from '../../api.ts'
import type {
  PlatformInvitation,
  PlatformInvitationList,
  PlatformNewInvitation,
  PlatformUser,
  PlatformUserList,
} from '../../generated/platform.ts'
import { usePlatform, useUser } from '../../queries.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { type Column, column, DataTable, RowActions, wrapped } from '../../ui/data-table.tsx'
import { checkSites, SiteChoice, SiteNames } from '../../ui/fields.tsx'
import { ConfirmByName, Dialog, leadTo, OnceModal, Problem, withFields } from '../../ui/form.tsx'
import { inWords, none } from '../../ui/format.ts'
import { Heading, LocalTime, Muted, noted, Page } from '../../ui/page.tsx'
import { Answered } from '../../ui/states.tsx'
import { useWrite } from '../../ui/use-write.ts'

type Open = { what: 'invite' } | { what: 'change' | 'remove'; person: PlatformUser }

export default function People() {
  const people = usePlatform<PlatformUserList>('people', '/users', 60_000)
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  return (
    <Page
      title="People"
      actions={<Button onClick={() => setOpen({ what: 'invite' })}>Invite person</Button>}
    >
      <Answered query={people}>
        {({ data }) => (
          <PeopleTable people={data} onOpen={(what, person) => setOpen({ what, person })} />
        )}
      </Answered>
      <Heading>Invitations</Heading>
      <Invitations />
      {open?.what === 'invite' && <Invite onClose={close} />}
      {open?.what === 'change' && <ChangePerson person={open.person} onClose={close} />}
      {open?.what === 'remove' && <RemovePerson person={open.person} onClose={close} />}
    </Page>
  )
}

interface PeopleTableProps {
  people: readonly PlatformUser[]
  onOpen(what: 'change' | 'remove', person: PlatformUser): void
}

function PeopleTable({ people, onOpen }: PeopleTableProps) {
  const { user_id: own_id } = useUser()
  const columns: Column<PlatformUser>[] = [
    column('Name', ({ name, email, user_id }) =>
      noted(
        <Text fw={500}>
          {name}
          {user_id === own_id && ' (you)'}
        </Text>,
        email,
      ),
    ),
    column('Role', ({ role, is_disabled }) => (
      <>
        {inWords(role)} {is_disabled && <Badge color="orange">Disabled</Badge>}
      </>
    )),
    wrapped('Sites', ({ site_ids }) => <SiteNames site_ids={site_ids} />),
    column('Second factor', ({ two_factor_enabled: on }) => (on ? 'On' : 'Off')),
    column('Last sign-in', ({ signed_in_at }) => <LocalTime at={signed_in_at} />),
    column('', (person) => (
      <RowActions
        names={['change', 'remove']}
        of={person.name}
        onAct={(what) => onOpen(what, person)}
      />
    )),
  ]
  const rows = people.toSorted((a, b) => a.name.localeCompare(b.name))
  return <DataTable label="People" width={820} columns={columns} rows={rows} by="user_id" />
}

const roles: { value: PlatformUser['role']; label: string }[] = [
  { value: 'viewer', label: 'Viewer: reads' },
  { value: 'operator', label: 'Operator: reads, commands and changes' },
  { value: 'administrator', label: 'Administrator: everything, including keys and people' },
]

/** Error when a change would leave no administrator. */
const refusals = {
  conflict_state: 'This is the last administrator. Make another person an administrator first.',
}

const people_changed = ['people', 'session']

interface PersonProps {
  person: PlatformUser
  onClose(): void
}

type Change = Pick<PlatformUser, 'name' | 'role' | 'site_ids' | 'is_disabled'>

function ChangePerson({ person, onClose }: PersonProps) {
  const { user_id, name, role, site_ids, is_disabled } = person
  const form = useForm<Change>({
    initialValues: { name, role, site_ids, is_disabled },
    validate: {
      name: (typed) => (typed.trim() === '' ? 'Enter a name.' : null),
      site_ids: checkSites,
    },
  })
  const change = useWrite({
    write: (body: Change) =>
      withFields(form, () =>
        askPlatform('PATCH', `/users/${user_id}`, { ...body, name: body.name.trim() }),
      ),
    done: 'Saved',
    changes: people_changed,
    onDone: onClose,
  })
  return (
    <Dialog
      title={`Change ${name}`}
      action="Save"
      write={change}
      words={refusals}
      onSubmit={form.onSubmit(change.run, leadTo(form))}
      onClose={onClose}
    >
      <TextInput label="Name" maxLength={100} {...form.getInputProps('name')} />
      <Select label="Role" data={roles} allowDeselect={false} {...form.getInputProps('role')} />
      <SiteChoice {...form.getInputProps('site_ids')} />
      <Switch
        label="Disabled"
        description="Ends all sessions, and blocks sign-in."
        {...form.getInputProps('is_disabled', { type: 'checkbox' })}
      />
    </Dialog>
  )
}

function RemovePerson({ person: { user_id, name, email }, onClose }: PersonProps) {
  const remove = useWrite({
    write: () => askPlatform('DELETE', `/users/${user_id}`),
    done: `${name} removed`,
    changes: people_changed,
    onDone: onClose,
  })
  return (
    <ConfirmByName
      title={`Remove ${name}`}
      name={name}
      action="Remove"
      write={remove}
      words={refusals}
      onAct={() => remove.run(undefined)}
      onClose={onClose}
    >
      <Text size="sm">
        {email} is signed out and the account is deleted. Past actions stay listed under the name.
        To block access temporarily, disable the account instead.
      </Text>
    </ConfirmByName>
  )
}

const tones = { open: 'blue', accepted: 'teal', expired: 'gray', revoked: 'gray' } as const

const shown_max = 30

/** Open invitations first, then the newest. */
const openFirst = (a: PlatformInvitation, b: PlatformInvitation) =>
  Number(b.state === 'open') - Number(a.state === 'open') ||
  Date.parse(b.created_at) - Date.parse(a.created_at)

function Invitations() {
  const invitations = usePlatform<PlatformInvitationList>('invitations', '/invitations', 60_000)
  const revoke = useWrite({
    write: (id: string) => askPlatform('DELETE', `/invitations/${id}`),
    done: 'Invitation revoked',
    changes: ['invitations'],
  })
  const columns: Column<PlatformInvitation>[] = [
    column('For', ({ email, created_by, created_at }) => (
      <>
        {email ?? 'Whoever has the link'}
        <Muted>
          by {created_by}, <LocalTime at={created_at} style="date" />
        </Muted>
      </>
    )),
    column('Role', ({ role }) => inWords(role)),
    wrapped('Sites', ({ site_ids }) => <SiteNames site_ids={site_ids} />),
    column('State', ({ state }) => <Badge color={tones[state]}>{inWords(state)}</Badge>),
    column('Expires', ({ state, expires_at }) =>
      state === 'open' ? <LocalTime at={expires_at} /> : none,
    ),
    column(
      '',
      ({ state, invitation_id, email, role }) =>
        state === 'open' && (
          <RowActions
            names={['revoke']}
            of={`the invitation of ${email ?? role}`}
            onAct={() => revoke.run(invitation_id)}
          />
        ),
    ),
  ]
  return (
    <Answered query={invitations}>
      {({ data }) => (
        <>
          <Problem error={revoke.error} />
          <DataTable
            label="Invitations"
            width={760}
            columns={columns}
            rows={data.toSorted(openFirst).slice(0, shown_max)}
            by="invitation_id"
            none={<Text c="dimmed">No invitations</Text>}
          />
          {data.length > shown_max && <Muted>{`and ${data.length - shown_max} older`}</Muted>}
        </>
      )}
    </Answered>
  )
}

type Order = Pick<PlatformUser, 'email' | 'role' | 'site_ids'>

function Invite({ onClose }: { onClose(): void }) {
  const [made, setMade] = useState<PlatformNewInvitation | null>(null)
  const form = useForm<Order>({
    initialValues: { email: '', role: 'viewer', site_ids: null },
    validate: {
      email: (email) => (/^\S+@\S+$/.test(email.trim()) ? null : 'Enter an e-mail address.'),
      site_ids: checkSites,
    },
  })
  const invite = useWrite({
    write: (order: Order) =>
      withFields(form, () =>
        askPlatform<PlatformNewInvitation>('POST', '/invitations', {
          ...order,
          email: order.email.trim(),
        }),
      ),
    changes: ['invitations'],
    onDone: setMade,
  })
  if (made) return <TheLink made={made} onClose={onClose} />
  return (
    <Dialog
      title="Invite person"
      action="Invite"
      write={invite}
      closeOnClickOutside={false}
      onSubmit={form.onSubmit(invite.run, leadTo(form))}
      onClose={onClose}
    >
      <TextInput
        label="E-mail"
        type="email"
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('email')}
      />
      <Select label="Role" data={roles} allowDeselect={false} {...form.getInputProps('role')} />
      <SiteChoice {...form.getInputProps('site_ids')} />
    </Dialog>
  )
}

const TheLink = ({ made, onClose }: { made: PlatformNewInvitation; onClose(): void }) => (
  <OnceModal onClose={onClose} title={`Link for ${made.email}`}>
    <Alert color="orange">
      The link is shown only once. Anybody who has it can create the account: hand it over in
      private.
    </Alert>
    <CopyText label="Link" text={`${location.origin}${made.link_path}`} />
    <Text size="sm">
      {made.is_mailed ? 'The link was also mailed.' : 'This server sends no mail.'} The link works
      once, until <LocalTime at={made.expires_at} />.
    </Text>
  </OnceModal>
)
