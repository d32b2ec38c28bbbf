import { Button, Group, Paper, Stack } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { ReactNode } from 'react'
import type { Draft } from './draft.ts'
import { DraftNotice } from './draft-notice.tsx'
import { leadTo } from './problem.tsx'
import { WriteButton } from './write-button.tsx'

/** Name of the draft. */
export const edit_draft = 'change'

/** A form that changes an existing resource. */
export function EditForm<Values extends object>({
  form,
  draft,
  onSave,
  onClose,
  is_pending,
  problem,
  children,
}: {
  form: UseFormReturnType<Values>
  draft: Draft
  onSave: (values: Values) => void
  onClose: () => void
  is_pending: boolean
  /** Error of the last attempt. */
  problem: ReactNode
  children: ReactNode
}) {
  const close = () => {
    draft.discard()
    onClose()
  }
  return (
    <Paper withBorder p="md">
      <form onSubmit={form.onSubmit(onSave, leadTo(form))} noValidate>
        <Stack>
          <DraftNotice {...draft} />
          {children}
          {problem}
          <Group>
            <WriteButton
              scope="om:write"
              type="submit"
              loading={is_pending}
              disabled={!form.isDirty()}
            >
              Save
            </WriteButton>
            <Button variant="default" onClick={close}>
              {form.isDirty() ? 'Discard changes' : 'Close'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  )
}
