import type { CurtailmentGroup, CurtailmentRow } from '@heliograph/sdk'

import { useForm } from '@mantine/form'
import { useMediaQuery } from '@mantine/hooks'
import { useState } from 'react'
import { heliograph } from '../../../api.ts'
import { useSite } from '../../../shell/site-shell.tsx'
import { useFormDraft } from '../../../ui/draft.ts'
import { Modal } from '../../../ui/modal.tsx'
import { clockAt } from '../../../ui/site-clock.ts'
import { useWrite } from '../../../ui/use-write.ts'
import { LimitConfirm } from './limit-confirm.tsx'
import { LimitFields } from './limit-fields.tsx'
import { allowedOf, type Plant, type Span } from './limits.ts'
import { curtailmentKey } from './reads.ts'
import { faultsOf, newLimit, type RequestedLimit, spanOf } from './requested-limit.ts'

interface LimitModalProps {
  site_id: string
  plants: readonly Plant[]
  requested: Partial<RequestedLimit>
  /** Undefined when unknown. */
  rows: readonly CurtailmentRow[] | undefined
  onClose: () => void
  onMade: (group: CurtailmentGroup) => void
}

/** First the fields, then a summary with effect and cost, from which the limit is sent. */
export function LimitModal({ site_id, plants, requested, rows, onClose, onMade }: LimitModalProps) {
  const { timezone } = useSite()
  const is_phone = useMediaQuery('(max-width: 48em)')
  // Time of the review; null while the fields are filled in.
  const [reviewed_at_ms, setReviewedAt] = useState<number | null>(null)
  const form = useForm<RequestedLimit>({
    initialValues: { ...newLimit(clockAt(Date.now() + 3_600_000, timezone)), ...requested },
    validate: (values) => faultsOf(values, timezone, Date.now()),
  })
  const draft = useFormDraft(`limit ${JSON.stringify(requested)}`, form)
  const { values } = form
  const span = reviewed_at_ms === null ? null : spanOf(values, timezone, reviewed_at_ms)
  const create = useWrite({
    write: (asked: { requested: RequestedLimit; span: Span }, idempotency_key) =>
      send(site_id, asked, idempotency_key),
    done: 'Limit recorded. See its progress below.',
    changes: [curtailmentKey(site_id)],
    onDone: (group: CurtailmentGroup) => {
      draft.drop()
      onMade(group)
      onClose()
    },
  })
  const chosen = plants.filter(
    ({ logger_id }) => values.where === 'site' || values.where === String(logger_id),
  )
  return (
    <Modal
      opened
      onClose={onClose}
      title={reviewed_at_ms === null ? 'Limit output' : 'Review limit'}
      size="lg"
      fullScreen={is_phone ?? false}
      closeOnClickOutside={false}
    >
      {span === null || typeof values.limit_value !== 'number' ? (
        <LimitFields
          {...{ site_id, form, draft, plants, chosen }}
          onDone={() => setReviewedAt(Date.now())}
        />
      ) : (
        <LimitConfirm
          site_id={site_id}
          requested={values}
          span={span}
          allowed={allowedOf(chosen, { ...values, limit_value: values.limit_value })}
          rows={rows}
          onSend={() => create.run({ requested: values, span })}
          {...{ is_pending: create.is_pending, error: create.error }}
          onBack={() => {
            create.reset()
            setReviewedAt(null)
          }}
        />
      )}
    </Modal>
  )
}

/** Sends the span that was reviewed, so that a retry sends the same command. */
function send(
  site_id: string,
  { requested, span }: { requested: RequestedLimit; span: Span },
  key: string,
) {
  const { where, limit_mode, limit_value, begins, duration } = requested
  const target =
    where === 'site'
      ? ({ scope: 'site' } as const)
      : ({ scope: 'logger', logger_id: Number(where) } as const)
  const command = {
    site_id,
    limit_mode,
    limit_value: Number(limit_value),
    ...target,
    'Idempotency-Key': key,
  }
  if (begins === 'now' && duration !== 'until') {
    const duration_minutes = duration === 'open' ? null : Number(duration)
    return heliograph.curtailmentImmediateCreate({ ...command, duration_minutes })
  }
  return heliograph.curtailmentWindowCreate({
    ...command,
    start_at: new Date(span.start_ms).toISOString(),
    end_at: new Date(span.end_ms).toISOString(),
  })
}
