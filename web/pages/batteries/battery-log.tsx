import type {
  BatteryAlarmTransition,
  BatteryControlNote,
  BatteryDispatch,
  BatteryProtection,
  BatterySetup,
  BatterySetupRegister,
  SeriesMeta,
} from '@heliograph/sdk'
import { Stack, Tabs } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { useRead, useSite } from '../../queries.ts'
import { SeverityBadge } from '../../ui/badges.tsx'
import {
  column,
  DataTable,
  type DataTableProps,
  numeric,
  tableOf,
  wrapped,
} from '../../ui/data-table.tsx'
import { DayPicker, useDaySpan } from '../../ui/days.tsx'
import {
  formatDuration,
  formatNumber,
  formatPower,
  formatQuantity,
  inWords,
} from '../../ui/format.ts'
import { type Fact, Facts, Heading, Muted, noted, Page, SiteButton, Time } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import NotFound from '../not-found.tsx'
import type { SitePageProps } from '../pages.ts'
import { live_ms, slow_ms, useUnit } from './battery/shared.tsx'
import { inSentence, powerWords } from './battery/words.ts'

interface OfUnit {
  bess_id: number
}

export default function BatteryLog({ bess_id: text }: SitePageProps) {
  const bess_id = Number(text)
  const { get, set } = useFilters()
  const { name, is_missing } = useUnit(bess_id)
  if (is_missing) return <NotFound />
  const shown = tabs.find(({ value }) => value === get('tab')) ?? tabs[0]!
  return (
    <Page
      title={`Log and settings of ${name}`}
      actions={
        <SiteButton to={`/batteries/${bess_id}`} variant="default">
          Battery
        </SiteButton>
      }
    >
      <Tabs
        value={shown.value}
        onChange={(tab) => set({ tab: tab === tabs[0]!.value ? null : tab, day: null, days: null })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {tabs.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ value, Panel }) => (
          <Tabs.Panel key={value} value={value}>
            <Panel bess_id={bess_id} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  )
}

/** The newest rows of a log that are read at once. */
const limit = 1000

interface LogTableProps<Row> extends Omit<DataTableProps<Row>, 'rows' | 'page_size'> {
  /** In the order of the API: the oldest row first. */
  log: UseQueryResult<{ data: Row[]; meta: SeriesMeta }>
}

function LogTable<Row>({ log, ...table }: LogTableProps<Row>) {
  return (
    <Answered query={log}>
      {({ data, meta }) => (
        <Stack>
          <DataTable {...table} rows={data.toReversed()} page_size={25} />
          {meta.truncated && (
            <Muted>
              The newest {formatNumber(data.length, 0)} of {formatNumber(meta.count, 0)} rows. The
              API returns all of them, also as a file.
            </Muted>
          )}
        </Stack>
      )}
    </Answered>
  )
}

const charge = numeric<{ soc_pct: number | null }>('Charge, %', (row) => formatNumber(row.soc_pct))

const tiers: Record<BatteryControlNote['tier'], string> = {
  protection: 'Protection',
  permit: 'Grid permit',
  operator: 'Operator',
  dispatch: 'Approved plan',
}

function whatOf({ action, from_power_kw: from, to_power_kw: to, success }: BatteryControlNote) {
  const failed = success ? '' : ', failed'
  if (to === null) return `${inWords(action)}${failed}`
  const before = from === null ? '' : ` (${inSentence(powerWords(from))} before)`
  return `${inWords(action)}: ${inSentence(powerWords(to))}${before}${failed}`
}

const decision_table = tableOf<BatteryControlNote>('Decisions', 860, 'log_id', [
  column('Time', ({ occurred_at: at }) => <Time at={at} />),
  column('Decided by', ({ tier, actor, overrode_tier: over }) =>
    noted(tiers[tier], `${inWords(actor)}${over ? `, over ${inSentence(tiers[over])}` : ''}`),
  ),
  wrapped('Action', whatOf),
  wrapped('Reason', ({ message }) => message),
  charge,
])

const Decisions = ({ bess_id }: OfUnit) => (
  <LogTable
    {...decision_table}
    log={useRead('bess', 'bessControlLogList', { bess_id, limit }, live_ms)}
    nouns={['decision', 'decisions']}
    none="No decisions so far"
  />
)

const clamps: Record<NonNullable<BatteryDispatch['clamp_reason']>, string> = {
  soc_min: 'minimum charge',
  soc_max: 'maximum charge',
  power_limit: 'power limit of battery, PCS or curtailment',
  temperature: 'cell temperature',
  permit: 'grid permit',
  alarm: 'alarm',
  ramp: 'ramp rate',
}

const setpoint_table = tableOf<BatteryDispatch>('Setpoints', 860, 'dispatch_id', [
  column('Time', ({ issued_at: at }) => <Time at={at} />),
  column('Requested', ({ requested_power_kw: kw, source }) =>
    noted(powerWords(kw), `by ${source === 'schedule' ? 'the plan' : inSentence(inWords(source))}`),
  ),
  wrapped('Applied', ({ clamp_reason: reason, clamped_power_kw: kw }) =>
    reason === null
      ? 'Full power'
      : noted(kw === null ? 'Reduced' : powerWords(kw), `limited by ${clamps[reason]}`),
  ),
  wrapped('Status', ({ status, failure_code }) =>
    failure_code === null ? inWords(status) : `${inWords(status)}: ${inWords(failure_code)}`,
  ),
  column('Measured', ({ achieved_power_kw: kw }) => powerWords(kw)),
  numeric('Latency', ({ latency_ms }) => formatQuantity(latency_ms && latency_ms / 1000, 's')),
  charge,
])

function Setpoints({ bess_id }: OfUnit) {
  const chosen = useDaySpan(useSite().timezone, 7)
  const { start_ms, end_ms } = chosen.span
  const window = { start: new Date(start_ms), end: new Date(end_ms), limit: 10_000 }
  const log = useRead('bess', 'bessDispatchLogList', { bess_id, ...window }, live_ms)
  return (
    <Stack>
      <DayPicker chosen={chosen} choices={[1, 2, 7]} />
      <LogTable
        {...setpoint_table}
        key={`${chosen.day} ${chosen.days}`}
        log={log}
        nouns={['setpoint', 'setpoints']}
        none="No setpoints in this period"
      />
    </Stack>
  )
}

const whereOf = ({ source, cluster_idx, pcs_idx }: BatteryAlarmTransition) =>
  [
    source.toUpperCase(),
    cluster_idx !== null && `cluster ${cluster_idx}`,
    pcs_idx !== null && `power conversion ${pcs_idx}`,
  ]
    .filter(Boolean)
    .join(', ')

const alarm_table = tableOf<BatteryAlarmTransition>('Alarm history', 860, 'event_id', [
  column('Time', ({ occurred_at: at }) => <Time at={at} />),
  wrapped('Alarm', (row) => noted(row.name, whereOf(row))),
  column('Severity', ({ severity }) => <SeverityBadge severity={severity} />),
  column('Change', ({ transition, duration_s }) =>
    transition === 'set'
      ? 'Set'
      : `Cleared${duration_s === null ? '' : ` after ${formatDuration(duration_s)}`}`,
  ),
  column('Battery', ({ power_kw }) => powerWords(power_kw)),
  charge,
])

const AlarmLog = ({ bess_id }: OfUnit) => (
  <LogTable
    {...alarm_table}
    log={useRead('bess', 'bessAlarmsHistoryList', { bess_id, limit }, live_ms)}
    nouns={['change', 'changes']}
    none="No alarms so far"
  />
)

const units: Partial<Record<BatteryProtection['unit'], string>> = {
  C: '°C',
  pct: '%',
  kohm: 'kΩ',
}

const quantity = (value: number | null, unit: BatteryProtection['unit']) =>
  formatQuantity(value, units[unit] ?? unit, Number.isInteger(value) ? 0 : 1)

const names: Partial<Record<BatteryProtection['parameter'], string>> = {
  soc_low: 'State of charge low',
  soc_high: 'State of charge high',
}

const protection_table = tableOf<BatteryProtection>(
  'Thresholds of protection',
  760,
  ({ parameter, level, source }) => `${source} ${parameter} ${level}`,
  [
    column('Protection', ({ parameter }) => names[parameter] ?? inWords(parameter)),
    column('Level', ({ level }) => inWords(level)),
    numeric('Trips at', ({ trip_value, unit }) => quantity(trip_value, unit)),
    numeric('Recovers at', ({ recover_value, unit }) => quantity(recover_value, unit)),
    numeric('Delay, s', ({ delay_ms }) => formatNumber(delay_ms && delay_ms / 1000)),
    column('Action', ({ action }) => inWords(action)),
    column('Source', ({ source }) => source.toUpperCase()),
  ],
)

function Protection({ bess_id }: OfUnit) {
  const protection = useRead('bess', 'bessProtectionList', { bess_id }, slow_ms)
  return (
    <Answered query={protection}>
      {({ data }) => {
        const [oldest_at] = data.map(({ read_at }) => read_at).sort()
        if (!oldest_at) return <Empty title="The device reports no thresholds" />
        return (
          <Stack>
            <Muted>
              Read from the device <Time at={oldest_at} />. Thresholds can be changed only at the
              device.
            </Muted>
            <DataTable {...protection_table} rows={data} />
          </Stack>
        )
      }}
    </Answered>
  )
}

/** Null when no device reports the value. */
const known = (value: number | null, unit: string) =>
  value === null ? null : formatQuantity(value, unit, 0)
const power = (kw: number | null) => (kw === null ? null : formatPower(kw))

const settingsOf = (setup: BatterySetup): Fact[] => [
  ['Energy, rated', known(setup.rated_energy_kwh, 'kWh')],
  ['Capacity, rated', known(setup.rated_capacity_ah, 'Ah')],
  ['Voltage, nominal', known(setup.nominal_voltage_v, 'V')],
  ['Maximum charge power', power(setup.max_charge_power_kw)],
  ['Maximum discharge power', power(setup.max_discharge_power_kw)],
  ['Minimum charge', known(setup.soc_min_pct, '%')],
  ['Maximum charge', known(setup.soc_max_pct, '%')],
  ['Reserve', known(setup.soc_reserve_pct, '%')],
  ['Ramp rate', known(setup.ramp_rate_kw_s, 'kW/s')],
  ['Heartbeat timeout', known(setup.heartbeat_timeout_s, 's')],
  ['Firmware', setup.bms_firmware],
  ['Address', setup.bms_address],
]

const register_table = tableOf<BatterySetupRegister>(
  'Registers',
  420,
  ({ address, name }) => `${address} ${name}`,
  [
    numeric('Address', ({ address }) => address),
    column('Name', ({ name }) => name),
    numeric('Value', ({ value }) => formatNumber(value, Number.isInteger(value) ? 0 : 3)),
    column('Unit', ({ unit }) => unit),
  ],
)

/** Settings of the device, read-only. */
function Setup({ bess_id }: OfUnit) {
  const setup = useRead('bess', 'bessSetupGet', { bess_id }, slow_ms)
  return (
    <Answered query={setup}>
      {(setup) => (
        <Stack>
          <Muted>
            Read <Time at={setup.read_at} />, unchanged since <Time at={setup.changed_at} />.
            Settings can be changed only at the device.
          </Muted>
          <Facts rows={settingsOf(setup)} cols={4} left_out />
          <Heading>Registers</Heading>
          <DataTable {...register_table} rows={setup.raw_registers} none="No registers were read" />
        </Stack>
      )}
    </Answered>
  )
}

const tabs = [
  { value: 'decisions', label: 'Decisions', Panel: Decisions },
  { value: 'setpoints', label: 'Setpoints', Panel: Setpoints },
  { value: 'alarms', label: 'Alarms', Panel: AlarmLog },
  { value: 'protection', label: 'Protection', Panel: Protection },
  { value: 'setup', label: 'Device settings', Panel: Setup },
]
