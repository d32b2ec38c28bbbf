/** Sets a limit: first the fields, then a summary with effect and cost, from which it is sent. */
import {
  type CurtailmentGroup,
  type CurtailmentRow,
  type CurtailmentSuggestion,
  isCode,
} from '@heliograph/sdk'
import { Button, Group, Loader, NativeSelect, Stack, Text } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useMediaQuery } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { heliograph } from '../../../api.ts'
import { useSite } from '../../../queries.ts'
import { column, DataTable, numeric, tableOf } from '../../../ui/data-table.tsx'
import { useDevices } from '../../../ui/devices.tsx'
import { type Draft, useFormDraft } from '../../../ui/draft.ts'
import { DateField, NumberField } from '../../../ui/fields.tsx'
import { ChoiceField } from '../../../ui/filters.tsx'
import { DraftNotice, Modal } from '../../../ui/form.tsx'
import { formatEnergy, formatMoney, formatNumber, formatPower, sumAll } from '../../../ui/format.ts'
import { Muted, Notice, Time } from '../../../ui/page.tsx'
import { clockAt, type Span } from '../../../ui/site-clock.ts'
import { Failure } from '../../../ui/states.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import { type Allowed, allowedOf, curtailedBy, dayHoursOf, type Plant } from './limits.ts'
import { useWarnings } from './reads.ts'
import { durations, faultsOf, newLimit, type RequestedLimit, spanOf } from './requested-limit.ts'
import { instantOfEnd } from './rows.ts'
import { PeakSuggestion, useSuggested } from './suggestions.tsx'
import { plantWarnings } from './warnings.ts'

interface LimitModalProps {
  plants: readonly Plant[]
  requested: Partial<RequestedLimit>
  /** Undefined when unknown. */
  rows: readonly CurtailmentRow[] | undefined
  onClose: () => void
  onMade: (group: CurtailmentGroup) => void
}

export function LimitModal({ plants, requested, rows, onClose, onMade }: LimitModalProps) {
  const { site_id, timezone } = useSite()
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
    write: (asked: Sent, idempotency_key) => send(site_id, asked, idempotency_key),
    done: 'Limit recorded. See its progress below.',
    changes: ['curtailment'],
    draft,
    onDone: (group: CurtailmentGroup) => {
      onMade(group)
      onClose()
    },
  })
  const chosen = plants.filter(
    ({ logger_id }) => values.where === 'site' || values.where === String(logger_id),
  )
  return (
    <Modal
      onClose={onClose}
      title={reviewed_at_ms === null ? 'Limit output' : 'Review limit'}
      size="lg"
      fullScreen={is_phone ?? false}
      closeOnClickOutside={false}
    >
      {span === null || typeof values.limit_value !== 'number' ? (
        <LimitFields
          form={form}
          draft={draft}
          plants={plants}
          chosen={chosen}
          onDone={() => setReviewedAt(Date.now())}
        />
      ) : (
        <LimitConfirm
          requested={values}
          allowed={allowedOf(chosen, { ...values, limit_value: values.limit_value })}
          span={span}
          rows={rows}
          write={create}
          onSend={() => create.run({ requested: values, span })}
          onBack={() => {
            create.reset()
            setReviewedAt(null)
          }}
        />
      )}
    </Modal>
  )
}

interface Sent {
  requested: RequestedLimit
  /** Span that was reviewed, so that a retry sends the same command. */
  span: Span
}

