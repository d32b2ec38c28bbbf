import type { WholeWorkOrder } from '@heliograph/sdk'
import { Group, Progress, Stack, Switch, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { ChecklistCard } from './checklist-card.tsx'

export function Checklist({ site_id, order }: { site_id: string; order: WholeWorkOrder }) {
  const [only_open, setOnlyOpen] = useState(false)
  const { checklist_done: done, checklist_total: total, checklist_failed: failed } = order
  const shown = order.checklist.filter(({ status }) => !only_open || status === 'pending')
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2} size="h4">
          Checklist
        </Title>
        <Switch
          size="md"
          label="Only open items"
          checked={only_open}
          onChange={(event) => setOnlyOpen(event.currentTarget.checked)}
        />
      </Group>
      <Progress.Root size="lg" aria-hidden>
        <Progress.Section value={(100 * (done - failed)) / total} color="teal" />
        <Progress.Section value={(100 * failed) / total} color="red" />
      </Progress.Root>
      <Text size="sm">
        {done} of {total} done{failed > 0 && `, ${failed} failed`}
      </Text>
      {shown.map((item) => (
        <ChecklistCard key={item.item_id} {...{ site_id, order, item }} />
      ))}
    </Stack>
  )
}
