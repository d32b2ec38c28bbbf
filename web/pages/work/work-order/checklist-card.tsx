/** An item of a checklist, with controls large enough for gloves. */

import type { ChecklistItem, ChecklistItemChange, WholeWorkOrder } from '@heliograph/sdk'
import { Button, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { heliograph } from '../../../api.ts'
import { useMay } from '../../../queries.ts'
import { changedFields } from '../../../ui/changed-fields.ts'
import { Differences } from '../../../ui/differences.tsx'
import { useDraft } from '../../../ui/draft.ts'
import { DraftNotice } from '../../../ui/draft-notice.tsx'
import { Muted } from '../../../ui/muted.tsx'
import { StateBadge } from '../../../ui/severity.tsx'
import { Failure } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { useSeenWrite } from '../../../ui/use-seen-write.ts'
import { WriteButton } from '../../../ui/write-button.tsx'
import type { Condition } from '../../../ui/write-seen.ts'
import { changeOf, type Draft, draftOf, limitsText, whyNot } from './item-draft.ts'
import { ItemInputs } from './item-inputs.tsx'
import { isWorking } from './states.ts'
import { orderSubject } from './use-order.ts'

interface ChecklistCardProps {
  site_id: string
  order: WholeWorkOrder
  item: ChecklistItem
}

export function ChecklistCard({ site_id, order, item }: ChecklistCardProps) {
  const can_write = useMay()('om:write') && isWorking(order.status)
  const limits = limitsText(item)
  return (
    <Paper withBorder p="sm" id={`item-${item.item_id}`} style={{ scrollMarginTop: 64 }}>
      <Stack gap="xs">
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          <Title order={3} size="h5">
            {item.position}. {item.title}
          </Title>
          <StateBadge state={item.status} />
        </Group>
        {item.instruction && <Text size="sm">{item.instruction}</Text>}
        {limits && <Text size="sm">{limits}</Text>}
        {!item.required && <Muted>Optional</Muted>}
        {can_write ? <Answer {...{ site_id, order, item }} /> : <Given item={item} />}
        {item.done_at && (
          <Muted>
            {item.done_by}, <Time at={item.done_at} />
          </Muted>
        )}
      </Stack>
    </Paper>
  )
}

function Given({ item }: { item: ChecklistItem }) {
  const value =
    item.value_number !== null ? `${item.value_number} ${item.unit ?? ''}` : item.value_text
  const parts = [value, item.note, item.instrument].filter((part) => part !== null && part !== '')
  return parts.length === 0 ? null : <Text>{parts.join(' · ')}</Text>
}

const verdicts = [
  { status: 'passed', label: 'Pass', color: 'teal' },
  { status: 'failed', label: 'Fail', color: 'red' },
  { status: 'not_applicable', label: 'Not applicable', color: 'gray' },
] as const

function Answer({ site_id, order, item }: ChecklistCardProps) {
  const [typed, setTyped, kept] = useDraft<Partial<Draft>>(`item ${item.item_id}`, {})
  const stored = draftOf(item)
  const draft = { ...stored, ...typed }
  const is_typed = Object.keys(typed).length > 0
  // Only changes of this item are conflicts, not changes of the rest of the order.
  const { run, is_pending, error, differences } = useSeenWrite({
    ...orderSubject(site_id, order),
    changes: [['work-orders', site_id]],
    part: ({ checklist }) => checklist.find(({ item_id }) => item_id === item.item_id) ?? {},
    write: (change: ChecklistItemChange, condition: Condition) => {
      const named = { site_id, wo_id: order.wo_id, item_id: item.item_id }
      return heliograph.workOrderItemChange({ ...named, ...change, ...condition })
    },
    onDone: kept.discard,
  })
  const [wants_note, setWantsNote] = useState(false)
  const lacks_note = whyNot(item, draft, 'not_applicable')
  const take = (status: ChecklistItem['status']) => {
    if (whyNot(item, draft, status) === null) run(changeOf(item, draft, status))
    else setWantsNote(true)
  }
  const hints = [
    item.status === 'pending' || is_typed ? whyNot(item, draft, 'passed') : null,
    wants_note ? lacks_note : null,
  ].filter((reason) => reason !== null)
  return (
    <Stack gap="xs">
      <DraftNotice {...kept} />
      <ItemInputs
        {...{ item, draft, wants_note, photos: order.attachments }}
        onChange={(next) => setTyped(changedFields(stored, next))}
      />
      <Verdicts {...{ item, draft, is_typed, is_pending }} onTake={take} />
      {hints.map((reason) => (
        <Text key={reason} size="sm" role="status">
          {reason}
        </Text>
      ))}
      {differences ? <Differences differences={differences} /> : error && <Failure error={error} />}
      {is_typed && (
        <Group gap="xs">
          <WriteButton
            scope="om:write"
            variant="light"
            loading={is_pending}
            onClick={() => run(changeOf(item, draft, item.status))}
          >
            Save
          </WriteButton>
          <Button variant="subtle" onClick={kept.discard}>
            Discard
          </Button>
        </Group>
      )}
    </Stack>
  )
}

interface VerdictsProps {
  item: ChecklistItem
  draft: Draft
  is_typed: boolean
  is_pending: boolean
  onTake: (status: ChecklistItem['status']) => void
}

function Verdicts({ item, draft, is_typed, is_pending, onTake }: VerdictsProps) {
  return (
    <SimpleGrid cols={3} spacing="xs">
      {verdicts.map(({ status, label, color }) => (
        <WriteButton
          key={status}
          scope="om:write"
          size="lg"
          px={4}
          color={color}
          variant={item.status === status && !is_typed ? 'filled' : 'default'}
          aria-pressed={item.status === status}
          aria-label={`${label}: ${item.title}`}
          disabled={is_pending || (status === 'passed' && whyNot(item, draft, status) !== null)}
          onClick={() => onTake(status)}
          styles={{ label: { whiteSpace: 'normal', lineHeight: 1.15, fontSize: 15 } }}
        >
          {label}
        </WriteButton>
      ))}
    </SimpleGrid>
  )
}
