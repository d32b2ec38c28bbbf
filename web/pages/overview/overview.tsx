import type { Overview } from '@heliograph/sdk'
import { Alert, Badge, Group, List, Progress, SimpleGrid, Stack, Text } from '@mantine/core'
import { useMayRead, useOverview, useRead } from '../../queries.ts'
import {
  bySeverity,
  HealthBadge,
  healthReason,
  limitWords,
  SeverityBadge,
} from '../../ui/badges.tsx'
import { PlantTable } from '../../ui/device-tables.tsx'
import { useDevices } from '../../ui/devices.tsx'
import {
  formatAge,
  formatEnergy,
  formatMoney,
  formatNumber,
  formatPower,
  formatQuantity,
  inSiteTime,
  inWords,
  none,
} from '../../ui/format.ts'
import { isDisconnected } from '../../ui/known-now.ts'
import { loaded } from '../../ui/lazy-chart.tsx'
import { Figure, Muted, NamedFigure, Page, Section, SiteLink, Time } from '../../ui/page.tsx'
import { Answered } from '../../ui/states.tsx'
import { powerWords } from '../batteries/battery/words.ts'
import { netOf, useEarnedToday } from './earned-today.ts'
import { curtailedWords, sentence, shareOf, weakWords } from './sentence.ts'

const TodayChart = loaded(() => import('./today-chart.tsx'))

interface WithOverview {
  overview: Overview
}

export default function OverviewPage() {
  const query = useOverview()
  const mayRead = useMayRead()
  return (
    <Page title="Overview">
      <Answered query={query}>
        {(overview) => (
          <Stack gap="md">
            <Verdict overview={overview} />
            <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing={{ base: 'xs', sm: 'md' }}>
              <PowerNow overview={overview} />
              <EnergyToday overview={overview} />
              {mayRead('earnings:read') && <MoneyToday site={overview.site} />}
              {overview.alerts && <AlertCount overview={overview} />}
            </SimpleGrid>
            <Section title="Today">
              <TodayChart overview={overview} />
            </Section>
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <Limits overview={overview} />
              {mayRead('alerts:read') && <OpenAlerts overview={overview} />}
              <InverterStates overview={overview} />
              <WeatherNow overview={overview} />
              <BatteryCards overview={overview} />
            </SimpleGrid>
            <Section title="Plants">
              <PlantTable plants={overview.loggers} />
            </Section>
          </Stack>
        )}
      </Answered>
    </Page>
  )
}

/** Energy of today, % of the expected energy so far; null when unknown. */
function useShareToday(): number | null {
  const { data } = useRead('plant-summary', 'plantSummaryList', {}, 60_000)
  const { energy_kwh, expected_energy_kwh } = data?.meta.totals ?? {}
  return shareOf(energy_kwh, expected_energy_kwh)
}

const reasons_shown = 8

function Verdict({ overview }: WithOverview) {
  const { health_status, health_reasons } = overview.status
  const share_pct = useShareToday()
  const more = health_reasons.length - reasons_shown
  return (
    <div>
      <Group gap="sm" mb={health_reasons.length > 0 ? 'xs' : 0}>
        <HealthBadge status={health_status} />
        <Text>{sentence(overview.status, share_pct)}</Text>
      </Group>
      <WeakStrings />
      {health_reasons.length > 0 && (
        <Alert
          variant="outline"
          color={health_status === 'offline' ? 'red' : 'orange'}
          title="Problems"
        >
          <List size="sm">
            {health_reasons.slice(0, reasons_shown).map((reason) => (
              <List.Item key={reason}>
                <Reason reason={reason} overview={overview} />
              </List.Item>
            ))}
            {more > 0 && <List.Item>and {more} more</List.Item>}
          </List>
        </Alert>
      )}
    </div>
  )
}

