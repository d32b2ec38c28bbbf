import { Text } from '@mantine/core'
import { askPlatform } from '../../../api.ts'
import { ConfirmByName } from '../../../ui/confirm-by-name.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import { type Person, people_changed, refusals } from './people.ts'

export function RemovePerson({ person, onClose }: { person: Person; onClose(): void }) {
  const remove = useWrite({
    write: () => askPlatform('DELETE', `/users/${person.user_id}`),
    done: `${person.name} removed`,
    changes: people_changed,
    onDone: onClose,
  })
  return (
    <ConfirmByName
      title={`Remove ${person.name}`}
      name={person.name}
      action="Remove"
      is_pending={remove.is_pending}
      error={remove.error}
      words={refusals}
      onConfirm={() => remove.run(undefined)}
      onClose={onClose}
    >
      <Text size="sm">
        {person.email} is signed out and the account is deleted. Past actions stay listed under the
        name. To block access temporarily, disable the account instead.
      </Text>
    </ConfirmByName>
  )
}
