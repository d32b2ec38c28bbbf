import { type BessSchedule, etagOf, type ScheduleHour } from '@heliograph/sdk'
import { Alert, Badge, Button, Card, Group, List, SimpleGrid, Stack, Text } from '@mantine/core'
import { useCallback, useState } from 'react'
import { useMay, useRead, useSite } from '../../../queries.ts'
import { type Column, column, DataTable, numeric } from '../../../ui/data-table.tsx'
import {
  formatEnergy,
  formatMoney,
  formatNumber,
  formatPower,
  formatTime,
  inUnit,
  inWords,
  none,
} from '../../../ui/format.ts'
import { loaded } from '../../../ui/lazy-chart.tsx'
import { figures, Heading, Muted, noted, Time } from '../../../ui/page.tsx'
import { lastsAt } from '../../../ui/site-clock.ts'
import { live_ms, ScheduleBadge } from '../battery/shared.tsx'
import { powerWords, progressWords } from '../battery/words.ts'
import { Decide, HourModal, isFixed } from './dialogs.tsx'

const DayChart = loaded(() => import('./day-chart.tsx'))

export function ScheduleView({ listed }: { listed: BessSchedule }) {
  const may = useMay()
  const { commissioning_safe_mode } = useSite()
  const { schedule_id } = listed
  // The ETag belongs to this very object: it must not be merged with the answer before.
  const options = { refetchInterval: live_ms, structuralSharing: false }
  const { data } = useRead('bess', 'bessScheduleGet', { schedule_id }, options)
  const schedule = data ?? listed
  const etag = data && etagOf(data)
  const [hour, setHour] = useState<number | null>(null)
  const is_proposed = schedule.status === 'proposed'
  const may_edit = is_proposed && may('bess:write') && !commissioning_safe_mode && !!data
  const open = schedule.hours.find((one) => one.hour === hour)
  const pick = useCallback(
    (at_ms: number) => {
      const found = schedule.hours.find(lastsAt(at_ms))
      if (found && may_edit && !found.locked) setHour(found.hour)
    },
    [schedule, may_edit],
  )
  return (
    <Stack>
      <Card padding="sm">
        <Group justify="space-between" align="flex-start">
          <Status schedule={schedule} />
          {is_proposed && <Decide schedule={schedule} etag={etag} />}
        </Group>
      </Card>
      <Totals schedule={schedule} />
      <Violations schedule={schedule} />
      <DayChart schedule={schedule} onPick={pick} />
      {may_edit && (
        <Muted>
          Select an hour in the chart or in the table to change it. Start with late hours: energy
          that an hour no longer uses must be used later. The range shows the allowed values while
          other hours stay unchanged; a fixed hour has no headroom.
        </Muted>
      )}
      <HourTable schedule={schedule} onEdit={may_edit ? setHour : null} />
      {open && may_edit && (
        <HourModal
          key={open.hour}
          schedule={schedule}
          hour={open}
          etag={etag}
          onClose={() => setHour(null)}
        />
      )}
    </Stack>
  )
}

