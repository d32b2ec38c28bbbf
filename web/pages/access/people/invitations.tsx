import { Badge, Button, Table, Text } from '@mantine/core'
import { askPlatform } from '../../../api.ts'
import { here } from '../../../ui/here.ts'
import { Problem } from '../../../ui/problem.tsx'
import { RowTable } from '../../../ui/row-table.tsx'
import { SiteNames } from '../../../ui/site-choice.tsx'
import { Answered } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import { type Invitation, invitations_changed, useInvitations } from './people.ts'

const head = ['For', 'Role', 'Sites', 'State', 'Good until', '']
const tones = { open: 'blue', accepted: 'teal', expired: 'gray', revoked: 'gray' } as const

const shown_max = 30

/** Those that still open a door first, then the newest. */
const ordered = (all: readonly Invitation[]) =>
  all
    .toSorted(
      (a, b) =>
        Number(b.state === 'open') - Number(a.state === 'open') ||
        Date.parse(b.created_at) - Date.parse(a.created_at),
    )
    .slice(0, shown_max)

export function Invitations() {
  const invitations = useInvitations()
  const revoke = useWrite({
    write: (id: string) => askPlatform('DELETE', `/invitations/${id}`),
    done: 'The link does not work any more.',
    changes: invitations_changed,
  })
  return (
    <Answered query={invitations}>
      {({ data }) => {
        if (data.length === 0) return <Text c="dimmed">Nobody was invited so far.</Text>
        return (
          <>
            <Problem error={revoke.error} />
            <RowTable label="Invitations" min_width={760} head={head}>
              {ordered(data).map((one) => (
                <Table.Tr key={one.invitation_id}>
                  <Table.Td>
                    <Text>{one.email ?? 'whoever has the link'}</Text>
                    <Text size="xs" c="dimmed">
                      by {one.created_by}, <Time at={one.created_at} timezone={here} style="date" />
                    </Text>
                  </Table.Td>
                  <Table.Td>{one.role}</Table.Td>
                  <Table.Td>
                    <SiteNames site_ids={one.site_ids} />
                  </Table.Td>
                  <Table.Td>
                    <Badge miw="max-content" color={tones[one.state]}>
                      {one.state}
                    </Badge>
                  </Table.Td>
                  <Table.Td>
                    {one.state === 'open' ? <Time at={one.expires_at} timezone={here} /> : '–'}
                  </Table.Td>
                  <Table.Td ta="right">
                    {one.state === 'open' && (
                      <Button
                        size="xs"
                        variant="default"
                        onClick={() => revoke.run(one.invitation_id)}
                        aria-label={`Take back the invitation of ${one.email ?? one.role}`}
                      >
                        Take back
                      </Button>
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </RowTable>
            {data.length > shown_max && (
              <Text size="sm" c="dimmed">
                and {data.length - shown_max} older ones
              </Text>
            )}
          </>
        )
      }}
    </Answered>
  )
}
