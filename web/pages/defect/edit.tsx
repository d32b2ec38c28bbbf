import type { Defect } from '@heliograph/sdk'
import { Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useSite } from '../../shell/site-shell.tsx'
import { Differences } from '../../ui/differences.tsx'
import { EditForm } from '../../ui/edit-form.tsx'
import { Problem, withFields } from '../../ui/problem.tsx'
import { changedFields } from '../work-order/fields.ts'
import { bodyOf, type DefectValues, rulesOf, valuesOf } from './fields.ts'
import { HowItWasFound, WhatIsBroken } from './form-parts.tsx'
import { useDefectWrite } from './use-defect.ts'

interface EditDefectProps {
  site_id: string
  defect: Defect
  onClose: () => void
}

/** Begins with the defect as it is when it opens; only what was changed in it is sent. */
export function EditDefect({ site_id, defect, onClose }: EditDefectProps) {
  const { timezone } = useSite()
  const [seen, setSeen] = useState(defect)
  const form = useForm<DefectValues>({
    initialValues: valuesOf(defect, timezone),
    validate: rulesOf(timezone),
  })
  const { run, is_pending, error, differences } = useDefectWrite<DefectValues>({
    ...{ site_id, seen, onConflict: setSeen, onDone: onClose },
    changeOf: (values) =>
      changedFields(bodyOf(form.getInitialValues(), timezone), bodyOf(values, timezone)),
    guard: (work) => withFields(form, work),
  })
  return (
    <EditForm<DefectValues>
      {...{ form, onClose, is_pending }}
      onSave={run}
      problem={differences ? <Differences differences={differences} /> : <Problem error={error} />}
    >
      <WhatIsBroken {...{ site_id, form }} />
      <HowItWasFound form={form} />
      <Textarea
        label="What was done, or why nothing is"
        autosize
        minRows={2}
        {...form.getInputProps('resolution')}
      />
    </EditForm>
  )
}
