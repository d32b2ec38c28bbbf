import type { Alert } from '@heliograph/sdk'
import { Button, Group, Paper, Text } from '@mantine/core'
import { WriteButton } from '../../ui/write-button.tsx'
import type { Step } from './note-dialog.tsx'

interface SelectionBarProps {
  site_id: string
  chosen: readonly Alert[]
  onStep: (kind: Step['kind']) => void
  onClear: () => void
}

/** Fixed at the lower edge, within reach of a thumb. */
export function SelectionBar({ site_id, chosen, onStep, onClear }: SelectionBarProps) {
  const ids = chosen.map(({ alert_id }) => alert_id).join(',')
  const to_take = chosen.some(({ status }) => status === 'active')
  return (
    <Paper
      withBorder
      shadow="md"
      p="xs"
      role="region"
      aria-label="Selected alerts"
      style={{ position: 'sticky', bottom: 8, zIndex: 10 }}
    >
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {chosen.length} selected
        </Text>
        <WriteButton scope="alerts:write" disabled={!to_take} onClick={() => onStep('acknowledge')}>
          Acknowledge
        </WriteButton>
        <WriteButton scope="alerts:write" variant="default" onClick={() => onStep('resolve')}>
          Resolve
        </WriteButton>
        <WriteButton
          scope="om:write"
          variant="default"
          href={`/sites/${site_id}/work-orders/new?alert_ids=${ids}`}
        >
          Create work order
        </WriteButton>
        <Button variant="subtle" onClick={onClear}>
          Clear
        </Button>
      </Group>
    </Paper>
  )
}
