import { type BessSchedule, etagOf, type ScheduleHour } from '@heliograph/sdk'
import { Alert, Badge, Card, Group, List, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { lazy, Suspense, useCallback, useState } from 'react'
import { useMay, useRead } from '../../../queries.ts'
import { useSite } from '../../../shell/site-shell.tsx'
import { Figure } from '../../../ui/figure.tsx'
import { formatEnergy, formatMoney, formatNumber } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { Loading } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { inWords } from '../../../ui/words.ts'
import { live_ms } from '../battery/reads.ts'
import { progressWords, scheduleColors, scheduleWords } from '../battery/words.ts'
import { Decide } from './decide.tsx'
import { HourModal } from './hour-modal.tsx'
import { Hours } from './hours.tsx'

const DayChart = lazy(() => import('./day-chart.tsx'))

/** A plan with its totals. Hours of a proposed plan can be changed. */
export function ScheduleView({ site_id, listed }: { site_id: string; listed: BessSchedule }) {
  const may = useMay()
  const { commissioning_safe_mode } = useSite()
  const { schedule_id } = listed
  const { data } = useRead(
    'bess',
    'bessScheduleGet',
    { site_id, schedule_id },
    {
      refetchInterval: live_ms,
      // The ETag belongs to this very object: it must not be merged with the answer before.
      structuralSharing: false,
    },
  )
  const schedule = data ?? listed
  const etag = data && etagOf(data)
  const [hour, setHour] = useState<number | null>(null)
  const may_edit =
    schedule.status === 'proposed' && may('bess:write') && !commissioning_safe_mode && !!data
  const open = schedule.hours.find((one) => one.hour === hour)
  const pick = useCallback(
    (at_ms: number) => {
      const found = schedule.hours.find((one) => isAt(one, at_ms))
      if (found && may_edit && !found.locked) setHour(found.hour)
    },
    [schedule, may_edit],
  )
  return (
    <Stack>
      <Card withBorder padding="sm">
        <Group justify="space-between" align="flex-start">
          <Status schedule={schedule} />
          {schedule.status === 'proposed' && (
            <Decide site_id={site_id} schedule={schedule} etag={etag} />
          )}
        </Group>
      </Card>
      <Totals schedule={schedule} />
      <Violations schedule={schedule} />
      <Suspense fallback={<Loading />}>
        <DayChart schedule={schedule} onPick={pick} />
      </Suspense>
      {may_edit && (
        <Muted>
          Select an hour in the chart or in the table to change it. Start with late hours: energy
          that an hour no longer uses must be used later. The range shows the allowed values while
          other hours stay unchanged; a fixed hour has no headroom.
        </Muted>
      )}
      <Hours schedule={schedule} onEdit={may_edit ? setHour : null} />
      {open && may_edit && (
        <HourModal
          key={open.hour}
          {...{ site_id, schedule, hour: open, etag }}
          onClose={() => setHour(null)}
        />
      )}
    </Stack>
  )
}

const isAt = ({ start_at, end_at }: ScheduleHour, at_ms: number) =>
  Date.parse(start_at) <= at_ms && at_ms < Date.parse(end_at)

function Status({ schedule }: { schedule: BessSchedule }) {
  const { status, objective, created_at, created_by, approved_at, approved_by, inputs } = schedule
  const progress = progressWords(schedule)
  return (
    <Stack gap={2}>
      <Group gap="xs">
        <Title order={2} size="h4">
          Plan {schedule.schedule_id}
        </Title>
        <Badge color={scheduleColors[status] ?? 'gray'}>{scheduleWords(status)}</Badge>
        {schedule.edited && <Badge color="violet">Changed manually</Badge>}
      </Group>
      {progress && <Text size="sm">{progress}</Text>}
      <Text size="sm">
        {inWords(objective)}, proposed by {created_by} <Time at={created_at} />
        {approved_at && (
          <>
            ; approved by {approved_by} <Time at={approved_at} />
          </>
        )}
      </Text>
      <Muted>
        Prices of {inputs.market_code}: {priceWords[inputs.price_status]}. Starts at{' '}
        {formatNumber(inputs.soc_start_pct)} %,{' '}
        {inputs.soc_start_source === 'measured'
          ? 'as measured'
          : 'from the end of the previous plan'}
        .{inputs.efficiency_is_assumed && ' Assumed efficiency.'}
      </Muted>
    </Stack>
  )
}

const priceWords = {
  published: 'published',
  published_and_forecast: 'partly published, partly forecast',
  forecast: 'forecast',
  incomplete: 'incomplete; hours without a price stay idle',
}

function Totals({
  schedule: { totals, inputs, constraint_violations },
}: {
  schedule: BessSchedule
}) {
  const { currency, expected_net_amount: net } = totals
  const with_amount = totals.expected_connection_amount
  const without = totals.expected_without_battery_amount
  const money = (amount: number | null) => formatMoney(amount, currency)
  const cycles = formatNumber(totals.cycles, 2)
  const gain = with_amount === null || without === null ? null : with_amount - without
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="sm">
      <Figure
        label={constraint_violations.length > 0 ? 'Revenue, if feasible' : 'Expected revenue'}
        value={formatMoney(net, currency)}
        note={
          totals.expected_degradation_amount !== null &&
          `after ${formatMoney(totals.expected_degradation_amount, currency)} of degradation`
        }
        {...(net !== null && net < 0 && { tone: 'bad' as const })}
      />
      <Figure
        label="Gain over no battery"
        value={gain === null ? '–' : `${gain >= 0 ? '+' : ''}${formatMoney(gain, currency)}`}
        note={
          gain === null
            ? 'unknown without a plant forecast'
            : `${money(with_amount)} instead of ${money(without)}, without degradation`
        }
      />
      <Figure
        label="Energy"
        value={`${formatEnergy(totals.discharge_kwh)} discharged`}
        note={`${formatEnergy(totals.charge_kwh)} charged, ${cycles} full cycles`}
      />
      <Figure
        label="State of charge"
        value={`${formatNumber(totals.soc_min_pct, 0)}–${formatNumber(totals.soc_max_pct, 0)} %`}
        note={
          inputs.soc_end_target_pct !== null &&
          `at least ${formatNumber(inputs.soc_end_target_pct)} % at the end`
        }
      />
    </SimpleGrid>
  )
}

function Violations({ schedule }: { schedule: BessSchedule }) {
  const { constraint_violations: found } = schedule
  if (found.length === 0) return null
  return (
    <Alert color="red" variant="outline" title="This plan is not feasible" role="status">
      <List size="sm">
        {found.map(({ constraint, hour, message }) => (
          <List.Item key={`${constraint} ${hour}`}>{message}</List.Item>
        ))}
      </List>
      The edge enforces the limits in any case.
    </Alert>
  )
}
