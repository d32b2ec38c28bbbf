import type { BessSchedule, ScheduleHour } from '@heliograph/sdk'
import { Alert, Button, Slider, Stack, Text, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useEffect, useState } from 'react'
import { heliograph } from '../../../api.ts'
import { useSite } from '../../../shell/site-shell.tsx'
import { useFormDraft } from '../../../ui/draft.ts'
import { DraftNotice } from '../../../ui/draft-notice.tsx'
import { formatMoney, formatNumber, formatPower, formatTime } from '../../../ui/format.ts'
import { DialogButtons, Modal } from '../../../ui/modal.tsx'
import { Muted } from '../../../ui/muted.tsx'
import { NumberField } from '../../../ui/number-field.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import { bessKey } from '../battery/reads.ts'
import { inSentence, powerWords } from '../battery/words.ts'
import { fieldErrors } from './field-errors.ts'
import { Refused } from './refused.tsx'

interface HourModalProps {
  site_id: string
  schedule: BessSchedule
  hour: ScheduleHour
  etag: string | undefined
  onClose: () => void
}

interface Revision {
  power_kw: number | string
  note: string
}

export function HourModal({ site_id, schedule, hour, etag, onClose }: HourModalProps) {
  // The ETag of the plan that was shown when the dialog opened.
  const [seen] = useState(etag)
  const { timezone } = useSite()
  const { schedule_id, totals } = schedule
  const { min_power_kw: min, max_power_kw: max } = hour
  const form = useForm<Revision>({
    initialValues: { power_kw: hour.power_kw, note: hour.edit_note ?? '' },
    validate: { power_kw: (value) => faultOf(value, min, max) },
  })
  const draft = useFormDraft(`hour ${schedule_id} ${hour.hour}`, form)
  const revise = useRevise({ site_id, schedule, hour, etag: seen }, () => {
    draft.drop()
    onClose()
  })
  const { error } = revise
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each answer
  useEffect(() => form.setErrors(fieldErrors(error)), [error])
  const [start, end] = [hour.start_at, hour.end_at].map((at) => formatTime(at, timezone, 'time'))
  const is_fixed = isFixed(min, max)
  return (
    <Modal
      opened
      onClose={onClose}
      title={`${start}–${end} local time`}
      closeOnClickOutside={!form.isDirty()}
    >
      <form
        noValidate
        onSubmit={form.onSubmit(({ power_kw, note }) =>
          revise.run({ power_kw: Number(power_kw), note }),
        )}
      >
        <Stack>
          <DraftNotice {...draft} />
          <Facts hour={hour} currency={totals.currency} />
          <PowerFields form={form} min={min} max={max} />
          <TextInput label="Note (optional)" maxLength={500} {...form.getInputProps('note')} />
          {hour.original_power_kw !== null && (
            <Muted>Originally planned: {inSentence(powerWords(hour.original_power_kw))}.</Muted>
          )}
          {error !== null && Object.keys(fieldErrors(error)).length === 0 && (
            <Refused error={error} site_id={site_id} onLooked={onClose} />
          )}
          <DialogButtons onClose={onClose}>
            <Button type="submit" loading={revise.is_pending} disabled={is_fixed}>
              Change hour
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Modal>
  )
}

function useRevise(asked: Omit<HourModalProps, 'onClose'>, onDone: () => void) {
  const { site_id, schedule, hour, etag } = asked
  const { schedule_id, totals } = schedule
  return useWrite({
    write: ({ power_kw, note }: { power_kw: number; note: string }, idempotency_key) =>
      heliograph.bessScheduleHourRevise({
        site_id,
        schedule_id,
        hour: hour.hour,
        power_kw,
        'If-Match': etag,
        'Idempotency-Key': idempotency_key,
        ...(note.trim() !== '' && { note: note.trim() }),
      }),
    done: (revised: BessSchedule) => outcomeOf(totals.expected_net_amount, revised),
    changes: [bessKey(site_id)],
    onDone,
  })
}

const isFixed = (min: number, max: number) => max - min < 0.002

interface PowerFieldsProps {
  form: UseFormReturnType<Revision>
  min: number
  max: number
}

function PowerFields({ form, min, max }: PowerFieldsProps) {
  const value = form.values.power_kw
  if (isFixed(min, max)) {
    return (
      <Alert color="blue" variant="outline" role="status">
        This hour has no headroom: the plan needs its energy in other hours. Change a later hour
        first.
      </Alert>
    )
  }
  return (
    <>
      <NumberField
        hideControls={false}
        label="Power"
        description={
          <>
            From {leastOf(min)} to {mostOf(max)}. Positive values discharge, negative values charge.
          </>
        }
        suffix=" kW"
        step={10}
        decimalScale={3}
        data-autofocus
        {...form.getInputProps('power_kw')}
      />
      <Slider
        thumbLabel="Power within the allowed range"
        min={min}
        max={max}
        step={0.001}
        label={(kw) => powerWords(kw)}
        value={typeof value === 'number' ? Math.min(max, Math.max(min, value)) : min}
        onChange={(kw) => form.setFieldValue('power_kw', sliderValue(kw, min, max))}
      />
    </>
  )
}

function Facts({ hour, currency }: { hour: ScheduleHour; currency: string }) {
  const { price_per_mwh, power_kw, soc_start_pct, soc_end_pct, quarter_power_kw } = hour
  return (
    <Text>
      Planned: {powerWords(power_kw)}
      {price_per_mwh !== null && ` at ${formatMoney(price_per_mwh, currency)} per MWh`}
      {soc_start_pct !== null &&
        `, from ${formatNumber(soc_start_pct)} to ${formatNumber(soc_end_pct)} % of charge`}
      .
      {quarter_power_kw !== null &&
        new Set(quarter_power_kw).size > 1 &&
        ' The quarter hours differ; a change makes them equal.'}
    </Text>
  )
}

/** Rounded towards the inside of the range, so that the shown bound is accepted. */
const leastOf = (min: number) => formatPower(Math.ceil(10 * min) / 10)
const mostOf = (max: number) => formatPower(Math.floor(10 * max) / 10)

/** Whole kW, except for the ends of the range. */
function sliderValue(kw: number, min: number, max: number): number {
  if (kw - min < 0.5) return min
  if (max - kw < 0.5) return max
  return Math.round(kw)
}

function faultOf(value: number | string, min: number, max: number): string | null {
  if (typeof value !== 'number') return 'Enter a power in kW.'
  if (value < min - 0.0005) return `Minimum ${leastOf(min)} while other hours stay unchanged.`
  if (value > max + 0.0005) return `Maximum ${mostOf(max)} while other hours stay unchanged.`
  return null
}

function outcomeOf(before: number | null, { totals, hours }: BessSchedule): string {
  const { expected_net_amount: net, currency } = totals
  const end = hours.at(-1)?.soc_end_pct ?? null
  const earned = `Expected revenue of the day ${formatMoney(net, currency)}`
  const than = before === null ? '' : ` (${formatMoney(before, currency)} before)`
  return `${earned}${than} ending at ${formatNumber(end)} %.`
}
