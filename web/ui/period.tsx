/** Chooses a day, a month or a year, with buttons for the previous and the next one. */
import { ActionIcon, Group, SegmentedControl, Text } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { DateField } from './date-field.tsx'
import { monthName, type Period, type PeriodKind, periodOf } from './periods.ts'
import { addDays, isDate } from './site-day.ts'
import { useFilters } from './use-filters.ts'

/** Period from the address; without a day, the present period. */
export function usePeriod(first: PeriodKind, today: string) {
  const filters = useFilters()
  const by = filters.get('by')
  const day = filters.get('day')
  const kind = kinds.find(({ value }) => value === by)?.value ?? first
  return {
    period: periodOf(kind, isDate(day) && day <= today ? day : today),
    today,
    setKind: (next: PeriodKind) => filters.set({ by: next }),
    setDate: (date: string | null) => filters.set({ day: date }),
  }
}

const kinds: { value: PeriodKind; label: string }[] = [
  { value: 'day', label: 'Day' },
  { value: 'month', label: 'Month' },
  { value: 'year', label: 'Year' },
]

export function PeriodChoice(props: ReturnType<typeof usePeriod>) {
  const { period, today, setKind, setDate } = props
  const is_last = period.end_date >= today
  const go = (date: string) => setDate(date >= today ? null : date)
  return (
    <Group gap="xs">
      <SegmentedControl
        aria-label="Period"
        data={kinds}
        value={period.kind}
        onChange={(kind) => setKind(kind as PeriodKind)}
      />
      <Group gap="xs" wrap="nowrap">
        <ActionIcon
          variant="default"
          size="lg"
          aria-label={`Previous ${period.kind}`}
          onClick={() => go(addDays(period.start_date, -1))}
        >
          <IconChevronLeft size={18} />
        </ActionIcon>
        {period.kind === 'day' ? (
          <DateField
            aria-label="Day"
            w={160}
            max={today}
            value={period.start_date}
            onChange={(value) => isDate(value) && value <= today && go(value)}
          />
        ) : (
          <Text fw={500} miw={110} ta="center">
            {nameOf(period)}
          </Text>
        )}
        <ActionIcon
          variant="default"
          size="lg"
          aria-label={`Next ${period.kind}`}
          disabled={is_last}
          onClick={() => go(addDays(period.end_date, 1))}
        >
          <IconChevronRight size={18} />
        </ActionIcon>
      </Group>
    </Group>
  )
}

function nameOf({ kind, start_date }: Period): string {
  if (kind === 'year') return start_date.slice(0, 4)
  return monthName(start_date, 'long')
}
