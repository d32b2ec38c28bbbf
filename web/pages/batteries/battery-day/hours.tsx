import type { BessSchedule, ScheduleHour } from '@heliograph/sdk'
import { Badge, Button, Table, Text, VisuallyHidden } from '@mantine/core'
import { useSite } from '../../../shell/site-shell.tsx'
import { formatMoney, formatNumber, formatPower, formatTime } from '../../../ui/format.ts'
import { Time } from '../../../ui/time.tsx'
import { powerWords } from '../battery/words.ts'

interface HoursProps {
  schedule: BessSchedule
  /** Null: the hours are not to be changed. */
  onEdit: ((hour: number) => void) | null
}

const columns = ['Price', 'Band', 'Charge after', 'Earns', 'Was']

export function Hours({ schedule, onEdit }: HoursProps) {
  const has_actual = schedule.hours.some(({ actual_power_kw }) => actual_power_kw !== null)
  const is_open = schedule.status === 'proposed'
  const shown = columns.filter(
    (name) => (name !== 'Was' || has_actual) && (name !== 'Band' || is_open),
  )
  const told = schedule.hours.filter((hour) => !isUntold(hour))
  const untold = schedule.hours.length - told.length
  return (
    <>
      <Table.ScrollContainer
        minWidth={720}
        scrollAreaProps={{ viewportProps: { tabIndex: 0, 'aria-label': 'Hours of the plan' } }}
      >
        <Table verticalSpacing={6} highlightOnHover={onEdit !== null}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Hour</Table.Th>
              <Table.Th>Plan</Table.Th>
              {onEdit && (
                <Table.Th>
                  <VisuallyHidden>Change</VisuallyHidden>
                </Table.Th>
              )}
              {shown.map((name) => (
                <Table.Th key={name} ta="right">
                  {name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody className="figure">
            {told.map((hour) => (
              <Row
                key={hour.hour}
                {...{ hour, onEdit, has_actual, is_open }}
                currency={schedule.totals.currency}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {untold > 0 && (
        <Text size="sm" c="dimmed">
          {untold === 1 ? 'One hour is' : `${untold} hours are`} over without a plan.
        </Text>
      )}
    </>
  )
}

/** The other hours leave it no room. */
const isFixed = ({ min_power_kw, max_power_kw }: ScheduleHour) =>
  max_power_kw - min_power_kw < 0.002

function bandWords(hour: ScheduleHour): string {
  if (hour.locked) return 'over or running'
  if (isFixed(hour)) return 'as it is'
  return `${formatNumber(hour.min_power_kw, 0)} to ${formatPower(hour.max_power_kw)}`
}

/** Over before there was a plan: idle would say that one had wanted so. */
const isUnplanned = ({ locked, power_kw, soc_end_pct }: ScheduleHour) =>
  locked && power_kw === 0 && soc_end_pct === null

const isUntold = (hour: ScheduleHour) => isUnplanned(hour) && hour.actual_power_kw === null

interface RowProps {
  hour: ScheduleHour
  currency: string
  has_actual: boolean
  is_open: boolean
  onEdit: HoursProps['onEdit']
}

function Row({ hour, currency, has_actual, is_open, onEdit }: RowProps) {
  const { timezone } = useSite()
  const { power_kw, locked, expected_amount } = hour
  const is_forecast = hour.price_status !== null && hour.price_status !== 'published'
  return (
    <Table.Tr>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <Time at={hour.start_at} timezone={timezone} style="time" />–
        <Time at={hour.end_at} timezone={timezone} style="time" />
      </Table.Td>
      <Table.Td>
        <Text {...(power_kw === 0 && { c: 'dimmed' })} fw={power_kw === 0 ? 400 : 600} size="sm">
          {isUnplanned(hour) ? 'No plan' : powerWords(power_kw)}
        </Text>
        <Quarters hour={hour} />
        {hour.edited && (
          <Badge color="violet" title={hour.edit_note ?? undefined}>
            by {hour.edited_by}
          </Badge>
        )}
      </Table.Td>
      {onEdit && (
        <Table.Td>
          {!locked && !isFixed(hour) && (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => onEdit(hour.hour)}
              aria-label={`Change ${formatTime(hour.start_at, timezone, 'time')}`}
            >
              Change
            </Button>
          )}
        </Table.Td>
      )}
      <Table.Td ta="right">
        {hour.price_per_mwh === null ? '–' : `${formatMoney(hour.price_per_mwh, currency)}/MWh`}
        {is_forecast && (
          <Text size="sm" c="dimmed">
            forecast
          </Text>
        )}
      </Table.Td>
      {is_open && <Table.Td ta="right">{bandWords(hour)}</Table.Td>}
      <Table.Td ta="right">
        {hour.soc_end_pct === null ? '–' : `${formatNumber(hour.soc_end_pct)} %`}
      </Table.Td>
      <Table.Td ta="right">
        {expected_amount === 0 ? '–' : formatMoney(expected_amount, currency)}
      </Table.Td>
      {has_actual && <Table.Td ta="right">{formatPower(hour.actual_power_kw)}</Table.Td>}
    </Table.Tr>
  )
}

/** Where they differ: the mean of the hour hides them. */
function Quarters({ hour: { quarter_power_kw: quarters } }: { hour: ScheduleHour }) {
  if (!quarters || new Set(quarters).size < 2) return null
  return (
    <Text size="sm" c="dimmed">
      quarters {quarters.map((kw) => formatNumber(kw, 0)).join(' · ')} kW
    </Text>
  )
}