function Reason({ reason, overview }: WithOverview & { reason: string }) {
  const { loggers, inverters } = overview
  const [code = '', id = ''] = reason.split(':')
  const logger = loggers.find(({ logger_id }) => String(logger_id) === id)
  const inverter = inverters.find(({ inverter_id }) => String(inverter_id) === id)
  const ways: [starts: string, to: string, name: string | undefined][] = [
    ['critical_alerts', '/alerts', id],
    ['logger_', `/plants/${id}`, logger?.name],
    ['inverter_', `/inverters/${id}`, inverter?.name],
  ]
  const [, to, name] = ways.find(([starts]) => code.startsWith(starts)) ?? []
  if (!to) return healthReason(reason)
  const words = healthReason(`${code}:${name ?? id}`)
  return (
    <SiteLink to={to} size="sm" underline="always">
      {logger ? words.replace(`Plant ${logger.name}`, logger.name) : words}
    </SiteLink>
  )
}

/** Count of unhealthy strings of the last seven days, shown also at night. */
function WeakStrings() {
  const enabled = useMayRead()('diagnostics:read')
  const options = { enabled, staleTime: 300_000, refetchInterval: 300_000 }
  const { data } = useRead('health-matrix', 'efficiencyHealthList', {}, options)
  const words = weakWords((data?.data ?? []).map(({ status }) => status))
  if (words === null) return null
  return (
    <Text size="sm" mt="xs">
      <SiteLink to="/string-health" size="sm" underline="always">
        {words}
      </SiteLink>
    </Text>
  )
}

function PowerNow({ overview: { status, predictions, generated_at } }: WithOverview) {
  const now = Date.parse(generated_at)
  const hour = predictions?.next_hours.find(
    ({ start_at, end_at }) => Date.parse(start_at) <= now && now < Date.parse(end_at),
  )
  const isCurtailed = (status.curtailed_power_kw ?? 0) >= 0.5
  return (
    <Figure
      label="Power now"
      value={formatPower(status.ac_power_kw)}
      note={
        <>
          {isCurtailed && <>available {formatPower(status.available_power_kw)} </>}
          {predictions && <>forecast {formatPower(hour?.p50_kw)}</>}
        </>
      }
    />
  )
}

function EnergyToday({ overview: { status, predictions } }: WithOverview) {
  const share = useShareToday()
  return (
    <Figure
      label="Energy today"
      value={formatEnergy(status.energy_today_kwh)}
      tone={share !== null && share < 85 && 'bad'}
      note={
        <>
          {share !== null && `${formatNumber(share, 0)} % of the expected energy so far. `}
          {predictions && status.is_daylight && (
            <>Forecast for the day {formatEnergy(predictions.today_p50_kwh)}</>
          )}
        </>
      }
    />
  )
}

const reasons: Record<string, string> = {
  no_contract: 'the plants have no contract',
  no_price: 'the market has no price yet',
  no_exchange_rate: 'an exchange rate is missing',
  no_energy: 'energy unknown',
  not_yet: 'not available yet',
}

function MoneyToday({ site }: { site: Overview['site'] }) {
  const { data, isError } = useEarnedToday(site)
  const per_mwh = data?.average_price_per_mwh
  return (
    <Figure
      label="Net revenue today"
      value={formatMoney(netOf(data), data?.currency ?? null)}
      note={
        <>
          {isError && !data && 'Unavailable. '}
          {data?.reason && <>Incomplete: {reasons[data.reason] ?? inWords(data.reason)}. </>}
          {per_mwh !== null && per_mwh !== undefined && data?.currency && (
            <>{formatMoney(per_mwh, data.currency)}/MWh on average. </>
          )}
          {data?.price_status === 'provisional' && 'Provisional. '}
          {data && data.timezone !== site.timezone && `Market day (${data.timezone}). `}
          <SiteLink to="/earnings" size="sm" underline="always">
            Earnings
          </SiteLink>
        </>
      }
    />
  )
}

