import {
  type BatteryAlarmState,
  type BatteryDashboard,
  type BatteryUnit,
  type Cluster,
  type ClusterCells,
  isCode,
  type PcsNow,
} from '@heliograph/sdk'
import {
  Alert,
  Badge,
  Button,
  Card,
  Group,
  Progress,
  SimpleGrid,
  Stack,
  Text,
  Title,
} from '@mantine/core'
import { useState } from 'react'
import { useMay, useRead, useSite } from '../../queries.ts'
import { SeverityBadge, whole } from '../../ui/badges.tsx'
import { type Column, column, DataTable, numeric, tableOf } from '../../ui/data-table.tsx'
import { DeviceExchanges } from '../../ui/device-exchange.tsx'
import { Choice } from '../../ui/filters.tsx'
import {
  formatAge,
  formatEnergy,
  formatMoney,
  formatNumber,
  formatPower,
  formatQuantity,
  inUnit,
  inWords,
  none,
} from '../../ui/format.ts'
import { historyOf } from '../../ui/history.ts'
import { loaded } from '../../ui/lazy-chart.tsx'
import { OverTime } from '../../ui/over-time.tsx'
import { Facts, figures, Muted, Page, Part, SiteButton, SiteLink, Time } from '../../ui/page.tsx'
import { batteryQuantities } from '../../ui/quantities.ts'
import { bySeverity } from '../../ui/severities.ts'
import { Answered } from '../../ui/states.tsx'
import NotFound from '../not-found.tsx'
import type { SitePageProps } from '../pages.ts'
import { live_ms, ScheduleBadge, slow_ms } from './battery/shared.tsx'
import { inSentence, limitationWords, powerWords, stateWords } from './battery/words.ts'

const DayCourse = loaded(() => import('./battery/day-course.tsx'))
const CellMap = loaded(() => import('./battery/cell-map.tsx'))

export default function Battery({ bess_id: text }: SitePageProps) {
  const { site_id } = useSite()
  const bess_id = Number(text)
  const dashboard = useRead('bess', 'bessDashboardGet', { bess_id }, live_ms)
  if (!/^\d+$/.test(text ?? '')) return <NotFound />
  if (isCode(dashboard.error, 'not_found')) return <NotFound />
  return (
    <Page
      title={dashboard.data?.unit.name ?? 'Battery'}
      actions={
        <>
          <SiteButton to={`/batteries/${bess_id}/log`} variant="default">
            Log and settings
          </SiteButton>
          <SiteButton to={`/batteries/${bess_id}/day`}>Plan</SiteButton>
        </>
      }
    >
      <Answered query={dashboard}>
        {(data) => (
          <>
            <State dashboard={data} />
            <Limits dashboard={data} />
            <DeviceExchanges kinds={['bess', 'pcs']} device_id={String(bess_id)} />
            <Alarms bess_id={bess_id} />
            <Today dashboard={data} />
            <DayCourse dashboard={data} />
            <OverTime
              name={data.unit.name}
              historyOf={(shown) => historyOf('bessHistoryList', { site_id, bess_id }, shown)}
              quantities={batteryQuantities}
              first={['power_kw', 'setpoint_kw', 'cell_temperature_max_c']}
              choices={[1, 2, 3]}
            />
            <Clusters bess_id={bess_id} />
            <Pcs bess_id={bess_id} />
            <Details unit={data.unit} />
          </>
        )}
      </Answered>
    </Page>
  )
}

function State({ dashboard: { unit, current } }: { dashboard: BatteryDashboard }) {
  const { soc_pct, soh_pct, quality, setpoint_kw } = current
  const is_bad = quality === 'stale' || quality === 'missing' || current.state === 'fault'
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Badge color={is_bad ? 'red' : 'teal'}>{stateWords(current)}</Badge>
        {unit.retired_at !== null && <Badge color="gray">Out of service</Badge>}
        {current.local_remote === 'local' && <Badge color="yellow">Local control</Badge>}
        <Muted>
          Measured <Time at={current.measured_at} style="time" />, {formatAge(current.age_s)}
        </Muted>
      </Group>
      <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="sm">
        {figures([
          [
            'State of charge',
            soc_pct === null ? none : `${formatNumber(soc_pct)} %`,
            <>
              <Progress
                value={soc_pct ?? 0}
                size="lg"
                my={4}
                color="teal"
                aria-label="State of charge"
              />
              Window {formatNumber(unit.soc_min_pct, 0)} to {formatNumber(unit.soc_max_pct, 0)} %
            </>,
          ],
          [
            'Now',
            powerWords(current.power_kw),
            setpoint_kw === null
              ? 'Setpoint unknown'
              : `Setpoint: ${inSentence(powerWords(setpoint_kw))}`,
          ],
          [
            'Available energy',
            formatEnergy(current.available_energy_kwh),
            `${formatEnergy(current.energy_to_full_kwh)} until full`,
          ],
          [
            'State of health',
            soh_pct === null ? none : `${formatNumber(soh_pct)} %`,
            `${formatNumber(current.cycle_count, 0)} full cycles`,
          ],
        ])}
      </SimpleGrid>
    </Stack>
  )
}

