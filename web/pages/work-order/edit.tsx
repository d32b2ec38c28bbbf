import type { WholeWorkOrder } from '@heliograph/sdk'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { heliograph } from '../../api.ts'
import { useSite } from '../../shell/site-shell.tsx'
import { Differences } from '../../ui/differences.tsx'
import { EditForm } from '../../ui/edit-form.tsx'
import { Problem, withFields } from '../../ui/problem.tsx'
import { bodyOf, changedFields, type OrderValues, rulesOf, valuesOf } from './fields.ts'
import { WhatAndWhere, WhatWasDone, WhoAndWhen } from './form-parts.tsx'
import { useOrderWrite } from './use-order.ts'

interface EditOrderProps {
  site_id: string
  order: WholeWorkOrder
  onClose: () => void
}

/** Begins with the order as it is when it opens; only what was changed in it is sent. */
export function EditOrder({ site_id, order, onClose }: EditOrderProps) {
  const { timezone } = useSite()
  const [seen, setSeen] = useState(order)
  const form = useForm<OrderValues>({
    initialValues: valuesOf(order, timezone),
    validate: rulesOf(timezone),
  })
  const { run, is_pending, error, differences } = useOrderWrite<OrderValues>({
    ...{ site_id, seen, onConflict: setSeen, onDone: onClose },
    write: (values, condition) => {
      const before = bodyOf(form.getInitialValues(), timezone)
      const changes = changedFields(before, bodyOf(values, timezone))
      return withFields(form, () =>
        heliograph.workOrderChange({ site_id, wo_id: order.wo_id, ...changes, ...condition }),
      )
    },
    done: 'Saved',
  })
  return (
    <EditForm<OrderValues>
      {...{ form, onClose, is_pending }}
      onSave={run}
      problem={differences ? <Differences differences={differences} /> : <Problem error={error} />}
    >
      <WhatAndWhere {...{ site_id, form }} />
      <WhoAndWhen form={form} />
      <WhatWasDone form={form} />
    </EditForm>
  )
}
