import { ActionIcon, Group, NativeSelect } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { DateField } from './date-field.tsx'
import { addDays, isDate } from './site-day.ts'
import type { DaySpan } from './use-day-span.ts'

/** Chooses local days of the site. */
export function DayPicker({ chosen, choices }: { chosen: DaySpan; choices: readonly number[] }) {
  const { day, days, today, set } = chosen
  const later = addDays(day, days)
  return (
    <Group gap="xs" align="end">
      <ActionIcon
        variant="default"
        size={36}
        aria-label="Earlier"
        onClick={() => set({ day: addDays(day, -days) })}
      >
        <IconChevronLeft size={18} />
      </ActionIcon>
      <DateField
        label={days === 1 ? 'Day' : 'From'}
        w={160}
        value={day}
        max={today}
        onChange={(value) => isDate(value) && value <= today && set({ day: value })}
      />
      <ActionIcon
        variant="default"
        size={36}
        aria-label="Later"
        disabled={later > today}
        onClick={() => set({ day: later })}
      >
        <IconChevronRight size={18} />
      </ActionIcon>
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