/** Present power limits, with the reason when they are below the rating. */
function Limits({ dashboard: { unit, envelope } }: { dashboard: BatteryDashboard }) {
  const sides = (['discharge', 'charge'] as const).map((name) => ({
    name,
    kw: envelope[`max_${name}_power_kw`],
    rated_kw: unit[`rated_${name}_power_kw`],
    why: envelope[`limited_by_${name}`],
    min: envelope[`max_${name}_duration_min`],
  }))
  return (
    <SimpleGrid cols={2} spacing="sm">
      {sides.map(({ name, kw, rated_kw, why, min }) => (
        <Card key={name} padding="sm">
          <Muted>Maximum {name}</Muted>
          <Text className="figure" fw={600} fz={20}>
            {formatPower(kw)}
          </Text>
          <Text size="sm">
            {limitationWords(why)}
            {why !== 'none' && `: rated ${formatPower(rated_kw)}`}.
            {min !== null && ` Lasts ${minutesWords(min)} at this power.`}
          </Text>
        </Card>
      ))}
    </SimpleGrid>
  )
}

const minutesWords = (min: number) =>
  min < 120 ? `${formatNumber(min, 0)} min` : `${formatNumber(min / 60)} h`

function Today({ dashboard: { today, schedule, unit } }: { dashboard: BatteryDashboard }) {
  const has_plan = today.planned_discharged_kwh > 0 || today.planned_charged_kwh > 0
  return (
    <Stack gap="xs">
      <Group>
        <Title order={2} size="h3">
          Today
        </Title>
        <ScheduleBadge status={schedule?.status ?? unit.schedule_status_today} />
      </Group>
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        {figures([
          [
            'Revenue',
            formatMoney(today.earnings_amount, today.currency),
            'discharge minus charge, at market prices',
          ],
          [
            'Discharged',
            formatEnergy(today.discharged_kwh),
            has_plan && `planned ${formatEnergy(today.planned_discharged_kwh)}`,
          ],
          [
            'Charged',
            formatEnergy(today.charged_kwh),
            has_plan && `planned ${formatEnergy(today.planned_charged_kwh)}`,
          ],
        ])}
      </SimpleGrid>
    </Stack>
  )
}

function Alarms({ bess_id }: { bess_id: number }) {
  const alarms = useRead('bess', 'bessAlarmsStatesList', { bess_id, only_set: true }, live_ms)
  return (
    <Part title="Alarms">
      <Answered query={alarms}>
        {({ data }) =>
          data.length === 0 ? (
            <Alert color="teal">No active alarms</Alert>
          ) : (
            data
              .toSorted(bySeverity)
              .map((alarm) => (
                <Alarm
                  key={`${alarm.source} ${alarm.code} ${alarm.cluster_idx} ${alarm.pcs_idx}`}
                  alarm={alarm}
                />
              ))
          )
        }
      </Answered>
    </Part>
  )
}

function Alarm({ alarm }: { alarm: BatteryAlarmState }) {
  const may = useMay()
  const { raw_value, threshold_value, threshold_unit: unit } = alarm
  const text = alarm.message ?? alarm.description
  return (
    <Card padding="sm">
      <Group gap="xs">
        <SeverityBadge severity={alarm.severity} />
        <Text fw={600}>{alarm.name}</Text>
        <Muted>
          {placeOf(alarm)}
          {alarm.set_at && ', since '}
          {alarm.set_at && <Time at={alarm.set_at} />}
        </Muted>
      </Group>
      {text && <Text mt={4}>{text}</Text>}
      {raw_value !== null && threshold_value !== null && (
        <Text size="sm" className="figure">
          {formatNumber(raw_value)} {unit}, threshold {formatNumber(threshold_value)} {unit}
        </Text>
      )}
      {alarm.recommended_action && (
        <Text mt={4}>
          <strong>Recommended action:</strong> {alarm.recommended_action}
        </Text>
      )}
      <Muted>
        {alarm.affects_power ? 'Limits power.' : 'Does not limit power.'}
        {alarm.latching && ' Latching: needs a manual reset.'}
      </Muted>
      {alarm.alert_id !== null && may('alerts:read') && (
        <SiteLink to="/alerts" size="sm" underline="always">
          Alerts
        </SiteLink>
      )}
    </Card>
  )
}

