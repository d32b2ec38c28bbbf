import { Button, Group, Input, NativeSelect, SegmentedControl, Stack } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useSite } from '../../../shell/site-shell.tsx'
import { DateField } from '../../../ui/date-field.tsx'
import type { Draft } from '../../../ui/draft.ts'
import { DraftNotice } from '../../../ui/draft-notice.tsx'
import { formatPower } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { NumberField } from '../../../ui/number-field.tsx'
import { AllowedList } from './limit-confirm.tsx'
import { allowedOf, type Plant } from './limits.ts'
import { durations, type RequestedLimit, spanOf } from './requested-limit.ts'
import { PeakSuggestion } from './suggestions.tsx'

interface LimitFieldsProps {
  site_id: string
  form: UseFormReturnType<RequestedLimit>
  draft: Draft
  plants: readonly Plant[]
  chosen: readonly Plant[]
  onDone: () => void
}

export function LimitFields(props: LimitFieldsProps) {
  const { site_id, form, draft, plants, chosen, onDone } = props
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
        <TimeFields form={form} timezone={timezone} />
        {where !== 'site' && span && (
          <PeakSuggestion
            site_id={site_id}
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

function AmountFields({
  form,
  rated_kw,
}: {
  form: UseFormReturnType<RequestedLimit>
  rated_kw: number
}) {
  const { limit_mode, where } = form.values
  const is_percent = limit_mode === 'percent'
  const of_what = where === 'site' ? 'of the rated power of each plant' : 'of rated power'
  const shared = where === 'site' ? ', shared by rated power' : ''
  return (
    <Group align="flex-start" grow wrap="wrap" preventGrowOverflow={false}>
      <Input.Wrapper label="Unit" labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label="Unit"
          data={[
            { value: 'percent', label: 'Percent' },
            { value: 'kw', label: 'kW' },
          ]}
          {...form.getInputProps('limit_mode')}
        />
      </Input.Wrapper>
      <NumberField
        hideControls={false}
        label="Limit"
        description={is_percent ? of_what : `of ${formatPower(rated_kw)}${shared}`}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        suffix={is_percent ? ' %' : ' kW'}
        min={0}
        {...(is_percent && { max: 100 })}
        step={is_percent ? 5 : 10}
        decimalScale={3}
        data-autofocus
        {...form.getInputProps('limit_value')}
      />
    </Group>
  )
}

function TimeFields({
  form,
  timezone,
}: {
  form: UseFormReturnType<RequestedLimit>
  timezone: string
}) {
  const { begins, duration } = form.values
  const offered = durations.filter(({ value }) => value !== 'open' || begins === 'now')
  return (
    <>
      <Input.Wrapper label="Start" labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label="Start"
          data={[
            { value: 'now', label: 'Now' },
            { value: 'later', label: 'Later' },
          ]}
          {...form.getInputProps('begins')}
          onChange={(value) => {
            form.setFieldValue('begins', value as RequestedLimit['begins'])
            if (value === 'later' && duration === 'open') form.setFieldValue('duration', '60')
          }}
        />
      </Input.Wrapper>
      {begins === 'later' && <DateField with_time label="From" {...form.getInputProps('start')} />}
      <NativeSelect label="Duration" data={offered} {...form.getInputProps('duration')} />
      {duration === 'until' && <DateField with_time label="Until" {...form.getInputProps('end')} />}
      <Muted>Times are local times of the site ({timezone}).</Muted>
    </>
  )
}
