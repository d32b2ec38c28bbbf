import type { BessSchedule } from '@heliograph/sdk'
import { Button, NativeSelect, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect } from 'react'
import { heliograph } from '../../../api.ts'
import { useFormDraft } from '../../../ui/draft.ts'
import { DraftNotice } from '../../../ui/draft-notice.tsx'
import { formatMoney } from '../../../ui/format.ts'
import { DialogButtons, Modal } from '../../../ui/modal.tsx'
import { Muted } from '../../../ui/muted.tsx'
import { NumberField } from '../../../ui/number-field.tsx'
import { Failure } from '../../../ui/states.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import { bessKey } from '../battery/reads.ts'
import { fieldErrors } from './field-errors.ts'

type Objective = BessSchedule['objective']

const objectives: { value: Objective | 'idle'; label: string }[] = [
  { value: 'arbitrage', label: 'Arbitrage' },
  { value: 'self_consumption', label: 'Self-consumption' },
  { value: 'peak_shaving', label: 'Peak shaving' },
  { value: 'capacity_firming', label: 'Capacity firming' },
  { value: 'combined', label: 'Arbitrage and peak shaving' },
  { value: 'idle', label: 'Idle (stops an approved plan)' },
]

interface PlanModalProps {
  site_id: string
  bess_id: number
  day: string
  onClose: () => void
}

export function PlanModal({ site_id, bess_id, day, onClose }: PlanModalProps) {
  const form = useForm<{ aim: Objective | 'idle'; soc_end_target_pct: number | string }>({
    initialValues: { aim: 'arbitrage', soc_end_target_pct: '' },
    validate: {
      soc_end_target_pct: (value) =>
        typeof value === 'number' && (value < 0 || value > 100) ? 'From 0 to 100 %.' : null,
    },
  })
  const draft = useFormDraft(`plan ${day}`, form)
  const plan = useWrite({
    write: ({ aim, soc_end_target_pct: end }: typeof form.values, idempotency_key) => {
      const named = { site_id, bess_id, 'Idempotency-Key': idempotency_key }
      const unit = { ...named, target_date: day }
      if (aim === 'idle') return heliograph.bessOptimize({ ...unit, idle: true })
      const target = typeof end === 'number' ? { soc_end_target_pct: end } : {}
      return heliograph.bessOptimize({ ...unit, objective: aim, ...target })
    },
    done: ({ totals }: BessSchedule) =>
      `Proposed: ${formatMoney(totals.expected_net_amount, totals.currency)} expected.`,
    changes: [bessKey(site_id)],
    onDone: () => {
      draft.drop()
      onClose()
    },
  })
  const { error } = plan
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each answer
  useEffect(() => form.setErrors(fieldErrors(error)), [error])
  return (
    <Modal opened onClose={onClose} title={`Plan ${day} (UTC)`}>
      <form noValidate onSubmit={form.onSubmit(plan.run)}>
        <Stack>
          <DraftNotice {...draft} />
          <NativeSelect
            label="Objective"
            data={objectives}
            data-autofocus
            {...form.getInputProps('aim')}
          />
          {form.values.aim !== 'idle' && (
            <NumberField
              hideControls={false}
              label="Minimum charge at the end of the day (optional)"
              description="Defaults to the charge at the start of the day, if feasible."
              suffix=" %"
              min={0}
              max={100}
              {...form.getInputProps('soc_end_target_pct')}
            />
          )}
          <Muted>
            The plan takes effect only after approval. It replaces an open proposal of the day,
            including manual changes.
          </Muted>
          {error !== null && Object.keys(fieldErrors(error)).length === 0 && (
            <Failure error={error} />
          )}
          <DialogButtons onClose={onClose}>
            <Button type="submit" loading={plan.is_pending}>
              Create
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Modal>
  )
}