const sources: Record<string, string> = {
  bms: 'Management system',
  cluster: 'Cluster',
  pcs: 'Power conversion',
  ems: 'Edge agent',
  communication: 'Communication',
  fire: 'Fire alarm system',
}

function placeOf({ source, cluster_idx, pcs_idx }: BatteryAlarmState): string {
  const nth = cluster_idx ?? pcs_idx
  return `${sources[source] ?? source}${nth === null ? '' : ` ${nth}`}`
}

const cluster_columns: readonly Column<Cluster>[] = [
  column('Cluster', ({ cluster_idx }) => cluster_idx),
  column('State', ({ state, alarm_count }) =>
    whole(inWords(state ?? 'unknown'), state === 'fault' || alarm_count > 0 ? 'red' : 'teal'),
  ),
  numeric('Charge', ({ soc_pct }) => soc_pct, inUnit('%')),
  numeric('Health', ({ soh_pct }) => soh_pct, inUnit('%')),
  numeric('Voltage', ({ voltage_v }) => voltage_v, inUnit('V')),
  numeric('Power', ({ power_kw }) => power_kw, inUnit('kW')),
  numeric('Cell voltages', ({ cell_voltage_min_mv: min, cell_voltage_max_mv: max }) =>
    rangeOf(min, max, 'mV', 0),
  ),
  numeric('Cell temperatures', ({ cell_temperature_min_c: min, cell_temperature_max_c: max }) =>
    rangeOf(min, max, '°C', 1),
  ),
]

function rangeOf(min: number | null, max: number | null, unit: string, digits: number): string {
  if (min === null && max === null) return none
  return `${formatNumber(min, digits)} to ${formatQuantity(max, unit, digits)}`
}

function Clusters({ bess_id }: { bess_id: number }) {
  const clusters = useRead('bess', 'bessClustersList', { bess_id }, live_ms)
  const [opened, setOpened] = useState<number | null>(null)
  const cells_column: Column<Cluster> = column('', ({ cluster_idx }) => (
    <Button
      size="xs"
      variant="default"
      aria-expanded={opened === cluster_idx}
      aria-label={`Cells of cluster ${cluster_idx}`}
      onClick={() => setOpened(opened === cluster_idx ? null : cluster_idx)}
    >
      {opened === cluster_idx ? 'Hide cells' : 'Cells'}
    </Button>
  ))
  const columns = [...cluster_columns, cells_column]
  const table = tableOf<Cluster>('Clusters', 760, 'cluster_idx', columns)
  return (
    <Part title="Clusters and cells">
      <Answered query={clusters}>
        {({ data }) => <DataTable {...table} rows={data} none="No clusters" />}
      </Answered>
      {opened !== null && <Cells bess_id={bess_id} cluster_idx={opened} />}
    </Part>
  )
}

function Cells({ bess_id, cluster_idx }: { bess_id: number; cluster_idx: number }) {
  const cells = useRead('bess', 'bessClustersGet', { bess_id, cluster_idx }, slow_ms)
  const [kind, setKind] = useState<'voltage' | 'temperature'>('voltage')
  return (
    <Card padding="sm">
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h4">
          Cells of cluster {cluster_idx}
        </Title>
        <Choice
          label="Quantity"
          choices={{ voltage: 'Voltage', temperature: 'Temperature' }}
          value={kind}
          onChange={setKind}
        />
      </Group>
      <Answered query={cells}>
        {(data) => (
          <Stack gap="xs">
            <CellMap cells={data} kind={kind} />
            <Outliers cells={data} />
            <Muted>
              Rows are modules, columns are {kind === 'voltage' ? 'cells' : 'sensors'}, counted from
              0. Measured <Time at={data.cells_measured_at} />. {data.balancing_cell_count || 'No'}{' '}
              cells are being balanced.
            </Muted>
          </Stack>
        )}
      </Answered>
    </Card>
  )
}

const outliers_shown = 8

