import { Badge, Button, Group, Text } from '@mantine/core'
import { useUser } from '../../../queries.ts'
import { type Column, DataTable } from '../../../ui/data-table.tsx'
import { Muted } from '../../../ui/muted.tsx'
import { SiteNames } from '../../../ui/site-choice.tsx'
import { LocalTime } from '../../../ui/time.tsx'
import { inWords } from '../../../ui/words.ts'
import type { Person } from './people.ts'

interface PeopleTableProps {
  people: readonly Person[]
  onChange(person: Person): void
  onRemove(person: Person): void
}

export function PeopleTable({ people, onChange, onRemove }: PeopleTableProps) {
  const { user_id: own_id } = useUser()
  const columns: Column<Person>[] = [
    {
      name: 'Name',
      cell: ({ name, email, user_id }) => (
        <>
          <Text fw={500}>
            {name}
            {user_id === own_id && ' (you)'}
          </Text>
          <Muted>{email}</Muted>
        </>
      ),
    },
    {
      name: 'Role',
      cell: ({ role, is_disabled }) => (
        <>
          {inWords(role)} {is_disabled && <Badge color="orange">Disabled</Badge>}
        </>
      ),
    },
    { name: 'Sites', wraps: true, cell: ({ site_ids }) => <SiteNames site_ids={site_ids} /> },
    { name: 'Second factor', cell: ({ two_factor_enabled: on }) => (on ? 'On' : 'Off') },
    { name: 'Last sign-in', cell: ({ signed_in_at }) => <LocalTime at={signed_in_at} /> },
    {
      name: '',
      cell: (person) => (
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
      ),
    },
  ]
  return (
    <DataTable
      label="People"
      width={820}
      columns={columns}
      rows={people.toSorted((a, b) => a.name.localeCompare(b.name))}
      keyOf={({ user_id }) => user_id}
    />
  )
}
