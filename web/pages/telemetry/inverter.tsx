import type { Inverter, Overview } from '@heliograph/sdk'
import { Alert, Badge, Group, Stack, Text } from '@mantine/core'
import { useOverview, useRead, useSite } from '../../queries.ts'
import {
  facing,
  InverterState,
  limitWords,
  SeverityBadge,
  StringHealthBadge,
  StringState,
} from '../../ui/badges.tsx'
import { column, DataTable, numeric, tableOf } from '../../ui/data-table.tsx'
import { DeviceExchanges } from '../../ui/device-exchange.tsx'
import { DeviceAlerts, useDevices } from '../../ui/devices.tsx'
import {
  formatAge,
  formatEnergy,
  formatNumber,
  formatPower,
  formatQuantity,
  formatSigned,
  inUnit,
  none,
} from '../../ui/format.ts'
import { historyOf } from '../../ui/history.ts'
import { OverTime } from '../../ui/over-time.tsx'
import { type Fact, Facts, Muted, Page, Section, SiteLink } from '../../ui/page.tsx'
import { inverterQuantities, mpptQuantities } from '../../ui/quantities.ts'
import { Answered, Empty } from '../../ui/states.tsx'
import { useStrings } from '../../ui/strings.ts'
import type { SitePageProps } from '../pages.ts'

export default function InverterPage({ inverter_id: text }: SitePageProps) {
  const { site_id } = useSite()
  const overview = useOverview()
  const { inverterName, plantName } = useDevices()
  const title = inverterName(Number(text))
  return (
    <Page
      title={title}
      actions={<SiteLink to={`/explorer?devices=inverter:${text}`}>Explorer</SiteLink>}
    >
      <Answered query={overview}>
        {({ inverters, strings }) => {
          const inverter = inverters.find((one) => String(one.inverter_id) === text)
          if (!inverter) return <Empty title={`No inverter ${text} at this site`} />
          const { inverter_id, logger_id, limited_by, mppt_count } = inverter
          return (
            <Stack>
              <Group gap="sm">
                <InverterState inverter={inverter} />
                {limited_by && limited_by !== 'none' && (
                  <Badge color="yellow">Limit: {limitWords(limited_by)}</Badge>
                )}
                <Text size="sm">
                  of{' '}
                  <SiteLink to={`/plants/${logger_id}`} size="sm" underline="always">
                    {plantName(logger_id)}
                  </SiteLink>
                </Text>
              </Group>
              <DeviceAlerts inverter_id={inverter_id} />
              <DeviceExchanges kinds={['inverter']} device_id={String(inverter_id)} />
              <Alarms inverter={inverter} />
              <Section title="Now">
                <Facts rows={nowOf(inverter)} cols={4} />
              </Section>
              <OverTime
                name={title}
                historyOf={(shown) =>
                  historyOf('invertersHistoryList', { site_id, inverter_id }, shown)
                }
                quantities={[...inverterQuantities, ...mpptQuantities(mppt_count)]}
                first={['ac_power_kw', 'available_power_kw']}
                choices={[1, 2, 3]}
              />
              <Strings
                inverter_id={inverter_id}
                now={strings.filter((one) => one.inverter_id === inverter_id)}
              />
              <Section title="Details">
                <Facts rows={factsOf(inverter)} cols={4} />
              </Section>
            </Stack>
          )
        }}
      </Answered>
    </Page>
  )
}

function Alarms({ inverter }: { inverter: Inverter }) {
  const codes = inverter.active_alarm_codes
  const options = { enabled: codes.length > 0, staleTime: Number.POSITIVE_INFINITY }
  const { data } = useRead('alarm-table', 'invertersAlarmsTableList', {}, options)
  if (codes.length === 0) return null
  const wordsOf = (code: string) => {
    const rows = data?.data.filter((row) => row.code === code) ?? []
    return rows.find(({ manufacturer }) => manufacturer === inverter.manufacturer) ?? rows[0]
  }
  return (
    <Alert color="red" title={`Alarms of the inverter: ${codes.length}`}>
      <Stack gap="sm">
        {codes.map((code) => {
          const words = wordsOf(code)
          return (
            <div key={code}>
              <Group gap="xs">
                {words && <SeverityBadge severity={words.severity} />}
                <Text fw={600}>{words?.name ?? code}</Text>
                <Muted>{words ? code : data && 'Not in the alarm table of the manufacturer'}</Muted>
              </Group>
              {words && <Text size="sm">{words.description}</Text>}
              {words?.cause && <Text size="sm">Cause: {words.cause}</Text>}
              {words?.recommended_action && (
                <Text size="sm">Recommended action: {words.recommended_action}</Text>
              )}
            </div>
          )
        })}
      </Stack>
    </Alert>
  )
}

