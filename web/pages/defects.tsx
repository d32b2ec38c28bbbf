/** What is broken, the newest first. */

import type { Defect } from '@heliograph/sdk'
import { Anchor, Badge, Box, Group, Select, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { heliograph } from '../api.ts'
import { useSite } from '../shell/site-shell.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { deviceText, useDevices } from '../ui/devices.tsx'
import { formatEnergy, formatMoney } from '../ui/format.ts'
import { readNewestFirst } from '../ui/newest-first.ts'
import { Page } from '../ui/page.tsx'
import { PagesOf } from '../ui/pages-of.tsx'
import { SeverityBadge, StateBadge } from '../ui/severity.tsx'
import { Answered, Empty } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { useFilters } from '../ui/use-filters.ts'
import { choices, inWords } from '../ui/words.ts'
import { WriteButton } from '../ui/write-button.tsx'
import { defectStates, severities } from './defect/states.ts'
import type { SitePageProps } from './pages.ts'

const limit = 25

export default function Defects({ site_id }: SitePageProps) {
  const filters = useFilters()
  const page = filters.number('page') ?? 1
  const asked = {
    status: defectStates.find((state) => state === filters.get('status')),
    severity: severities.find((severity) => severity === filters.get('severity')),
    logger_id: filters.number('logger_id'),
  }
  const defects = useQuery({
    queryKey: ['defects', site_id, asked, page],
    queryFn: ({ signal }) =>
      readNewestFirst(
        (part) => heliograph.defectsList({ site_id, ...asked, ...part }, { signal }),
        { page, limit },
      ),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  })
  const is_filtered = Object.values(asked).some((value) => value !== undefined)
  return (
    <Page
      title="Defects"
      actions={
        <WriteButton scope="om:write" href={`/sites/${site_id}/defects/new`}>
          Report a defect
        </WriteButton>
      }
    >
      <DefectFilters site_id={site_id} />
      <Answered query={defects}>
        {({ data, count }) => (
          <Stack>
            {data.length === 0 && (
              <Empty title={is_filtered ? 'No defect matches the filters' : 'No defects'}>
                {!is_filtered && 'What is found broken is reported here, or from a string.'}
              </Empty>
            )}
            {data.length > 0 && <DefectTable {...{ site_id, defects: data }} />}
            <PagesOf
              {...{ count, limit, page }}
              noun={count === 1 ? 'defect' : 'defects'}
              onPage={(next) => filters.set({ page: next === 1 ? null : String(next) })}
            />
          </Stack>
        )}
      </Answered>
    </Page>
  )
}

function DefectFilters({ site_id }: { site_id: string }) {
  const { get, set } = useFilters()
  const { plants } = useDevices(site_id)
  const one = (name: string, label: string, all: string, data: typeof plants) => (
    <Select
      w={160}
      clearable
      aria-label={label}
      placeholder={all}
      clearButtonProps={{ 'aria-label': all }}
      data={data}
      value={get(name)}
      onChange={(value) => set({ [name]: value, page: null })}
    />
  )
  return (
    <Group gap="xs">
      {one('status', 'Status', 'All states', choices(defectStates))}
      {one('severity', 'Severity', 'All severities', choices(severities))}
      {one('logger_id', 'Plant', 'All plants', plants)}
    </Group>
  )
}

function DefectTable({ site_id, defects }: { site_id: string; defects: readonly Defect[] }) {
  const { timezone } = useSite()
  const devices = useDevices(site_id)
  const columns: Column<Defect>[] = [
    {
      name: 'Defect',
      cell: (defect) => (
        <Box w={{ base: '76vw', sm: 'auto' }} style={{ whiteSpace: 'normal' }}>
          <Anchor component={Link} href={`/sites/${site_id}/defects/${defect.defect_id}`}>
            {defect.title}
          </Anchor>
          <Text size="sm" c="dimmed">
            {[
              defect.number,
              defect.type && inWords(defect.type),
              deviceText(devices, defect) ?? 'whole site',
            ]
              .filter(Boolean)
              .join(' · ')}
          </Text>
          {/* On a phone the other columns are scrolled to; this is what one looks for. */}
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
          {safety_relevant && <Badge color="red">Danger</Badge>}
        </Stack>
      ),
    },
    { name: 'State', cell: ({ status }) => <StateBadge state={status} /> },
    {
      name: 'Costs a year',
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
      cell: ({ detected_at }) => <Time at={detected_at} timezone={timezone} style="date" />,
    },
    {
      name: 'Seen to by',
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
