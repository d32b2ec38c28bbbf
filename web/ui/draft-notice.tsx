import { Alert, Button, Group } from '@mantine/core'
import type { Draft } from './draft.ts'
import { Time } from './time.tsx'

/** Nobody takes for new what he typed before. */
export function DraftNotice({ typed_at, discard }: Draft) {
  if (typed_at === null) return null
  return (
    <Alert variant="default" role="status" p="xs">
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <span>
          Your draft from <Time at={typed_at} /> is back.
        </span>
        <Button variant="subtle" size="compact-sm" miw="max-content" onClick={discard}>
          Discard it
        </Button>
      </Group>
    </Alert>
  )
}
