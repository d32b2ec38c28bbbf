import type {
  Attachment,
  ChecklistItem,
  ChecklistItemChange,
  WholeWorkOrder,
} from '@heliograph/sdk'
import {
  Button,
  Collapse,
  Group,
  MultiSelect,
  Paper,
  Progress,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { heliograph } from '../../../api.ts'
import { useMay, useSite } from '../../../queries.ts'
import { StateBadge } from '../../../ui/badges.tsx'
import { changedFields } from '../../../ui/changed-fields.ts'
import { useDraft } from '../../../ui/draft.ts'
import { DateField, NumberField } from '../../../ui/fields.tsx'
import { Differences, DraftNotice, WriteButton } from '../../../ui/form.tsx'
import { Heading, Muted, Time } from '../../../ui/page.tsx'
import { Failure } from '../../../ui/states.tsx'
import { type Condition, useSeenWrite } from '../../../ui/use-write.ts'
import { changeOf, type Draft, draftOf, limitsText, whyNot } from './item-draft.ts'
import { isWorking } from './states.ts'
import { orderSubject } from './subject.ts'

export function Checklist({ order }: { order: WholeWorkOrder }) {
  const [only_open, setOnlyOpen] = useState(false)
  const { checklist_done: done, checklist_total: total, checklist_failed: failed } = order
  const shown = order.checklist.filter(({ status }) => !only_open || status === 'pending')
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Heading>Checklist</Heading>
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
        <ChecklistCard key={item.item_id} order={order} item={item} />
      ))}
    </Stack>
  )
}

interface ChecklistCardProps {
  order: WholeWorkOrder
  item: ChecklistItem
}

function ChecklistCard({ order, item }: ChecklistCardProps) {
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
        {can_write ? <Answer order={order} item={item} /> : <Given item={item} />}
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

function Answer({ order, item }: ChecklistCardProps) {
  const { site_id } = useSite()
  const [typed, setTyped, kept] = useDraft<Partial<Draft>>(`item ${item.item_id}`, {})
  const stored = draftOf(item)
  const draft = { ...stored, ...typed }
  const is_typed = Object.keys(typed).length > 0
  // Only changes of this item are conflicts, not changes of the rest of the order.
  const { run, is_pending, error, differences } = useSeenWrite({
    ...orderSubject(site_id, order),
    changes: ['work-orders'],
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
        item={item}
        draft={draft}
        wants_note={wants_note}
        photos={order.attachments}
        onChange={(next) => setTyped(changedFields(stored, next))}
      />
      <Verdicts
        item={item}
        draft={draft}
        is_typed={is_typed}
        is_pending={is_pending}
        onTake={take}
      />
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

interface ItemInputsProps {
  item: ChecklistItem
  draft: Draft
  /** The chosen verdict requires a note. */
  wants_note: boolean
  photos: readonly Attachment[]
  onChange: (draft: Draft) => void
}

function ItemInputs(props: ItemInputsProps) {
  const { item, draft, wants_note, onChange } = props
  const [opens_note, note] = useDisclosure(false)
  const [has_tester, tester] = useDisclosure(draft.instrument !== '')
  const has_note = opens_note || wants_note || draft.note !== ''
  const is_measured = item.type === 'measurement'
  return (
    <Stack gap="xs">
      {is_measured && <Measurement {...props} />}
      {(item.type === 'text' || item.type === 'signature') && (
        <TextInput
          size="md"
          label={item.type === 'signature' ? 'Name of the signatory' : 'Text'}
          value={draft.value_text}
          onChange={(event) => onChange({ ...draft, value_text: event.currentTarget.value })}
        />
      )}
      {item.type === 'photo' && <Photos {...props} />}
      {has_note && (
        <Textarea
          size="md"
          label="Note"
          autosize
          minRows={2}
          value={draft.note}
          onChange={(event) => onChange({ ...draft, note: event.currentTarget.value })}
        />
      )}
      <Collapse expanded={is_measured && has_tester}>
        <Tester draft={draft} onChange={onChange} />
      </Collapse>
      <Group gap="xs">
        {!has_note && (
          <Button
            variant="subtle"
            px="xs"
            onClick={note.open}
            aria-label={`Add a note: ${item.title}`}
          >
            Add a note
          </Button>
        )}
        {is_measured && (
          <Button
            variant="subtle"
            px="xs"
            onClick={tester.toggle}
            aria-expanded={has_tester}
            aria-label={`Tester, calibration: ${item.title}`}
          >
            Tester, calibration
          </Button>
        )}
      </Group>
    </Stack>
  )
}

function Photos({ draft, photos, onChange }: ItemInputsProps) {
  if (photos.length === 0) {
    return <Text size="sm">Add pictures as attachments of the work order first.</Text>
  }
  return (
    <MultiSelect
      size="md"
      label="Pictures"
      data={photos.map(({ attachment_id, file_name }) => ({
        value: String(attachment_id),
        label: file_name,
      }))}
      value={draft.photo_ids.map(String)}
      onChange={(ids) => onChange({ ...draft, photo_ids: ids.map(Number) })}
    />
  )
}

function Measurement({ item, draft, onChange }: ItemInputsProps) {
  // Limits of a standard are fixed; otherwise they come from the data sheet.
  const [sets_limits] = useDisclosure(item.min_value === null && item.max_value === null)
  const number = (name: 'value_number' | 'min_value' | 'max_value', label: string) => (
    <NumberField
      size="md"
      label={label}
      suffix={item.unit ? ` ${item.unit}` : ''}
      value={draft[name]}
      onChange={(value) => onChange({ ...draft, [name]: value === '' ? null : value })}
    />
  )
  return (
    <>
      {number('value_number', `Measured${item.unit ? `, in ${item.unit}` : ''}`)}
      {sets_limits && (
        <SimpleGrid cols={2} spacing="xs">
          {number('min_value', 'Minimum (data sheet)')}
          {number('max_value', 'Maximum (data sheet)')}
        </SimpleGrid>
      )}
    </>
  )
}

function Tester({ draft, onChange }: Pick<ItemInputsProps, 'draft' | 'onChange'>) {
  const text = (name: 'instrument' | 'instrument_serial') => ({
    value: draft[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      onChange({ ...draft, [name]: event.currentTarget.value }),
  })
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="xs">
      <TextInput label="Tester, manufacturer and type" {...text('instrument')} />
      <TextInput label="Serial number" {...text('instrument_serial')} />
      <DateField
        label="Calibrated until"
        value={draft.calibration_due_date}
        onChange={(calibration_due_date) => onChange({ ...draft, calibration_due_date })}
      />
    </SimpleGrid>
  )
}
