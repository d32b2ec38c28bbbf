import type { WholeWorkOrder } from '@heliograph/sdk'
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
import { bodyOf, type OrderValues, rulesOf, valuesOf } from './fields.ts'
import { WhatAndWhere, WhatWasDone, WhoAndWhen } from './form-parts.tsx'
import { orderSubject } from './use-order.ts'

interface EditOrderProps {
  site_id: string
  order: WholeWorkOrder
  onClose: () => void
}

/** Sends only fields that were changed in the form. */
export function EditOrder({ site_id, order, onClose }: EditOrderProps) {
  const { timezone } = useSite()
  const [seen, setSeen] = useState(order)
  const form = useForm<OrderValues>({
    initialValues: valuesOf(order, timezone),
    validate: rulesOf(timezone),
  })
  const draft = useFormDraft(edit_draft, form)
  const onDone = () => {
    draft.drop()
    onClose()
  }
  const { run, is_pending, error, differences } = useSeenWrite({
    ...orderSubject(site_id, seen),
    onConflict: setSeen,
    onDone,
    done: 'Saved',
    write: (values: OrderValues, condition: Condition) => {
      const before = bodyOf(form.getInitialValues(), timezone)
      const changes = changedFields(before, bodyOf(values, timezone))
      return withFields(form, () =>
        heliograph.workOrderChange({ site_id, wo_id: order.wo_id, ...changes, ...condition }),
      )
    },
  })
  return (
    <EditForm<OrderValues>
      {...{ form, draft, onClose, is_pending }}
      onSave={run}
      problem={differences ? <Differences differences={differences} /> : <Problem error={error} />}
    >
      <WhatAndWhere {...{ site_id, form }} />
      <WhoAndWhen form={form} />
      <WhatWasDone form={form} />
    </EditForm>
  )
}