function send(site_id: string, { requested, span }: Sent, key: string) {
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

interface FormProps {
  form: UseFormReturnType<RequestedLimit>
}

interface LimitFieldsProps extends FormProps {
  draft: Draft
  plants: readonly Plant[]
  chosen: readonly Plant[]
  onDone: () => void
}

function LimitFields({ form, draft, plants, chosen, onDone }: LimitFieldsProps) {
  const { timezone } = useSite()
  const { values } = form
  const { limit_value, limit_mode, where } = values
  const span = spanOf(values, timezone, Date.now())
  const rated_kw = chosen.reduce((sum, plant) => sum + plant.rated_power_kw, 0)
  const is_idle = limit_mode === 'kw' && typeof limit_value === 'number' && limit_value >= rated_kw
  return (
    <form onSubmit={form.onSubmit(onDone)} noValidate>
      <Stack>
        <DraftNotice {...draft} />
        <NativeSelect
          label="Apply to"
          data={[
            { value: 'site', label: `Whole site (${plants.length} plants)` },
            ...plants.map(({ logger_id, name, rated_power_kw }) => ({
              value: String(logger_id),
              label: `${name} (${formatPower(rated_power_kw)} rated)`,
            })),
          ]}
          {...form.getInputProps('where')}
        />
        <AmountFields form={form} rated_kw={rated_kw} />
        <TimeFields form={form} />
        {where !== 'site' && span && (
          <PeakSuggestion
            logger_id={Number(where)}
            span={span}
            onTake={(limit_pct) =>
              form.setValues({ limit_mode: 'percent', limit_value: limit_pct })
            }
          />
        )}
        {typeof limit_value === 'number' && limit_value >= 0 && (
          <AllowedList allowed={allowedOf(chosen, { limit_mode, limit_value })} />
        )}
        {is_idle && <Notice>The value is the rated power or more, so it has no effect.</Notice>}
        <Group justify="flex-end">
          <Button type="submit">Review</Button>
        </Group>
      </Stack>
    </form>
  )
}

function AmountFields({ form, rated_kw }: FormProps & { rated_kw: number }) {
  const { limit_mode, where } = form.values
  const is_percent = limit_mode === 'percent'
  const of_what = where === 'site' ? 'of the rated power of each plant' : 'of rated power'
  const shared = where === 'site' ? ', shared by rated power' : ''
  return (
    <Group align="flex-start" grow wrap="wrap" preventGrowOverflow={false}>
      <ChoiceField
        label="Unit"
        choices={{ percent: 'Percent', kw: 'kW' }}
        {...form.getInputProps('limit_mode')}
      />
      <NumberField
        hideControls={false}
        label="Limit"
        description={is_percent ? of_what : `of ${formatPower(rated_kw)}${shared}`}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        suffix={is_percent ? ' %' : ' kW'}
        min={0}
        max={is_percent ? 100 : undefined}
        step={is_percent ? 5 : 10}
        decimalScale={3}
        data-autofocus
        {...form.getInputProps('limit_value')}
      />
    </Group>
  )
}

function TimeFields({ form }: FormProps) {
  const { timezone } = useSite()
  const { begins, duration } = form.values
  const offered = durations.filter(({ value }) => value !== 'open' || begins === 'now')
  return (
    <>
      <ChoiceField
        label="Start"
        choices={{ now: 'Now', later: 'Later' }}
        {...form.getInputProps('begins')}
        onChange={(value) => {
          form.setFieldValue('begins', value)
          if (value === 'later' && duration === 'open') form.setFieldValue('duration', '60')
        }}
      />
      {begins === 'later' && <DateField with_time label="From" {...form.getInputProps('start')} />}
      <NativeSelect label="Duration" data={offered} {...form.getInputProps('duration')} />
      {duration === 'until' && <DateField with_time label="Until" {...form.getInputProps('end')} />}
      <Muted>Times are local times of the site ({timezone}).</Muted>
    </>
  )
}

interface LimitConfirmProps {
  requested: RequestedLimit
  span: Span
  allowed: readonly Allowed[]
  rows: readonly CurtailmentRow[] | undefined
  write: { is_pending: boolean; error: unknown }
  onSend: () => void
  onBack: () => void
}

function LimitConfirm(props: LimitConfirmProps) {
  const { requested, span, allowed, rows, write, onSend, onBack } = props
  const others = (rows ?? []).filter(
    (row) =>
      row.status !== 'releasing' &&
      allowed.some(({ logger_id }) => logger_id === row.logger_id) &&
      Date.parse(row.start_at) < span.end_ms &&
      instantOfEnd(row.end_at) > span.start_ms,
  )
  // The pressed button is gone: screen readers continue with the summary.
  const summary = useRef<HTMLParagraphElement>(null)
  useEffect(() => summary.current?.focus(), [])
  return (
    <Stack>
      <Text ref={summary} tabIndex={-1}>
        <When requested={requested} span={span} /> <What allowed={allowed} />
      </Text>
      <AllowedList allowed={allowed} />
      {requested.begins === 'now' && <Effect allowed={allowed} />}
      <CostLine
        allowed={allowed}
        span={span}
        others={others}
        is_open={requested.duration === 'open'}
      />
      <PlantWarnings requested={requested} span={span} />
      {!rows && (
        <Notice>Other limits could not be read, so their curtailment is included here.</Notice>
      )}
      {others.length > 0 && (
        <Notice>
          Another limit overlaps. The lowest limit applies; curtailment by the other limit is not
          counted here.
        </Notice>
      )}
      <Muted>The limit can be released at any time. The grid permit always applies.</Muted>
      <Unsent error={write.error} />
      <Group justify="space-between">
        <Button variant="default" onClick={onBack} disabled={write.is_pending}>
          Back
        </Button>
        {/* Ignores the second click of a double click on the previous button. */}
        <Button onClick={({ detail }) => detail < 2 && onSend()} loading={write.is_pending}>
          {requested.begins === 'now' ? 'Limit now' : 'Schedule limit'}
        </Button>
      </Group>
    </Stack>
  )
}

function PlantWarnings({ requested, span }: Sent) {
  const { plantName } = useDevices()
  const { data, isError } = useWarnings(requested, span)
  if (isError) return <Notice>Warnings about the plants could not be read.</Notice>
  return plantWarnings(data?.warnings ?? [], plantName).map((text) => (
    <Notice key={text}>{text}</Notice>
  ))
}

function Unsent({ error }: { error: unknown }) {
  if (error === null) return null
  if (!isCode(error, 'network_error')) return <Failure error={error} />
  return (
    <Notice title="The server cannot be reached">
      It is unknown whether the limit was received. Send it again: it is applied only once.
    </Notice>
  )
}

function When({ requested: { begins, duration }, span }: Sent) {
  const until = <Time at={new Date(span.end_ms).toISOString()} />
  const length = durations.find(({ value }) => value === duration)?.label
  if (duration === 'open') return <>From now until released, {until} at the latest,</>
  return (
    <>
      From {begins === 'now' ? 'now' : <Time at={new Date(span.start_ms).toISOString()} />} until{' '}
      {until}
      {duration !== 'until' && ` (${length})`},
    </>
  )
}

interface WithAllowed {
  allowed: readonly Allowed[]
}

function What({ allowed }: WithAllowed) {
  const sum_kw = allowed.reduce((sum, { allowed_kw }) => sum + allowed_kw, 0)
  const [only] = allowed
  return (
    <>
      {allowed.length === 1 && only
        ? `${only.name} delivers `
        : `all ${allowed.length} plants together deliver `}
      <strong>at most {formatPower(sum_kw)}</strong>.
    </>
  )
}

function Effect({ allowed }: WithAllowed) {
  if (allowed.some(({ power_kw }) => power_kw === null)) {
    return <Text>Present power is unknown.</Text>
  }
  const fall_kw = allowed.reduce(
    (sum, { power_kw, allowed_kw }) => sum + Math.max(0, (power_kw ?? 0) - allowed_kw),
    0,
  )
  return (
    <Text>
      {fall_kw < 0.05
        ? 'Output is below the limit now.'
        : `Output drops by about ${formatPower(fall_kw)} within seconds.`}
    </Text>
  )
}

const table = tableOf<Allowed>('Limit of each plant', 360, 'logger_id', [
  column('Plant', ({ name }) => name),
  numeric('Limit', ({ allowed_kw }) => allowed_kw, formatPower),
  numeric('Of rated power', ({ allowed_kw, rated_power_kw }) => {
    const share_pct = (allowed_kw / rated_power_kw) * 100
    return `${formatNumber(share_pct)} % of ${formatPower(rated_power_kw)}`
  }),
  numeric('Power now', ({ power_kw }) => power_kw, formatPower),
])

const AllowedList = ({ allowed }: WithAllowed) => <DataTable {...table} rows={allowed} />

const plants_max = 24
const open_ms = 24 * 3_600_000

interface CostLineProps extends WithAllowed {
  span: Span
  is_open: boolean
  /** Other limits of the same plants in that time. */
  others: readonly CurtailmentRow[]
}

/** Expected energy and revenue that a limit costs, beyond other limits. */
function CostLine({ allowed, span, is_open, others }: CostLineProps) {
  const { timezone } = useSite()
  const counted = is_open ? { ...span, end_ms: span.start_ms + open_ms } : span
  const days = dayHoursOf(counted, timezone)
  const { answers, is_pending } = useSuggested(
    allowed.length > plants_max ? [] : allowed,
    days,
    300_000,
  )
  if (allowed.length > plants_max) return <Text>Cost unknown: too many plants to estimate.</Text>
  if (is_pending) {
    return (
      <Text role="status">
        <Loader size="xs" /> Estimating the cost…
      </Text>
    )
  }
  const { energy_kwh, amount, currency, notes } = costOf(answers, allowed, counted, others)
  if (energy_kwh === null) {
    return <Text>Cost unknown: no forecast covers the whole period.</Text>
  }
  return (
    <Text>
      Expected curtailment{is_open && ' in the first 24 hours'}:{' '}
      <strong>{formatEnergy(energy_kwh)}</strong>
      {others.length > 0 && ' in addition to other limits'}.{' '}
      <Money amount={amount} currency={currency} energy_kwh={energy_kwh} />
      {notes.length > 0 && (
        <Text span size="sm" c="dimmed">
          {' '}
          ({notes.join('; ')})
        </Text>
      )}
    </Text>
  )
}

interface Cost {
  amount: number | null
  currency: string | null
  energy_kwh: number
}

function Money({ amount, currency, energy_kwh }: Cost) {
  if (energy_kwh < 0.05) return 'No cost expected.'
  if (amount === null || currency === null) return 'Revenue unknown.'
  if (amount < 0) return `Saves about ${formatMoney(-amount, currency)}.`
  return (
    <>
      Costs about <strong>{formatMoney(amount, currency)}</strong>.
    </>
  )
}

function costOf(
  answers: readonly CurtailmentSuggestion[],
  allowed: readonly Allowed[],
  span: Span,
  others: readonly CurtailmentRow[],
) {
  const ofPlant = (id: number) => (one: { logger_id: number | null }) => one.logger_id === id
  const curtailed = allowed.map(({ logger_id, allowed_kw }) =>
    curtailedBy(
      answers.filter(ofPlant(logger_id)).flatMap(({ hours }) => hours),
      allowed_kw,
      span,
      others.filter(ofPlant(logger_id)).map(({ start_at, end_at, max_power_kw }) => ({
        start_ms: Date.parse(start_at),
        end_ms: instantOfEnd(end_at),
        max_power_kw,
      })),
    ),
  )
  const currencies = new Set(answers.map(({ currency }) => currency))
  const notes = [
    answers.some(({ basis }) => basis === 'clear_sky') &&
      'based on a clear sky, without a forecast',
    answers.some(({ price_basis }) => price_basis === 'price_forecast') &&
      'partly at forecast prices',
  ].filter(Boolean)
  return {
    energy_kwh: sumAll(curtailed.map(({ energy_kwh }) => energy_kwh)),
    amount: currencies.size === 1 ? sumAll(curtailed.map(({ amount }) => amount)) : null,
    currency: currencies.size === 1 ? ([...currencies][0] ?? null) : null,
    notes,
  }
}
