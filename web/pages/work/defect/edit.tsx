import type { Defect } from '@heliograph/sdk'
import { Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { heliograph } from '../../../api.ts'
import { useSite } from '../../../shell/site-shell.tsx'
import { changedFields } from '../../../ui/changed-fields.ts'
import { Differences } from '../../../ui/differences.tsx'
import { useFormDraft } from '../../../ui/draft.ts'
import { EditForm, edit_draft } from '../../../ui/edit-form.tsx'
import { Problem, withFields } from '../../../ui/problem.tsx'
import { useSeenWrite } from '../../../ui/use-seen-write.ts'
import type { Condition } from '../../../ui/write-seen.ts'
import { bodyOf, type DefectValues, rulesOf, valuesOf } from './fields.ts'
import { HowItWasFound, WhatIsBroken } from './form-parts.tsx'
import { defectSubject } from './use-defect.ts'

interface EditDefectProps {
  site_id: string
  defect: Defect
  onClose: () => void
}

/** Sends only fields that were changed in the form. */
export function EditDefect({ site_id, defect, onClose }: EditDefectProps) {
  const { timezone } = useSite()
  const [seen, setSeen] = useState(defect)
  const form = useForm<DefectValues>({
    initialValues: valuesOf(defect, timezone),
    validate: rulesOf(timezone),
  })
  const draft = useFormDraft(edit_draft, form)
  const onDone = () => {
    draft.drop()
    onClose()
  }
  const { run, is_pending, error, differences } = useSeenWrite({
    ...defectSubject(site_id, seen),
    onConflict: setSeen,
    onDone,
    done: 'Saved',
    write: (values: DefectValues, condition: Condition) => {
      const before = bodyOf(form.getInitialValues(), timezone)
      const changes = changedFields(before, bodyOf(values, timezone))
      const { defect_id } = defect
      return withFields(form, () =>
        heliograph.defectChange({ site_id, defect_id, ...changes, ...condition }),
      )
    },
  })
  return (
    <EditForm<DefectValues>
      {...{ form, draft, onClose, is_pending }}
      onSave={run}
      problem={differences ? <Differences differences={differences} /> : <Problem error={error} />}
    >
      <WhatIsBroken {...{ site_id, form }} />
      <HowItWasFound form={form} />
      <Textarea
        label="Resolution, or reason for dismissal"
        autosize
        minRows={2}
        {...form.getInputProps('resolution')}
      />
    </EditForm>
  )
}
