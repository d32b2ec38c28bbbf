import type { StringHealth } from '@heliograph/sdk'
import { Anchor, NativeSelect, Stack } from '@mantine/core'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { useMay } from '../../../queries.ts'
import { type Column, DataTable, numeric } from '../../../ui/data-table.tsx'
import { formatEnergy } from '../../../ui/format.ts'
import { healthNames } from '../../../ui/health-names.ts'
import { PagesOf } from '../../../ui/pages-of.tsx'
import { StringHealthBadge } from '../../../ui/plant-words.tsx'
import { useFilters } from '../../../ui/use-filters.ts'
import { statuses } from './looks.ts'
import { reasonOf } from './reason.ts'

const limit = 25

const ranks: Record<string, number> = {
  dead: 0,
  critical: 1,
  underperforming: 2,
  watch: 3,
  healthy: 4,
  no_data: 5,
}

const worstFirst = (a: StringHealth, b: StringHealth) =>
  (ranks[a.status] ?? 6) - (ranks[b.status] ?? 6) ||
  (a.health_score_pct ?? 101) - (b.health_score_pct ?? 101) ||
  (a.deviation_pct ?? 0) - (b.deviation_pct ?? 0)

const columns: readonly Column<StringHealth>[] = [
  { name: 'Status', cell: ({ status }) => <StringHealthBadge status={status} /> },
  numeric('Energy lost', ({ estimated_loss_kwh }) => formatEnergy(estimated_loss_kwh)),
  { name: 'Reason', wraps: true, cell: (string) => reasonOf(string) },
]

export function HealthTable({
  site_id,
  strings,
}: {
  site_id: string
  strings: readonly StringHealth[]
}) {
  const may = useMay()
  const filters = useFilters()
  const status = filters.get('status')
  const found = useMemo(
    () => strings.filter((one) => !status || one.status === status).sort(worstFirst),
    [strings, status],
  )
  const page = Math.min(filters.number('page') ?? 1, Math.ceil(found.length / limit) || 1)
  const ways: Column<StringHealth>[] = [
    {
      name: 'String',
      cell: ({ inverter_id, inverter_name, string_index }) => (
        <Anchor
          component={Link}
          href={`/sites/${site_id}/inverters/${inverter_id}/strings/${string_index}`}
        >
          {inverter_name}, string {string_index}
        </Anchor>
      ),
    },
  ]
  const defect: Column<StringHealth> = {
    name: 'Defect',
    cell: ({ inverter_id, inverter_name, string_index }) => (
      <Anchor
        component={Link}
        href={`/sites/${site_id}/defects/new?inverter_id=${inverter_id}&string_index=${string_index}`}
        aria-label={`Report a defect of ${inverter_name}, string ${string_index}`}
      >
        Report
      </Anchor>
    ),
  }
  return (
    <Stack gap="sm">
      <NativeSelect
        label="Status"
        maw={240}
        value={status ?? ''}
        data={[
          { value: '', label: 'All' },
          ...statuses.map((value) => ({ value, label: healthNames[value] })),
        ]}
        onChange={({ currentTarget }) =>
          filters.set({ status: currentTarget.value || null, page: null })
        }
      />
      <DataTable
        label="Strings, most severe first"
        width={960}
        columns={[...ways, ...columns, ...(may('om:write') ? [defect] : [])]}
        rows={found.slice((page - 1) * limit, page * limit)}
        keyOf={({ inverter_id, string_index }) => `${inverter_id}/${string_index}`}
      />
      <PagesOf
        {...{ count: found.length, limit, page }}
        noun="strings"
        onPage={(to) => filters.set({ page: String(to) })}
      />
    </Stack>
  )
}