function AlertCount({ overview: { site, alerts, status } }: WithOverview) {
  // Acknowledged alerts stay open until their cause ends.
  const open = alerts ? alerts.active + alerts.acknowledged : null
  const worst = site.highest_alert_severity
  return (
    <Figure
      label="Open alerts"
      value={open ?? none}
      tone={(worst === 'critical' || worst === 'major') && 'bad'}
      note={
        <>
          {worst && `Highest severity: ${inWords(worst).toLowerCase()}. `}
          {open === 0 && status.health_status === 'healthy' && 'No action needed. '}
          {alerts && alerts.acknowledged > 0 && `${alerts.acknowledged} acknowledged. `}
          <SiteLink to="/alerts" size="sm" underline="always">
            Alerts
          </SiteLink>
        </>
      }
    />
  )
}

const moreAt = (to: string, words: string) => (
  <SiteLink to={to} size="sm">
    {words}
  </SiteLink>
)

function Limits({ overview }: WithOverview) {
  const { curtailment, loggers } = overview
  const may_read = useMayRead()('curtailment:read')
  const causes = causesOf(overview)
  const is_unknown = loggers.length > 0 && loggers.every(isDisconnected)
  const is_curtailed = loggers.some(({ curtailment_active }) => curtailment_active)
  return (
    <Section title="Limits" aside={may_read && moreAt('/curtailment', 'Curtailment')}>
      {causes.length === 0 && !is_curtailed && (
        <Text>{is_unknown ? 'Unknown while all plants are offline.' : 'No limit in force.'}</Text>
      )}
      {causes.length > 0 && (
        <List size="sm">
          {causes.map(({ cause, count }) => (
            <List.Item key={cause}>
              {cause}: {count} {count === 1 ? 'inverter' : 'inverters'}
            </List.Item>
          ))}
        </List>
      )}
      {curtailment && curtailment.active_count > 0 && (
        <>
          <Text mt="xs">
            Limit of all plants {formatPower(curtailment.limit_kw)};{' '}
            {curtailedWords(curtailment.curtailed_now_kw)}.
          </Text>
          {may_read && <RowsInForce />}
        </>
      )}
    </Section>
  )
}

function causesOf({ inverters }: Overview) {
  const limited = inverters.filter(
    ({ limited_by, comm_state }) =>
      limited_by &&
      limited_by !== 'none' &&
      comm_state !== 'disconnected' &&
      comm_state !== 'unknown',
  )
  const causes = Map.groupBy(limited, ({ limited_by }) => limitWords(limited_by))
  return [...causes].map(([cause, { length }]) => ({ cause, count: length }))
}

function RowsInForce() {
  const { plantName } = useDevices()
  const { data } = useRead('curtailment', 'curtailmentList', {}, 15_000)
  const rows = data?.data.filter(({ is_active }) => is_active) ?? []
  return (
    <List size="sm" mt="xs">
      {rows.slice(0, 6).map((row) => (
        <List.Item key={row.id}>
          {plantName(row.logger_id)}: limit {formatPower(row.max_power_kw)} until{' '}
          <Time at={row.end_at} />, by {row.created_by ?? 'the site'}
          {row.applied ? ', applied' : ', not confirmed yet'}
          {row.failure_message && `: ${row.failure_message}`}
        </List.Item>
      ))}
      {rows.length > 6 && <List.Item>and {rows.length - 6} more</List.Item>}
    </List>
  )
}

function OpenAlerts({ overview: { site, loggers } }: WithOverview) {
  const query = useRead('alerts', 'alertsList', {}, 30_000)
  return (
    <Section title="Alerts" aside={moreAt('/alerts', 'All alerts')}>
      <Answered query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Text>
              No active alerts.
              {loggers.some(isDisconnected) && ' Offline plants are not monitored.'}
            </Text>
          ) : (
            <Stack gap="xs">
              {data
                .toSorted(bySeverity)
                .slice(0, 4)
                .map((alert) => (
                  <div key={alert.alert_id}>
                    <Group gap="xs">
                      <SeverityBadge severity={alert.severity} />
                      <Muted>
                        since <Time at={alert.started_at} />
                      </Muted>
                    </Group>
                    <Text size="sm">{inSiteTime(alert.message, site.timezone)}</Text>
                  </div>
                ))}
              {data.length > 4 && <Text size="sm">and {data.length - 4} more</Text>}
            </Stack>
          )
        }
      </Answered>
    </Section>
  )
}

