import { Badge, Button, Group, Table, Text } from '@mantine/core'
import { useUser } from '../../../queries.ts'
import { here } from '../../../ui/here.ts'
import { RowTable } from '../../../ui/row-table.tsx'
import { SiteNames } from '../../../ui/site-choice.tsx'
import { Time } from '../../../ui/time.tsx'
import type { Person } from './people.ts'

interface PeopleTableProps {
  people: readonly Person[]
  onChange(person: Person): void
  onRemove(person: Person): void
}

const head = ['Name', 'Role', 'Sites', 'Second factor', 'Last signed in', '']

export function PeopleTable({ people, onChange, onRemove }: PeopleTableProps) {
  const { user_id } = useUser()
  return (
    <RowTable label="People" min_width={820} head={head}>
      {people
        .toSorted((a, b) => a.name.localeCompare(b.name))
        .map((person) => (
          <Table.Tr key={person.user_id}>
            <Table.Td>
              <Text fw={500}>
                {person.name}
                {person.user_id === user_id && ' (you)'}
              </Text>
              <Text size="sm" c="dimmed">
                {person.email}
              </Text>
            </Table.Td>
            <Table.Td>
              {person.role}
              {person.is_disabled && (
                <>
                  {' '}
                  <Badge miw="max-content" color="orange">
                    disabled
                  </Badge>
                </>
              )}
            </Table.Td>
            <Table.Td>
              <SiteNames site_ids={person.site_ids} />
            </Table.Td>
            <Table.Td>{person.two_factor_enabled ? 'on' : 'off'}</Table.Td>
            <Table.Td>
              <Time at={person.signed_in_at} timezone={here} />
            </Table.Td>
            <Table.Td>
              <Group gap="xs" wrap="nowrap" justify="flex-end">
                <Button
                  size="xs"
                  variant="default"
                  onClick={() => onChange(person)}
                  aria-label={`Change ${person.name}`}
                >
                  Change
                </Button>
                <Button
                  size="xs"
                  variant="default"
                  onClick={() => onRemove(person)}
                  aria-label={`Remove ${person.name}`}
                >
                  Remove
                </Button>
              </Group>
            </Table.Td>
          </Table.Tr>
        ))}
    </RowTable>
  )
}
