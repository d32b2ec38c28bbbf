import { Badge, Button, Text } from '@mantine/core'
import { askPlatform } from '../../../api.ts'
import { type Column, DataTable } from '../../../ui/data-table.tsx'
import { Muted } from '../../../ui/muted.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { SiteNames } from '../../../ui/site-choice.tsx'
import { Answered } from '../../../ui/states.tsx'
import { LocalTime } from '../../../ui/time.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import { inWords } from '../../../ui/words.ts'
import { type Invitation, invitations_changed, useInvitations } from './people.ts'

const tones = { open: 'blue', accepted: 'teal', expired: 'gray', revoked: 'gray' } as const

const shown_max = 30

/** Open invitations first, then the newest. */
const ordered = (all: readonly Invitation[]) =>
  all
    .toSorted(
      (a, b) =>
        Number(b.state === 'open') - Number(a.state === 'open') ||
        Date.parse(b.created_at) - Date.parse(a.created_at),
    )
    .slice(0, shown_max)

const columns: readonly Column<Invitation>[] = [
  {
    name: 'For',
    cell: ({ email, created_by, created_at }) => (
      <>
        {email ?? 'Whoever has the link'}
        <Muted>
          by {created_by}, <LocalTime at={created_at} style="date" />
        </Muted>
      </>
    ),
  },
  { name: 'Role', cell: ({ role }) => inWords(role) },
  { name: 'Sites', wraps: true, cell: ({ site_ids }) => <SiteNames site_ids={site_ids} /> },
  { name: 'State', cell: ({ state }) => <Badge color={tones[state]}>{inWords(state)}</Badge> },
  {
    name: 'Expires',
    cell: ({ state, expires_at }) => (state === 'open' ? <LocalTime at={expires_at} /> : '–'),
  },
]

export function Invitations() {
  const invitations = useInvitations()
  const revoke = useWrite({
    write: (id: string) => askPlatform('DELETE', `/invitations/${id}`),
    done: 'Invitation revoked',
    changes: invitations_changed,
  })
  const actions: Column<Invitation> = {
    name: '',
    cell: ({ state, invitation_id, email, role }) =>
      state === 'open' && (
        <Button
          size="xs"
          variant="default"
          onClick={() => revoke.run(invitation_id)}
          aria-label={`Revoke the invitation of ${email ?? role}`}
        >
          Revoke
        </Button>
      ),
  }
  return (
    <Answered query={invitations}>
      {({ data }) => {
        if (data.length === 0) return <Text c="dimmed">No invitations</Text>
        return (
          <>
            <Problem error={revoke.error} />
            <DataTable
              label="Invitations"
              width={760}
              columns={[...columns, actions]}
              rows={ordered(data)}
              keyOf={({ invitation_id }) => invitation_id}
            />
            {data.length > shown_max && <Muted>{`and ${data.length - shown_max} older`}</Muted>}
          </>
        )
      }}
    </Answered>
  )
}