const states = [
  ['producing', 'producing', 'teal'],
  ['standby', 'standby', 'gray'],
  ['asleep', 'asleep', 'gray'],
  ['faulted', 'fault', 'red'],
  ['offline', 'offline', 'red'],
  ['unknown', 'unknown', 'orange'],
] as const

function InverterStates({ overview: { status } }: WithOverview) {
  return (
    <Section title="Inverters" aside={moreAt('/inverters', `All ${status.inverters_total}`)}>
      <Group gap="xs">
        {states
          .filter(([state]) => status[`inverters_${state}`] > 0)
          .map(([state, words, color]) => (
            <Badge key={state} color={color} size="lg">
              {status[`inverters_${state}`]} {words}
            </Badge>
          ))}
      </Group>
      <Text size="sm" mt="sm">
        Strings: {status.strings_ok} OK, {status.strings_asleep} asleep
        {status.strings_zero_current > 0 && `, ${status.strings_zero_current} without current`}
        {status.strings_reverse_current > 0 &&
          `, ${status.strings_reverse_current} with reverse current`}
        {status.strings_no_data > 0 && `, ${status.strings_no_data} without data`} of{' '}
        {status.strings_total}
      </Text>
    </Section>
  )
}

function WeatherNow({ overview: { site, status, weather } }: WithOverview) {
  const station = weather[0]
  const rows: [string, string][] = [
    ['Irradiance, panel plane', formatQuantity(status.poa_irradiance_w_m2, 'W/m²', 0)],
    ['Panel temperature', formatQuantity(status.module_temperature_c, '°C')],
    ['Air temperature', formatQuantity(status.ambient_temperature_c, '°C')],
    ['Wind', formatQuantity(station?.wind_speed_m_s, 'm/s')],
    ['Humidity', formatQuantity(station?.relative_humidity_pct, '%', 0)],
    ['Sun elevation', formatQuantity(status.sun_elevation_deg, '°')],
  ]
  return (
    <Section title="Weather">
      <SimpleGrid cols={{ base: 2, xs: 3 }} spacing="xs">
        {rows.map(([name, value]) => (
          <NamedFigure key={name} name={name} value={value} />
        ))}
      </SimpleGrid>
      <Muted mt="xs">
        {station
          ? `Wind and humidity: ${station.name ?? 'met station'}, ${formatAge(station.age_s)}`
          : `No met station at ${site.name}`}
      </Muted>
    </Section>
  )
}

const BatteryCards = ({ overview: { bess } }: WithOverview) =>
  (bess ?? []).map((unit) => (
    <Section
      key={unit.bess_id}
      title={unit.name ?? `Battery ${unit.bess_id}`}
      aside={moreAt(`/batteries/${unit.bess_id}`, 'Open')}
    >
      <Text className="figure" fz={20} fw={600}>
        {unit.soc_pct === null ? none : `${formatNumber(unit.soc_pct, 0)} %`} charged
      </Text>
      {unit.soc_pct !== null && (
        <Progress value={unit.soc_pct} my={6} aria-label="State of charge" />
      )}
      <Text>{unit.power_kw === null ? 'Power unknown' : powerWords(unit.power_kw)}</Text>
      <Muted>
        {inWords(unit.status)}, {inWords(unit.operating_mode).toLowerCase()},{' '}
        {unit.alarm_count ?? none} {unit.alarm_count === 1 ? 'alarm' : 'alarms'},{' '}
        {formatAge(unit.age_s)}
      </Muted>
    </Section>
  ))
