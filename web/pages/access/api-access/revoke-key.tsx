import { Text } from '@mantine/core'
import { askPlatform } from '../../../api.ts'
import { ConfirmByName } from '../../../ui/confirm-by-name.tsx'
import { formatAge } from '../../../ui/format.ts'
import { useWrite } from '../../../ui/use-write.ts'
import { type Key, keys_changed } from './keys.ts'

export function RevokeKey({ of, onClose }: { of: Key; onClose(): void }) {
  const revoke = useWrite({
    write: () => askPlatform('DELETE', `/keys/${of.key_id}`),
    done: `Key “${of.name}” revoked`,
    changes: keys_changed,
    onDone: onClose,
  })
  const used_s = of.last_used_at ? (Date.now() - Date.parse(of.last_used_at)) / 1000 : null
  return (
    <ConfirmByName
      title={`Revoke “${of.name}”`}
      name={of.name}
      action="Revoke key"
      is_pending={revoke.is_pending}
      error={revoke.error}
      onConfirm={() => revoke.run(undefined)}
      onClose={onClose}
    >
      <Text size="sm">
        Programs that use this key lose access.{' '}
        {used_s === null ? 'It was never used' : `It was last used ${formatAge(used_s)}`}. This
        cannot be undone.
      </Text>
    </ConfirmByName>
  )
}
