import type { Attachment, ChecklistItem } from '@heliograph/sdk'
import {
  Button,
  Collapse,
  Group,
  MultiSelect,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { DateField } from '../../../ui/date-field.tsx'
import { NumberField } from '../../../ui/number-field.tsx'
import type { Draft } from './item-draft.ts'

interface ItemInputsProps {
  item: ChecklistItem
  draft: Draft
  /** The chosen verdict requires a note. */
  wants_note: boolean
  photos: readonly Attachment[]
  onChange: (draft: Draft) => void
}

export function ItemInputs(props: ItemInputsProps) {
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
        <Tester {...{ draft, onChange }} />
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

type Quantity = 'value_number' | 'min_value' | 'max_value'

function Measurement({ item, draft, onChange }: ItemInputsProps) {
  // Limits of a standard are fixed; otherwise they come from the data sheet.
  const [sets_limits] = useDisclosure(item.min_value === null && item.max_value === null)
  const number = (name: Quantity, label: string) => (
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
