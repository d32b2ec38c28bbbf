import { MultiSelect, Radio, Stack } from '@mantine/core'
import { useSites } from '../queries.ts'

interface SiteChoiceProps {
  /** Null for all sites, including later ones. */
  value: string[] | null
  onChange(value: string[] | null): void
  error?: string | undefined
}

/** Chooses all sites, or some of them. */
export function SiteChoice({ value, onChange, error }: SiteChoiceProps) {
  const { data } = useSites()
  const sites = (data?.data ?? []).map(({ site_id, name }) => ({ value: site_id, label: name }))
  return (
    <Stack gap="xs">
      <Radio.Group
        label="Sites"
        value={value === null ? 'all' : 'some'}
        onChange={(choice) => onChange(choice === 'all' ? null : [])}
      >
        <Stack gap={6} mt={4}>
          <Radio value="all" label="All sites, including later ones" />
          <Radio value="some" label="Selected sites" />
        </Stack>
      </Radio.Group>
      {value !== null && (
        <MultiSelect
          aria-label="Selected sites"
          placeholder={value.length === 0 ? 'Choose sites' : undefined}
          data={sites}
          value={value}
          onChange={onChange}
          error={error}
          searchable
        />
      )}
    </Stack>
  )
}

export const checkSites = (site_ids: string[] | null) =>
  site_ids?.length === 0 ? 'Choose at least one site, or all sites.' : null

export function SiteNames({ site_ids }: { site_ids: string[] | null }) {
  const { data } = useSites()
  if (site_ids === null) return <>All sites</>
  const name = (id: string) => data?.data.find(({ site_id }) => site_id === id)?.name ?? id
  return <>{site_ids.map(name).join(', ')}</>
}
