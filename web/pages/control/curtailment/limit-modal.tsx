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
import { emptyWish, faultsOf, spanOf, type Wish } from './wish.ts'

interface LimitModalProps {
  site_id: string
  plants: readonly Plant[]
  wish: Partial<Wish>
  /** Undefined: not known. */
  rows: readonly CurtailmentRow[] | undefined
  onClose: () => void
  onMade: (group: CurtailmentGroup) => void
}

/** First what is asked for, then what it does and costs, and only then it is sent. */
export function LimitModal({ site_id, plants, wish, rows, onClose, onMade }: LimitModalProps) {
  const { timezone } = useSite()
  const is_phone = useMediaQuery('(max-width: 48em)')
  // The moment at which it was looked at; null while the fields are filled in.
  const [looked_at_ms, setLookedAt] = useState<number | null>(null)
  const form = useForm<Wish>({
    initialValues: { ...emptyWish(clockAt(Date.now() + 3_600_000, timezone)), ...wish },
    validate: (values) => faultsOf(values, timezone, Date.now()),
  })
  const draft = useFormDraft(`limit ${JSON.stringify(wish)}`, form)
  const { values } = form
  const span = looked_at_ms === null ? null : spanOf(values, timezone, looked_at_ms)
  const create = useWrite({
    write: (asked: { wish: Wish; span: Span }, idempotency_key) =>
      send(site_id, asked, idempotency_key),
    done: 'The limit is recorded. How far it has come stands below.',
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
      title={looked_at_ms === null ? 'Limit output' : 'What will happen'}
      size="lg"
      fullScreen={is_phone ?? false}
      closeOnClickOutside={false}
    >
      {span === null || typeof values.limit_value !== 'number' ? (
        <LimitFields
          {...{ site_id, form, draft, plants, chosen }}
          onDone={() => setLookedAt(Date.now())}
        />
      ) : (
        <LimitConfirm
          site_id={site_id}
          wish={values}
          span={span}
          allowed={allowedOf(chosen, { ...values, limit_value: values.limit_value })}
          rows={rows}
          onSend={() => create.run({ wish: values, span })}
          {...{ is_pending: create.is_pending, error: create.error }}
          onBack={() => {
            create.reset()
            setLookedAt(null)
          }}
        />
      )}
    </Modal>
  )
}

/** Of the span that was looked at: sent again, it is the same command. */
function send(site_id: string, { wish, span }: { wish: Wish; span: Span }, key: string) {
  const { where, limit_mode, limit_value, begins, duration } = wish
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
