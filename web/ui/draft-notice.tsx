import { Alert, Button, Group } from '@mantine/core'
import type { Draft } from './draft.ts'
import { Time } from './time.tsx'

/** Tells that earlier input was restored. */
export function DraftNotice({ typed_at, discard }: Draft) {
  if (typed_at === null) return null
  return (
    <Alert variant="default" role="status" p="xs">
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <span>
          Draft of <Time at={typed_at} /> restored.
        </span>
        <Button variant="subtle" size="compact-sm" miw="max-content" onClick={discard}>
          Discard
        </Button>
      </Group>
    </Alert>
  )
}
