import {
  type ApprovedBessSchedule,
  type BessSchedule,
  HeliographError,
  isCode,
  type ScheduleHour,
} from '@heliograph/sdk'
import {
  Alert,
  Button,
  Group,
  NativeSelect,
  Slider,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { heliograph } from '../../../api.ts'
import { useSite } from '../../../queries.ts'
import { useDraft, useFormDraft } from '../../../ui/draft.ts'
import { NumberField } from '../../../ui/fields.tsx'
import { Dialog, WriteButton, withFields } from '../../../ui/form.tsx'
import {
  formatEnergy,
  formatMoney,
  formatNumber,
  formatPower,
  formatTime,
} from '../../../ui/format.ts'
import { Muted, Notice, Time } from '../../../ui/page.tsx'
import { addDays } from '../../../ui/site-clock.ts'
import { Failure } from '../../../ui/states.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import { useSchedules } from '../battery/shared.tsx'
import { inSentence, powerWords } from '../battery/words.ts'
import { handoverOf, isInForce } from './handover.ts'

interface DecideProps {
  schedule: BessSchedule
  etag: string | undefined
}

export function Decide(props: DecideProps) {
  const [asked, setAsked] = useState<'approve' | 'reject' | null>(null)
  const close = () => setAsked(null)
  return (
    <Group gap="xs">
      <WriteButton
        scope="bess:write"
        variant="default"
        disabled={!props.etag}
        onClick={() => setAsked('reject')}
      >
        Reject
      </WriteButton>
      <WriteButton scope="bess:write" disabled={!props.etag} onClick={() => setAsked('approve')}>
        Approve
      </WriteButton>
      {asked === 'approve' && <ApproveModal {...props} onClose={close} />}
      {asked === 'reject' && <RejectModal {...props} onClose={close} />}
    </Group>
  )
}

interface DecisionProps extends DecideProps {
  onClose: () => void
}

function ApproveModal({ schedule, etag, onClose }: DecisionProps) {
  const { site_id } = useSite()
  // The ETag of the plan that was shown when the dialog opened.
  const [seen] = useState(etag)
  const { schedule_id, bess_id, target_date, hours, totals } = schedule
  const same_day = useSchedules(bess_id, target_date).data?.data ?? []
  const next_day = useSchedules(bess_id, addDays(target_date, 1)).data?.data ?? []
  const replaced = same_day.find((one) => isInForce(one) && one.schedule_id !== schedule_id)
  const broken = handoverOf(schedule, next_day)
  const first = hours.find(({ locked, power_kw }) => !locked && power_kw !== 0)
  const approve = useWrite({
    write: (_: undefined, key) =>
      heliograph.bessScheduleApprove({
        site_id,
        schedule_id,
        'If-Match': seen,
        'Idempotency-Key': key,
      }),
    done: ({ broken_schedules: [first_broken] }: ApprovedBessSchedule) =>
      first_broken
        ? `Approved. Plan ${first_broken.schedule_id} of ${first_broken.target_date} must be created again.`
        : 'Plan approved',
    changes: ['bess'],
    onDone: onClose,
  })
  return (
    <Dialog
      title="Approve the plan"
      action="Approve"
      write={approve}
      problem={<Refused error={approve.error} onLooked={onClose} />}
      focus_cancel
      onAct={() => approve.run(undefined)}
      onClose={onClose}
    >
      <Text>
        The battery discharges {formatEnergy(totals.discharge_kwh)} and charges{' '}
        {formatEnergy(totals.charge_kwh)} on {target_date} (UTC). Expected revenue:{' '}
        <strong>{formatMoney(totals.expected_net_amount, totals.currency)}</strong>.
      </Text>
      {first ? (
        <Text>
          First {first.power_kw > 0 ? 'discharge' : 'charge'} at <Time at={first.start_at} /> or
          within the following hour.
          {replaced && ` Replaces the approved plan ${replaced.schedule_id}.`}
        </Text>
      ) : (
        <Text>The battery is idle in all remaining hours.</Text>
      )}
      {broken && (
        <Notice title={`Plan ${broken.schedule_id} of ${broken.target_date} must be created again`}>
          It is approved and starts at {formatNumber(broken.needs_pct)} % of charge, but this plan
          ends at {formatNumber(broken.ends_pct)} %, so it could not be carried out in full.
        </Notice>
      )}
      <Muted>
        Approval lifts no limit: cell limits, PCS limits, charge window and grid permit always
        apply.
      </Muted>
    </Dialog>
  )
}

function RejectModal({ schedule: { schedule_id }, etag, onClose }: DecisionProps) {
  const { site_id } = useSite()
  const [seen] = useState(etag)
  const [reason, setReason, draft] = useDraft(`reject ${schedule_id}`, '')
  const [fault, setFault] = useState<string | null>(null)
  const reject = useWrite({
    write: (text: string, key) =>
      heliograph.bessScheduleReject({
        site_id,
        schedule_id,
        reason: text,
        'If-Match': seen,
        'Idempotency-Key': key,
      }),
    done: 'Plan rejected',
    changes: ['bess'],
    draft,
    onDone: onClose,
  })
  const submit = () => {
    const text = reason.trim()
    if (text === '') setFault('Enter a reason.')
    else reject.run(text)
  }
  return (
    <Dialog
      title="Reject the plan"
      action="Reject"
      write={reject}
      draft={draft}
      problem={<Refused error={reject.error} onLooked={onClose} />}
      closeOnClickOutside={reason === ''}
      onAct={submit}
      onClose={onClose}
    >
      <Text>An approved plan of the day stays in force. Without one the battery is idle.</Text>
      <Textarea
        label="Reason"
        autosize
        minRows={2}
        maxLength={500}
        value={reason}
        error={fault}
        data-autofocus
        onChange={({ currentTarget }) => {
          setReason(currentTarget.value)
          setFault(null)
        }}
      />
    </Dialog>
  )
}

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
  bess_id: number
  day: string
  onClose: () => void
}

