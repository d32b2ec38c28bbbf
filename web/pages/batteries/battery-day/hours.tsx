import type { BessSchedule, ScheduleHour } from '@heliograph/sdk'
import { Badge, Button, Text } from '@mantine/core'
import { useSite } from '../../../shell/site-shell.tsx'
import { type Column, DataTable, numeric } from '../../../ui/data-table.tsx'
import {
  formatMoney,
  formatNumber,
  formatPower,
  formatQuantity,
  formatTime,
} from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { Time } from '../../../ui/time.tsx'
import { powerWords } from '../battery/words.ts'

interface HoursProps {
  schedule: BessSchedule
  /** Null when the hours are read-only. */
  onEdit: ((hour: number) => void) | null
}

export function Hours({ schedule, onEdit }: HoursProps) {
  const columns = useColumns(schedule, onEdit)
  const rows = schedule.hours.filter((hour) => !isBlank(hour))
  const blank = schedule.hours.length - rows.length
  return (
    <>
      <DataTable
        label="Hours of the plan"
        width={720}
        {...{ columns, rows }}
        keyOf={({ hour }) => hour}
      />
      {blank > 0 && (
        <Muted>{`${blank === 1 ? '1 past hour' : `${blank} past hours`} without a plan`}</Muted>
      )}
    </>
  )
}

/** The other hours leave no headroom to change this one. */
const isFixed = ({ min_power_kw, max_power_kw }: ScheduleHour) =>
  max_power_kw - min_power_kw < 0.002

function rangeWords(hour: ScheduleHour): string {
  if (hour.locked) return 'Past or running'
  if (isFixed(hour)) return 'Fixed'
  return `${formatNumber(hour.min_power_kw, 0)} to ${formatPower(hour.max_power_kw)}`
}

/** Past before there was a plan. Such an hour must not read as planned idle. */
const isUnplanned = ({ locked, power_kw, soc_end_pct }: ScheduleHour) =>
  locked && power_kw === 0 && soc_end_pct === null

const isBlank = (hour: ScheduleHour) => isUnplanned(hour) && hour.actual_power_kw === null

function useColumns({ hours, status, totals }: BessSchedule, onEdit: HoursProps['onEdit']) {
  const { timezone } = useSite()
  const { currency } = totals
  const columns: Column<ScheduleHour>[] = [
    {
      name: 'Hour',
      cell: ({ start_at, end_at }) => (
        <>
          <Time at={start_at} style="time" />–<Time at={end_at} style="time" />
        </>
      ),
    },
    { name: 'Plan', cell: (hour) => <Planned hour={hour} /> },
    numeric('Price', ({ price_per_mwh, price_status }) => (
      <>
        {price_per_mwh === null ? '–' : `${formatMoney(price_per_mwh, currency)}/MWh`}
        {price_status !== null && price_status !== 'published' && <Muted>forecast</Muted>}
      </>
    )),
    numeric('Charge after', ({ soc_end_pct }) => formatQuantity(soc_end_pct, '%')),
    numeric('Revenue', ({ expected_amount }) =>
      expected_amount === 0 ? '–' : formatMoney(expected_amount, currency),
    ),
  ]
  if (onEdit) {
    columns.splice(2, 0, {
      name: '',
      cell: (hour) =>
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
    })
  }
  if (status === 'proposed') columns.splice(-2, 0, numeric('Range', rangeWords))
  if (hours.some(({ actual_power_kw }) => actual_power_kw !== null)) {
    columns.push(numeric('Actual', ({ actual_power_kw }) => formatPower(actual_power_kw)))
  }
  return columns
}

function Planned({ hour }: { hour: ScheduleHour }) {
  const is_idle = hour.power_kw === 0
  return (
    <>
      <Text c={is_idle ? 'dimmed' : undefined} fw={is_idle ? 400 : 600} size="sm">
        {isUnplanned(hour) ? 'No plan' : powerWords(hour.power_kw)}
      </Text>
      <Quarters hour={hour} />
      {hour.edited && (
        <Badge color="violet" title={hour.edit_note ?? undefined}>
          by {hour.edited_by}
        </Badge>
      )}
    </>
  )
}

/** Shown only when the quarters differ: the mean of the hour hides that. */
function Quarters({ hour: { quarter_power_kw: quarters } }: { hour: ScheduleHour }) {
  if (!quarters || new Set(quarters).size < 2) return null
  return <Muted>quarters {quarters.map((kw) => formatNumber(kw, 0)).join(' · ')} kW</Muted>
}
