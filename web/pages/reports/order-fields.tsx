/** Fields that a subscription and a single report have in common. */
import { MultiSelect, Select, type SelectProps } from '@mantine/core'
import type { ComponentProps } from 'react'

export function FormatField({
  formats,
  ...field
}: { formats: readonly string[] } & Omit<SelectProps, 'data' | 'label'>) {
  return (
    <Select
      label="File"
      allowDeselect={false}
      data={formats.map((value) => ({ value, label: value.toUpperCase() }))}
      {...field}
    />
  )
}

/** Without a choice a report covers all plants. */
export function PlantsField({
  has_choice,
  ...field
}: { has_choice: boolean } & Omit<ComponentProps<typeof MultiSelect>, 'label'>) {
  return (
    <MultiSelect
      label="Plants"
      placeholder={has_choice ? '' : 'All plants'}
      clearable
      clearButtonProps={{ 'aria-label': 'All plants' }}
      {...field}
    />
  )
}
