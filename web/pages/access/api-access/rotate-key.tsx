import { Button, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { askPlatform } from '../../../api.ts'
import { DialogButtons, Modal } from '../../../ui/modal.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import { type Key, keys_changed, type ShownKey } from './keys.ts'

const overlaps = [
  { value: '0', label: 'Expires now' },
  { value: '3600', label: 'One hour' },
  { value: '86400', label: 'One day' },
  { value: '604800', label: 'One week' },
  { value: '2592000', label: '30 days' },
]

interface RotateProps {
  of: Key
  onMade(key: ShownKey): void
  onClose(): void
}

export function RotateKey({ of, onMade, onClose }: RotateProps) {
  const [overlap_s, setOverlap] = useState('86400')
  const rotate = useWrite({
    write: () =>
      askPlatform<ShownKey>('POST', `/keys/${of.key_id}/rotate`, { overlap_s: Number(overlap_s) }),
    changes: keys_changed,
    onDone: onMade,
  })
  return (
    <Modal opened onClose={onClose} title={`Rotate “${of.name}”`}>
      <Stack>
        <Text size="sm">
          The key gets a new secret. Name, sites and permissions stay. Programs must switch to the
          new secret before the old one expires.
        </Text>
        <Select
          label="Validity of the old secret"
          data={overlaps}
          value={overlap_s}
          onChange={(chosen) => setOverlap(chosen ?? '86400')}
          allowDeselect={false}
        />
        <Problem error={rotate.error} />
        <DialogButtons onClose={onClose}>
          <Button loading={rotate.is_pending} onClick={() => rotate.run(undefined)}>
            Create secret
          </Button>
        </DialogButtons>
      </Stack>
    </Modal>
  )
}
