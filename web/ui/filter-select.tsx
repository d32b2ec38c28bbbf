import { Select } from '@mantine/core'
import { useFilters } from './use-filters.ts'

/** A filter in the address. A change returns to the first page. */
export function FilterSelect({
  name,
  label,
  all,
  data,
}: {
  /** Query parameter of the address. */
  name: string
  label: string
  /** Placeholder while nothing is chosen. */
  all: string
  data: { value: string; label: string }[]
}) {
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