/** Several values with one unit, such as those of the phases. */
function three(values: readonly (number | null)[], unit: string, digits: number): string {
  if (values.every((value) => value === null)) return none
  return `${values.map((value) => formatNumber(value, digits)).join(' / ')}\u00a0${unit}`
}

const nowOf = (now: Inverter): Fact[] => [
  ['Power', formatPower(now.ac_power_kw)],
  ['Available', formatPower(now.available_power_kw)],
  ['DC power', formatPower(now.dc_power_kw)],
  ['Efficiency', formatQuantity(now.efficiency_pct, '%')],
  ['Energy today', formatEnergy(now.energy_today_kwh)],
  ['Yield today', formatQuantity(now.specific_yield_today_kwh_kwp, 'kWh/kWp', 2)],
  ['Limited by', limitWords(now.limited_by)],
  ['Device limit', formatQuantity(now.power_limit_pct, '%')],
  ['Reactive power', formatQuantity(now.reactive_power_kvar, 'kvar')],
  ['Power factor', formatNumber(now.power_factor, 3)],
  ['Frequency', formatQuantity(now.frequency_hz, 'Hz', 2)],
  ['DC voltage', formatQuantity(now.dc_voltage_v, 'V', 0)],
  [
    'Voltage L1-L2 / L2-L3 / L3-L1',
    three([now.voltage_l1_l2_v, now.voltage_l2_l3_v, now.voltage_l3_l1_v], 'V', 0),
  ],
  ['Current L1 / L2 / L3', three([now.current_l1_a, now.current_l2_a, now.current_l3_a], 'A', 1)],
  ['Cabinet / heat sink', three([now.cabinet_temperature_c, now.heatsink_temperature_c], '°C', 0)],
  ['Insulation resistance', formatQuantity(now.insulation_resistance_kohm, 'kΩ', 0)],
  ['Energy, total', formatEnergy(now.energy_total_kwh)],
  ['Last data', `${formatAge(now.age_s)}, ${now.quality}`],
]

const factsOf = (inverter: Inverter): Fact[] => [
  ['Manufacturer', inverter.manufacturer],
  ['Model', inverter.model],
  ['Serial number', inverter.serial_number],
  ['Firmware', inverter.firmware_version],
  ['Rated power', formatPower(inverter.rated_ac_power_kw)],
  ['DC capacity', formatQuantity(inverter.dc_capacity_kwp, 'kWp')],
  ['MPPTs and strings', `${inverter.mppt_count} and ${inverter.string_count}`],
  ['Maximum DC voltage', formatQuantity(inverter.max_dc_voltage_v, 'V', 0)],
]

type Now = Overview['strings'][number]

/** Present currents compared with strings of the same orientation, and the status of a week. */
function Strings({ inverter_id, now }: { inverter_id: number; now: readonly Now[] }) {
  const { stringOf, weekOf } = useStrings(inverter_id)
  const orientationOf = ({ string_index }: Now) => stringOf(string_index)?.orientation
  const table = tableOf<Now>('Strings', 820, 'string_index', [
    column('String', ({ string_index: index }) => (
      <SiteLink to={`/inverters/${inverter_id}/strings/${index}`}>String {index}</SiteLink>
    )),
    numeric('MPPT', ({ string_index }) => stringOf(string_index)?.mppt_index ?? none),
    column('State', ({ status }) => <StringState status={status} />),
    numeric('Current', ({ current_a }) => current_a, inUnit('A', 2)),
    numeric('Current vs peers', (own) => {
      const peers = now.filter((one) => orientationOf(one) === orientationOf(own))
      return deviation(own, peers)
    }),
    numeric('Voltage', ({ voltage_v }) => voltage_v, inUnit('V', 0)),
    numeric('Power', ({ power_kw }) => power_kw, inUnit('kW', 2)),
    column('Status, 7 days', ({ string_index }) => {
      const week = weekOf(string_index)
      return week ? <StringHealthBadge status={week.status} /> : none
    }),
    numeric('Power vs peers, 7 days', ({ string_index }) =>
      formatSigned(weekOf(string_index)?.deviation_pct),
    ),
    column('Orientation', ({ string_index }) => {
      const string = stringOf(string_index)
      return string ? facing(string) : none
    }),
  ])
  return (
    <Section title="Strings">
      <DataTable {...table} rows={now} none="No strings" />
    </Section>
  )
}

/** Deviation from the median current of the peers; none for medians below 0.5 A. */
function deviation(own: Now, peers: readonly Now[]): string {
  const currents = peers
    .flatMap(({ current_a }) => (current_a === null ? [] : [current_a]))
    .sort((a, b) => a - b)
  const median = currents[Math.floor(currents.length / 2)]
  if (own.current_a === null || median === undefined || median < 0.5) return none
  return formatSigned((own.current_a / median - 1) * 100)
}