function Outliers({ cells }: { cells: ClusterCells }) {
  const { outlier_cell_indexes: found, cells_per_module } = cells
  if (found.length === 0) return <Text>No voltage outliers.</Text>
  const names = found.slice(0, outliers_shown).map((index) => {
    const place = `module ${Math.floor(index / cells_per_module)} cell ${index % cells_per_module}`
    return `${place} (${formatQuantity(cells.cell_voltages_mv[index], 'mV', 0)})`
  })
  return (
    <Text>
      <strong>Voltage outliers ({found.length}):</strong> {names.join(', ')}
      {found.length > outliers_shown && ' and others'}.
    </Text>
  )
}

const pcs_table = tableOf<PcsNow>('Power conversion', 820, 'pcs_idx', [
  column('PCS', ({ pcs_idx }) => pcs_idx),
  column('State', ({ state, quality }) =>
    quality === 'stale'
      ? whole('Communication lost', 'red')
      : whole(inWords(state ?? 'unknown'), pcsColor(state)),
  ),
  numeric('Power', ({ ac_power_kw }) => ac_power_kw, formatPower),
  numeric('Setpoint', ({ setpoint_kw }) => setpoint_kw, formatPower),
  numeric('Maximum, discharge / charge', ({ max_discharge_power_kw, max_charge_power_kw }) =>
    [max_discharge_power_kw, max_charge_power_kw].map(formatPower).join(' / '),
  ),
  numeric('Grid', ({ voltage_l1_l2_v, frequency_hz }) =>
    [formatQuantity(voltage_l1_l2_v, 'V', 0), formatQuantity(frequency_hz, 'Hz', 2)].join(', '),
  ),
  numeric('DC', ({ dc_voltage_v }) => dc_voltage_v, inUnit('V', 0)),
  numeric('Heat sink', (pcs) => pcs.heatsink_temperature_c, inUnit('°C')),
  numeric('Energy discharged', ({ energy_injected_total_kwh: kwh }) =>
    formatQuantity(kwh === null ? null : kwh / 1000, 'MWh'),
  ),
])

function pcsColor(state: string | null): string {
  if (state === 'fault') return 'red'
  return state === null ? 'gray' : 'teal'
}

function Pcs({ bess_id }: { bess_id: number }) {
  const pcs = useRead('bess', 'bessPcsCurrentGet', { bess_id }, live_ms)
  return (
    <Part title="Power conversion">
      <Answered query={pcs}>
        {(data) => <DataTable {...pcs_table} rows={data.pcs} none="No power conversion data" />}
      </Answered>
      <Faults bess_id={bess_id} />
    </Part>
  )
}

function Faults({ bess_id }: { bess_id: number }) {
  const { data } = useRead('bess', 'bessPcsFaultsGet', { bess_id }, slow_ms)
  if (!data) return null
  if (data.active_count === 0) {
    return <Text>{data.measured_at === null ? 'Faults unknown' : 'No active faults'}</Text>
  }
  return (
    <Stack gap={4} component="ul" m={0} pl={0}>
      {data.active.map(({ pcs_idx, code, name, severity, asserted_since_at }) => (
        <li key={`${pcs_idx} ${code}`} style={{ listStyle: 'none' }}>
          <SeverityBadge severity={severity} /> PCS {pcs_idx}: {name}
          {asserted_since_at && ', since '}
          {asserted_since_at && <Time at={asserted_since_at} />}
        </li>
      ))}
    </Stack>
  )
}

function Details({ unit }: { unit: BatteryUnit }) {
  const chemistry = unit.chemistry.toUpperCase().replace('_', ' ')
  const cells = formatNumber(unit.cell_count, 0)
  const parts = `${unit.cluster_count} clusters, ${unit.module_count} modules, ${cells} cells`
  return (
    <Part title="Details">
      <Facts
        cols={4}
        rows={[
          ['Model', [unit.manufacturer, unit.model].filter(Boolean).join(' ') || null],
          ['Serial number', unit.serial_number],
          ['Cells', `${chemistry}, ${unit.coupling.toUpperCase()} coupled`],
          ['Energy, rated', formatQuantity(unit.rated_energy_kwh, 'kWh', 0)],
          ['Energy, usable', formatQuantity(unit.usable_energy_kwh, 'kWh')],
          ['Discharge power, rated', formatPower(unit.rated_discharge_power_kw)],
          ['Charge power, rated', formatPower(unit.rated_charge_power_kw)],
          ['Round-trip efficiency', formatQuantity(unit.roundtrip_efficiency_pct, '%')],
          ['Consists of', parts],
          ['In service since', unit.commissioned_date],
          ['Warranty until', unit.warranty_end_date],
          ['Firmware', unit.bms_firmware],
        ]}
      />
    </Part>
  )
}