export function PlanModal({ bess_id, day, onClose }: PlanModalProps) {
  const { site_id } = useSite()
  const form = useForm<{ aim: Objective | 'idle'; soc_end_target_pct: number | string }>({
    initialValues: { aim: 'arbitrage', soc_end_target_pct: '' },
    validate: {
      soc_end_target_pct: (value) =>
        typeof value === 'number' && (value < 0 || value > 100) ? 'From 0 to 100 %.' : null,
    },
  })
  const draft = useFormDraft(`plan ${day}`, form)
  const plan = useWrite({
    write: ({ aim, soc_end_target_pct: end }: typeof form.values, key) => {
      const unit = { site_id, bess_id, target_date: day, 'Idempotency-Key': key }
      const target = typeof end === 'number' ? { soc_end_target_pct: end } : {}
      const wanted = aim === 'idle' ? { idle: true } : { objective: aim, ...target }
      return withFields(form, () => heliograph.bessOptimize({ ...unit, ...wanted }))
    },
    done: ({ totals }: BessSchedule) =>
      `Proposed: ${formatMoney(totals.expected_net_amount, totals.currency)} expected.`,
    changes: ['bess'],
    draft,
    onDone: onClose,
  })
  return (
    <Dialog
      title={`Plan ${day} (UTC)`}
      action="Create"
      write={plan}
      draft={draft}
      onSubmit={form.onSubmit(plan.run)}
      onClose={onClose}
    >
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
    </Dialog>
  )
}

interface HourModalProps {
  schedule: BessSchedule
  hour: ScheduleHour
  etag: string | undefined
  onClose: () => void
}

interface Revision {
  power_kw: number | string
  note: string
}

