/** Defects, the newest first. */

import type { Defect } from '@heliograph/sdk'
import { Anchor, Badge, Box, Group, Stack } from '@mantine/core'
import { Link } from 'wouter'
import { heliograph } from '../../api.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { deviceText, useDevices } from '../../ui/devices.tsx'
import { FilterSelect } from '../../ui/filter-select.tsx'
import { formatEnergy, formatMoney } from '../../ui/format.ts'
import { Muted } from '../../ui/muted.tsx'
import { NewestList } from '../../ui/newest-list.tsx'
import { Page } from '../../ui/page.tsx'
import { SeverityBadge, StateBadge } from '../../ui/severity.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { choices, inWords } from '../../ui/words.ts'
import { WriteButton } from '../../ui/write-button.tsx'
import type { SitePageProps } from '../pages.ts'
import { defectStates, severities } from './defect/states.ts'

export default function Defects({ site_id }: SitePageProps) {
  const filters = useFilters()
  const { plants } = useDevices(site_id)
  const asked = {
    status: defectStates.find((state) => state === filters.get('status')),
    severity: severities.find((severity) => severity === filters.get('severity')),
    logger_id: filters.number('logger_id'),
  }
  return (
    <Page
      title="Defects"
      actions={
        <WriteButton scope="om:write" href={`/sites/${site_id}/defects/new`}>
          Report a defect
        </WriteButton>
      }
    >
      <Group gap="xs">
        <FilterSelect name="status" label="Status" all="All states" data={choices(defectStates)} />
        <FilterSelect
          name="severity"
          label="Severity"
          all="All severities"
          data={choices(severities)}
        />
        <FilterSelect name="logger_id" label="Plant" all="All plants" data={plants} />
      </Group>
      <NewestList<Defect>
        key_parts={['defects', site_id]}
        asked={asked}
        read={(part, signal) => heliograph.defectsList({ site_id, ...asked, ...part }, { signal })}
        nouns={['defect', 'defects']}
        none={<Empty title="No defects">Report defects here, or from the page of a string.</Empty>}
      >
        {(defects) => <DefectTable {...{ site_id, defects }} />}
      </NewestList>
    </Page>
  )
}

function DefectTable({ site_id, defects }: { site_id: string; defects: readonly Defect[] }) {
  const devices = useDevices(site_id)
  const columns: Column<Defect>[] = [
    {
      name: 'Defect',
      cell: (defect) => (
        <Box w={{ base: '76vw', sm: 'auto' }} style={{ whiteSpace: 'normal' }}>
          <Anchor component={Link} href={`/sites/${site_id}/defects/${defect.defect_id}`}>
            {defect.title}
          </Anchor>
          <Muted>
            {[
              defect.number,
              defect.type && inWords(defect.type),
              deviceText(devices, defect) ?? 'whole site',
            ]
              .filter(Boolean)
              .join(' · ')}
          </Muted>
          {/* On a phone the other columns are out of sight. */}
          <Group gap="xs" mt={4} hiddenFrom="sm">
            <StateBadge state={defect.status} />
            <SeverityBadge severity={defect.severity} />
          </Group>
        </Box>
      ),
    },
    {
      name: 'Severity',
      cell: ({ severity, safety_relevant }) => (
        <Stack gap={4} align="flex-start">
          <SeverityBadge severity={severity} />
          {safety_relevant && <Badge color="red">Safety-relevant</Badge>}
        </Stack>
      ),
    },
    { name: 'State', cell: ({ status }) => <StateBadge state={status} /> },
    {
      name: 'Loss per year',
      is_number: true,
      cell: ({ estimated_loss_kwh_year, estimated_loss_amount_year, currency }) => (
        <>
          {formatEnergy(estimated_loss_kwh_year)}
          {estimated_loss_amount_year !== null && (
            <div>{formatMoney(estimated_loss_amount_year, currency)}</div>
          )}
        </>
      ),
    },
    {
      name: 'Found',
      cell: ({ detected_at }) => <Time at={detected_at} style="date" />,
    },
    {
      name: 'Handled by',
      cell: ({ wo_id, assigned_to }) =>
        wo_id === null ? (
          (assigned_to ?? '–')
        ) : (
          <Anchor component={Link} href={`/sites/${site_id}/work-orders/${wo_id}`}>
            Work order {wo_id}
          </Anchor>
        ),
    },
  ]
  const keyOf = ({ defect_id }: Defect) => defect_id
  return <DataTable label="Defects" width={760} {...{ columns, rows: defects, keyOf }} />
}
