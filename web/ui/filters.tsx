/** Filters in the address, so that a filtered list can be shared as a link. */
import { SegmentedControl, Select } from '@mantine/core'
import { useSearchParams } from 'wouter'

export function useFilters() {
  const [params, setParams] = useSearchParams()
  const set = (changes: Record<string, string | null>) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before)
        for (const [name, value] of Object.entries(changes)) {
          if (value === null || value === '') next.delete(name)
          else next.set(name, value)
        }
        return next
      },
      { replace: true },
    )
  const get = (name: string) => params.get(name)
  const number = (name: string) => {
    const text = params.get(name)
    return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
  }
  return { get, number, set }
}

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
    <SegmentedControl
      style={{ alignSelf: 'flex-start' }}
      aria-label={label}
      data={Object.entries(choices).map(([value, label]) => ({ value, label }))}
      value={get(name) ?? initial}
      onChange={(value) => set({ [name]: value === initial ? null : value, page: null })}
    />
  )
}
