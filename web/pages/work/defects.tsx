import type { Defect } from '@heliograph/sdk'
import { Badge, Group, Stack } from '@mantine/core'
import { heliograph } from '../../api.ts'
import { useSite } from '../../queries.ts'
import { SeverityBadge, StateBadge } from '../../ui/badges.tsx'
import { type Column, column, DataTable, NewestList, numeric } from '../../ui/data-table.tsx'
import { deviceText, useDevices } from '../../ui/devices.tsx'
import { FilterSelect } from '../../ui/filters.tsx'
import { WriteButton } from '../../ui/form.tsx'
import { choices, formatEnergy, formatMoney, inWords, none } from '../../ui/format.ts'
import { Page, SiteLink, Time } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { defectStates, severities } from './defect/states.ts'
import { TitleCell } from './forms.tsx'

export default function Defects() {
  const { site_id } = useSite()
  const filters = useFilters()
  const { plants } = useDevices()
  const asked = {
    status: defectStates.find((state) => state === filters.get('status')),
    severity: severities.find((severity) => severity === filters.get('severity')),
    logger_id: filters.number('logger_id'),
  }
  return (
    <Page
      title="Defects"
      actions={
        <WriteButton scope="om:write" to="/defects/new">
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
        {(defects) => <DefectTable defects={defects} />}
      </NewestList>
    </Page>
  )
}

function DefectTable({ defects: rows }: { defects: readonly Defect[] }) {
  const devices = useDevices()
  const columns: Column<Defect>[] = [
    column('Defect', (defect) => (
      <TitleCell
        to={`/defects/${defect.defect_id}`}
        title={defect.title}
        about={[
          defect.number,
          defect.type && inWords(defect.type),
          deviceText(devices, defect) ?? 'whole site',
        ]}
      >
        <StateBadge state={defect.status} />
        <SeverityBadge severity={defect.severity} />
      </TitleCell>
    )),
    column('Severity', ({ severity, safety_relevant }) => (
      <Stack gap={4} align="flex-start">
        <SeverityBadge severity={severity} />
        {safety_relevant && <Badge color="red">Safety-relevant</Badge>}
      </Stack>
    )),
    column('State', ({ status }) => <StateBadge state={status} />),
    numeric('Loss per year', ({ estimated_loss_kwh_year: kwh, ...defect }) => (
      <>
        {formatEnergy(kwh)}
        {defect.estimated_loss_amount_year !== null && (
          <div>{formatMoney(defect.estimated_loss_amount_year, defect.currency)}</div>
        )}
      </>
    )),
    column('Found', ({ detected_at }) => <Time at={detected_at} style="date" />),
    column('Handled by', ({ wo_id, assigned_to }) =>
      wo_id === null ? (
        (assigned_to ?? none)
      ) : (
        <SiteLink to={`/work-orders/${wo_id}`}>Work order {wo_id}</SiteLink>
      ),
    ),
  ]
  return (
    <DataTable
      label="Defects"
      width={760}
      columns={columns}
      rows={rows}
      by="defect_id"
      sorts={false}
    />
  )
}
