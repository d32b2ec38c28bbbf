import { Input, SegmentedControl, type SegmentedControlProps, Select } from '@mantine/core'
import { useFilters } from './use-filters.ts'

interface FilterSelectProps {
  name: string
  label: string
  all: string
  data: { value: string; label: string }[]
}

/** A filter in the address. A change returns to the first page. */
export function FilterSelect({ name, label, all, data }: FilterSelectProps) {
  const { get, set } = useFilters()
  return (
    <Select
      w={160}
      clearable
      searchable
      aria-label={label}
      placeholder={all}
      clearButtonProps={{ 'aria-label': all }}
      data={data}
      value={get(name)}
      onChange={(value) => set({ [name]: value, page: null })}
    />
  )
}

interface ChoiceProps<Value extends string>
  extends Omit<SegmentedControlProps<Value>, 'data' | 'aria-label'> {
  label: string
  choices: Readonly<Record<Value, string>>
}

export function Choice<Value extends string>({ label, choices, ...rest }: ChoiceProps<Value>) {
  const data = (Object.keys(choices) as Value[]).map((value) => ({ value, label: choices[value] }))
  return <SegmentedControl aria-label={label} data={data} {...rest} />
}

/** A choice in a form, with its label above it. */
export const ChoiceField = <Value extends string>(props: ChoiceProps<Value>) => (
  <Input.Wrapper label={props.label} labelElement="div">
    <Choice fullWidth {...props} />
  </Input.Wrapper>
)

interface FilterTabsProps {
  name: string
  label: string
  choices: Readonly<Record<string, string>>
  /** Chosen without the parameter. */
  initial: string
}

/** A choice in the address between a few values. A change returns to the first page. */
export function FilterTabs({ name, label, choices, initial }: FilterTabsProps) {
  const { get, set } = useFilters()
  return (
    <Choice
      style={{ alignSelf: 'flex-start' }}
      label={label}
      choices={choices}
      value={get(name) ?? initial}
      onChange={(value) => set({ [name]: value === initial ? null : value, page: null })}
    />
  )
}