export function HourModal({ schedule, hour, etag, onClose }: HourModalProps) {
  // The ETag of the plan that was shown when the dialog opened.
  const [seen] = useState(etag)
  const { site_id, timezone } = useSite()
  const { schedule_id, totals } = schedule
  const form = useForm<Revision>({
    initialValues: { power_kw: hour.power_kw, note: hour.edit_note ?? '' },
    validate: { power_kw: (value) => faultOf(value, hour) },
  })
  const draft = useFormDraft(`hour ${schedule_id} ${hour.hour}`, form)
  const revise = useWrite({
    write: ({ power_kw, note }: Revision, key) =>
      withFields(form, () =>
        heliograph.bessScheduleHourRevise({
          site_id,
          schedule_id,
          hour: hour.hour,
          power_kw: Number(power_kw),
          'If-Match': seen,
          'Idempotency-Key': key,
          ...(note.trim() !== '' && { note: note.trim() }),
        }),
      ),
    done: (revised: BessSchedule) => outcomeOf(totals.expected_net_amount, revised),
    changes: ['bess'],
    draft,
    onDone: onClose,
  })
  const [start, end] = [hour.start_at, hour.end_at].map((at) => formatTime(at, timezone, 'time'))
  return (
    <Dialog
      title={`${start}–${end} local time`}
      action="Change hour"
      write={revise}
      draft={draft}
      problem={<Refused error={revise.error} onLooked={onClose} />}
      closeOnClickOutside={!form.isDirty()}
      disabled={isFixed(hour)}
      onSubmit={form.onSubmit(revise.run)}
      onClose={onClose}
    >
      <Facts hour={hour} currency={totals.currency} />
      <PowerFields form={form} hour={hour} />
      <TextInput label="Note (optional)" maxLength={500} {...form.getInputProps('note')} />
      {hour.original_power_kw !== null && (
        <Muted>Originally planned: {inSentence(powerWords(hour.original_power_kw))}.</Muted>
      )}
    </Dialog>
  )
}

/** The other hours leave no headroom to change this one. */
export const isFixed = ({ min_power_kw, max_power_kw }: ScheduleHour) =>
  max_power_kw - min_power_kw < 0.002

function PowerFields({ form, hour }: { form: UseFormReturnType<Revision>; hour: ScheduleHour }) {
  const { min_power_kw: min, max_power_kw: max } = hour
  const value = form.values.power_kw
  if (isFixed(hour)) {
    return (
      <Alert color="blue" role="status">
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
        description={`From ${leastOf(min)} to ${mostOf(max)}. Positive values discharge, negative values charge.`}
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

function faultOf(value: number | string, hour: ScheduleHour): string | null {
  const { min_power_kw: min, max_power_kw: max } = hour
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

interface RefusedProps {
  error: unknown
  /** Called after the present plan has been loaded. */
  onLooked: () => void
}

function Refused({ error, onLooked }: RefusedProps) {
  const queries = useQueryClient()
  if (error === null || error === undefined) return null
  // Errors of fields stand beside them.
  if (error instanceof HeliographError && error.violations.length > 0) return null
  const is_changed = isCode(error, 'precondition_failed')
  const conflict = isCode(error, 'conflict_state') ? error.details : null
  const state = conflict?.['current_state']
  const is_decided = typeof state === 'string' && decided.has(state)
  if (!is_changed && !is_decided) {
    return (
      <>
        <Failure error={error} />
        {conflict?.['remedy'] ? (
          <Text size="sm">{`${conflict['message']} ${conflict['remedy']}`}</Text>
        ) : null}
      </>
    )
  }
  const look = async () => {
    await queries.invalidateQueries({ queryKey: ['bess'] })
    onLooked()
  }
  return (
    <Notice title="The plan has changed">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {is_changed
            ? 'Somebody changed the plan, or an hour began. Your change was not applied.'
            : `The plan is now ${state}. Your change was not applied.`}
        </Text>
        <Button size="xs" variant="default" onClick={() => void look()}>
          Show present plan
        </Button>
      </Stack>
    </Notice>
  )
}

const decided = new Set([
  'approved',
  'dispatching',
  'completed',
  'failed',
  'rejected',
  'superseded',
  'expired',
])