function Status({ schedule }: { schedule: BessSchedule }) {
  const { objective, created_at, created_by, approved_at, approved_by, inputs } = schedule
  const progress = progressWords(schedule)
  return (
    <Stack gap={2}>
      <Group gap="xs">
        <Heading>Plan {schedule.schedule_id}</Heading>
        <ScheduleBadge status={schedule.status} />
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

function Totals({ schedule: { totals, inputs, constraint_violations } }: WithSchedule) {
  const { currency, expected_net_amount: net } = totals
  const with_amount = totals.expected_connection_amount
  const without = totals.expected_without_battery_amount
  const money = (amount: number | null) => formatMoney(amount, currency)
  const cycles = formatNumber(totals.cycles, 2)
  const gain = with_amount === null || without === null ? null : with_amount - without
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="sm">
      {figures([
        [
          constraint_violations.length > 0 ? 'Revenue, if feasible' : 'Expected revenue',
          money(net),
          totals.expected_degradation_amount !== null &&
            `after ${money(totals.expected_degradation_amount)} of degradation`,
          net !== null && net < 0 && 'bad',
        ],
        [
          'Gain over no battery',
          gain === null ? none : `${gain >= 0 ? '+' : ''}${money(gain)}`,
          gain === null
            ? 'unknown without a plant forecast'
            : `${money(with_amount)} instead of ${money(without)}, without degradation`,
        ],
        [
          'Energy',
          `${formatEnergy(totals.discharge_kwh)} discharged`,
          `${formatEnergy(totals.charge_kwh)} charged, ${cycles} full cycles`,
        ],
        [
          'State of charge',
          `${formatNumber(totals.soc_min_pct, 0)}–${formatNumber(totals.soc_max_pct, 0)} %`,
          inputs.soc_end_target_pct !== null &&
            `at least ${formatNumber(inputs.soc_end_target_pct)} % at the end`,
        ],
      ])}
    </SimpleGrid>
  )
}

interface WithSchedule {
  schedule: BessSchedule
}

function Violations({ schedule: { constraint_violations: found } }: WithSchedule) {
  if (found.length === 0) return null
  return (
    <Alert color="red" title="This plan is not feasible" role="status">
      <List size="sm">
        {found.map(({ constraint, hour, message }) => (
          <List.Item key={`${constraint} ${hour}`}>{message}</List.Item>
        ))}
      </List>
      The edge enforces the limits in any case.
    </Alert>
  )
}

interface HourTableProps extends WithSchedule {
  /** Null when the hours are read-only. */
  onEdit: ((hour: number) => void) | null
}

function HourTable({ schedule, onEdit }: HourTableProps) {
  const columns = useColumns(schedule, onEdit)
  const rows = schedule.hours.filter((hour) => !isBlank(hour))
  const blank = schedule.hours.length - rows.length
  return (
    <>
      <DataTable label="Hours of the plan" width={720} columns={columns} rows={rows} by="hour" />
      {blank > 0 && (
        <Muted>{`${blank === 1 ? '1 past hour' : `${blank} past hours`} without a plan`}</Muted>
      )}
    </>
  )
}

function rangeWords(hour: ScheduleHour): string {
  if (hour.locked) return 'Past or running'
  if (isFixed(hour)) return 'Fixed'
  return `${formatNumber(hour.min_power_kw, 0)} to ${formatPower(hour.max_power_kw)}`
}

/** Past before there was a plan. Such an hour must not read as planned idle. */
const isUnplanned = ({ locked, power_kw, soc_end_pct }: ScheduleHour) =>
  locked && power_kw === 0 && soc_end_pct === null

const isBlank = (hour: ScheduleHour) => isUnplanned(hour) && hour.actual_power_kw === null

/** `13:00–14:00`. */
export const Hours = ({ start_at, end_at }: { start_at: string; end_at: string }) => (
  <>
    <Time at={start_at} style="time" />–<Time at={end_at} style="time" />
  </>
)

function useColumns({ hours, status, totals }: BessSchedule, onEdit: HourTableProps['onEdit']) {
  const { timezone } = useSite()
  const { currency } = totals
  const columns: Column<ScheduleHour>[] = [
    column('Hour', Hours),
    column('Plan', (hour) => <Planned hour={hour} />),
    numeric('Price', ({ price_per_mwh: price, price_status }) =>
      noted(
        price === null ? none : `${formatMoney(price, currency)}/MWh`,
        price_status !== null && price_status !== 'published' && 'forecast',
      ),
    ),
    numeric('Charge after', ({ soc_end_pct }) => soc_end_pct, inUnit('%')),
    numeric('Revenue', ({ expected_amount }) =>
      expected_amount === 0 ? none : formatMoney(expected_amount, currency),
    ),
  ]
  if (onEdit) {
    columns.splice(
      2,
      0,
      column(
        '',
        (hour) =>
          !hour.locked &&
          !isFixed(hour) && (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => onEdit(hour.hour)}
              aria-label={`Change ${formatTime(hour.start_at, timezone, 'time')}`}
            >
              Change
            </Button>
          ),
      ),
    )
  }
  if (status === 'proposed') columns.splice(-2, 0, numeric('Range', rangeWords))
  if (hours.some(({ actual_power_kw }) => actual_power_kw !== null)) {
    columns.push(numeric('Actual', ({ actual_power_kw }) => actual_power_kw, formatPower))
  }
  return columns
}

function Planned({ hour }: { hour: ScheduleHour }) {
  const { power_kw, quarter_power_kw: quarters } = hour
  const is_idle = power_kw === 0
  return (
    <>
      <Text c={is_idle ? 'dimmed' : undefined} fw={is_idle ? 400 : 600} size="sm">
        {isUnplanned(hour) ? 'No plan' : powerWords(power_kw)}
      </Text>
      {/* Only when the quarters differ: the mean of the hour hides that. */}
      {quarters && new Set(quarters).size > 1 && (
        <Muted>quarters {quarters.map((kw) => formatNumber(kw, 0)).join(' · ')} kW</Muted>
      )}
      {hour.edited && (
        <Badge color="violet" title={hour.edit_note ?? undefined}>
          by {hour.edited_by}
        </Badge>
      )}
    </>
  )
}
