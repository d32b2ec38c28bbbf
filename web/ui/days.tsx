import { ActionIcon, Group, NativeSelect, Text } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { type ReactNode, useMemo } from 'react'
import { DateField } from './fields.tsx'
import { Choice } from './filters.tsx'
import { monthName, type PeriodKind, periodOf } from './periods.ts'
import { addDays, dayAt, daysFrom, isDate, type Span } from './site-clock.ts'
import { useFilters } from './use-filters.ts'

interface StepperProps {
  names: readonly [before: string, after: string]
  size?: number | string
  is_last: boolean
  onStep: (by: 1 | -1) => void
  children: ReactNode
}

export function Stepper({ names, size = 'lg', is_last, onStep, children }: StepperProps) {
  const look = { variant: 'default', size }
  return (
    <>
      <ActionIcon {...look} aria-label={names[0]} onClick={() => onStep(-1)}>
        <IconChevronLeft size={18} />
      </ActionIcon>
      {children}
      <ActionIcon {...look} aria-label={names[1]} disabled={is_last} onClick={() => onStep(1)}>
        <IconChevronRight size={18} />
      </ActionIcon>
    </>
  )
}

interface DaySpan {
  day: string
  days: number
  today: string
  span: Span
  set(changes: { day?: string; days?: number }): void
}

/** Days that a page shows, from the address; defaults to today. */
export function useDaySpan(timezone: string, days_max: number): DaySpan {
  const filters = useFilters()
  const today = dayAt(Date.now(), timezone)
  const days = Math.min(days_max, Math.max(1, filters.number('days') ?? 1))
  const asked = filters.get('day')
  const day = isDate(asked) && asked <= today ? asked : addDays(today, 1 - days)
  const span = useMemo(() => daysFrom(day, days, timezone), [day, days, timezone])
  const set = (changes: { day?: string; days?: number }) =>
    filters.set({
      ...(changes.day && { day: changes.day }),
      ...(changes.days && { days: String(changes.days) }),
    })
  return { day, days, today, span, set }
}

export function DayPicker({ chosen, choices }: { chosen: DaySpan; choices: readonly number[] }) {
  const { day, days, today, set } = chosen
  return (
    <Group gap="xs" align="end">
      <Stepper
        names={['Earlier', 'Later']}
        size={36}
        is_last={addDays(day, days) > today}
        onStep={(by) => set({ day: addDays(day, by * days) })}
      >
        <DateField
          label={days === 1 ? 'Day' : 'From'}
          w={160}
          value={day}
          max={today}
          onChange={(value) => isDate(value) && value <= today && set({ day: value })}
        />
      </Stepper>
      {choices.length > 1 && (
        <NativeSelect
          label="Shown"
          value={String(days)}
          data={choices.map((count) => ({
            value: String(count),
            label: count === 1 ? '1 day' : `${count} days`,
          }))}
          onChange={({ currentTarget: { value } }) => set({ days: Number(value) })}
        />
      )}
    </Group>
  )
}

const kinds = { day: 'Day', month: 'Month', year: 'Year' } as const

export const period_titles = { day: 'By hour', month: 'By day', year: 'By month' } as const

/** Period from the address; without a day, the present period. */
export function usePeriod(first: PeriodKind, today: string) {
  const filters = useFilters()
  const by = filters.get('by')
  const day = filters.get('day')
  const kind = by !== null && Object.hasOwn(kinds, by) ? (by as PeriodKind) : first
  return {
    period: periodOf(kind, isDate(day) && day <= today ? day : today),
    today,
    setKind: (next: PeriodKind) => filters.set({ by: next }),
    setDate: (date: string | null) => filters.set({ day: date }),
  }
}

export function PeriodChoice(props: ReturnType<typeof usePeriod>) {
  const { period, today, setKind, setDate } = props
  const { kind, start_date, end_date } = period
  const go = (date: string) => setDate(date >= today ? null : date)
  return (
    <Group gap="xs">
      <Choice label="Period" choices={kinds} value={kind} onChange={setKind} />
      <Group gap="xs" wrap="nowrap">
        <Stepper
          names={[`Previous ${kind}`, `Next ${kind}`]}
          is_last={end_date >= today}
          onStep={(by) => go(addDays(by < 0 ? start_date : end_date, by))}
        >
          {kind === 'day' ? (
            <DateField
              aria-label="Day"
              w={160}
              max={today}
              value={start_date}
              onChange={(value) => isDate(value) && value <= today && go(value)}
            />
          ) : (
            <Text fw={500} miw={110} ta="center">
              {kind === 'year' ? start_date.slice(0, 4) : monthName(start_date, 'long')}
            </Text>
          )}
        </Stepper>
      </Group>
    </Group>
  )
}
