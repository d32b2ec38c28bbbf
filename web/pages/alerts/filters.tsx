import type { Alert } from '@heliograph/sdk'
import { Group, SegmentedControl, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useDevices } from '../../ui/devices.tsx'
import { FilterSelect } from '../../ui/filter-select.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { choices } from '../../ui/words.ts'

const severities = ['critical', 'major', 'warning', 'info'] as const

const shows: Record<string, Alert['status'][]> = {
  open: ['active', 'acknowledged'],
  active: ['active'],
  resolved: ['resolved'],
}

export const statusesOf = (show: string | null): Alert['status'][] =>
  shows[show ?? 'open'] ?? shows['open']!

type Filters = ReturnType<typeof useFilters>

export function isShown(alert: Alert, filters: Filters): boolean {
  const severity = filters.get('severity')
  const logger_id = filters.number('logger_id')
  const text = filters.get('text')?.toLowerCase()
  const texts = [alert.title, alert.message, alert.code, alert.source_id, ...alert.vendor_codes]
  return (
    (severity === null || alert.severity === severity) &&
    (logger_id === undefined || alert.logger_id === logger_id) &&
    (!text || texts.some((part) => part.toLowerCase().includes(text)))
  )
}

/** Unacknowledged alerts first, then by severity, then the newest first. */
export const worstFirst = (a: Alert, b: Alert): number =>
  Number(a.status === 'acknowledged') - Number(b.status === 'acknowledged') ||
  severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
  Date.parse(b.started_at) - Date.parse(a.started_at)

export function AlertFilters({ site_id }: { site_id: string }) {
  const { get, set } = useFilters()
  const { plants } = useDevices(site_id)
  return (
    <Group align="end" gap="xs">
      <SegmentedControl
        aria-label="Which alerts"
        value={get('show') ?? 'open'}
        onChange={(show) => set({ show: show === 'open' ? null : show })}
        data={[
          { value: 'open', label: 'Open' },
          { value: 'active', label: 'Unacknowledged' },
          { value: 'resolved', label: 'Resolved' },
        ]}
      />
      <FilterSelect
        name="severity"
        label="Severity"
        all="All severities"
        data={choices(severities)}
      />
      <FilterSelect name="logger_id" label="Plant" all="All plants" data={plants} />
      <TextInput
        aria-label="Text"
        placeholder="Search"
        leftSection={<IconSearch size={16} />}
        value={get('text') ?? ''}
        onChange={(event) => set({ text: event.currentTarget.value })}
      />
    </Group>
  )
}
