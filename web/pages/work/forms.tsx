import { Box, Button, Group, Paper } from '@mantine/core'
import { type FormRulesRecord, type UseFormReturnType, useForm } from '@mantine/form'
import { type ReactNode, useState } from 'react'
import { changedFields } from '../../ui/changed-fields.ts'
import { useFormDraft } from '../../ui/draft.ts'
import { SubmitForm, withFields } from '../../ui/form.tsx'
import { Muted, SiteLink } from '../../ui/page.tsx'
import { type Condition, type SeenWrite, useSeenWrite } from '../../ui/use-write.ts'

export const edit_draft = 'change'

export const isId = (text: string | undefined) => /^\d+$/.test(text ?? '')

/** The ETag belongs to this very object: it must not be merged with the answer before. */
export const seen_read = { refetchInterval: 15_000, structuralSharing: false }

interface EditFormProps<Values extends object, Body extends object, Whole extends object> {
  whole: Whole
  subjectOf: (seen: Whole) => Omit<SeenWrite<Values, Whole>, 'write'>
  initialValues: Values
  rules: FormRulesRecord<Values>
  bodyOf: (values: Values) => Body
  change: (changes: Partial<Body>, condition: Condition) => Promise<Whole>
  onClose: () => void
  children: (form: UseFormReturnType<Values>) => ReactNode
}

/** A form that changes an existing resource. It sends only fields that were changed in the form. */
export function EditForm<Values extends object, Body extends object, Whole extends object>(
  props: EditFormProps<Values, Body, Whole>,
) {
  const { whole, subjectOf, initialValues, rules, bodyOf, change, onClose, children } = props
  const [seen, setSeen] = useState(whole)
  const form = useForm<Values>({ initialValues, validate: rules })
  const draft = useFormDraft(edit_draft, form)
  const write = useSeenWrite<Values, Whole>({
    ...subjectOf(seen),
    draft,
    onConflict: setSeen,
    onDone: onClose,
    done: 'Saved',
    write: (values, condition) => {
      const changes = changedFields(bodyOf(form.getInitialValues()), bodyOf(values))
      return withFields(form, () => change(changes, condition))
    },
  })
  const close = () => {
    draft.discard()
    onClose()
  }
  return (
    <Paper withBorder p="md">
      <SubmitForm
        form={form}
        draft={draft}
        write={write}
        scope="om:write"
        action="Save"
        disabled={!form.isDirty()}
        aside={
          <Button variant="default" onClick={close}>
            {form.isDirty() ? 'Discard changes' : 'Close'}
          </Button>
        }
      >
        {children(form)}
      </SubmitForm>
    </Paper>
  )
}

export const linksTo = (page: string, ids: readonly number[], name: string) =>
  ids.length === 0 ? null : (
    <Group gap="xs">
      {ids.map((id) => (
        <SiteLink key={id} to={`${page}${id}`}>
          {name} {id}
        </SiteLink>
      ))}
    </Group>
  )

interface TitleCellProps {
  to: string
  title: string
  about: readonly (string | null)[]
  /** Shown on a phone, where the other columns are out of sight. */
  children: ReactNode
}

export const TitleCell = ({ to, title, about, children }: TitleCellProps) => (
  <Box w={{ base: '76vw', sm: 'auto' }} style={{ whiteSpace: 'normal' }}>
    <SiteLink to={to}>{title}</SiteLink>
    <Muted>{about.filter(Boolean).join(' · ')}</Muted>
    <Group gap="xs" mt={4} hiddenFrom="sm">
      {children}
    </Group>
  </Box>
)
