/** The live state of a site as metrics, in the base units of Prometheus. docs/metrics.md */
import type { AlertCounts } from '../alerts/counts.ts'
import type { MetricFamily } from '../http/open-metrics.ts'
import { healthStatuses } from '../plant/health.ts'
import type { Overview } from './overview.ts'
import { countedAs, countedStates } from './status.ts'

type Samples = MetricFamily['samples']

const joules_per_kwh = 3.6e6

const times = (value: number | null, factor: number) =>
  value === null ? null : Number((value * factor).toPrecision(12))
const watts = (power_kw: number | null) => times(power_kw, 1000)

const gauge = (name: string, unit: string, help: string, samples: Samples): MetricFamily => ({
  name: `heliograph_${name}_${unit}`,
  type: 'gauge',
  unit,
  help,
  samples,
})

const power = (name: string, help: string, samples: Samples) => gauge(name, 'watts', help, samples)

const counts = (name: string, help: string, samples: Samples): MetricFamily => ({
  name: `heliograph_${name}`,
  type: 'gauge',
  help,
  samples,
})

/** One sample a state, 1 for the present one; the label has the name of the family. */
function states(
  name: string,
  help: string,
  all: readonly string[],
  of: readonly (readonly [labels: Record<string, string | number>, state: string])[],
): MetricFamily {
  const family = `heliograph_${name}`
  const samples = of.flatMap(([labels, present]) =>
    all.map((state) => [{ ...labels, [family]: state }, Number(state === present)] as const),
  )
  return { name: family, type: 'stateset', help, samples }
}

/** @param alerts counts of the alerts that are not resolved; null without `alerts:read` */
export function siteMetrics(overview: Overview, alerts: AlertCounts | null): MetricFamily[] {
  return [
    ...plantMetrics(overview),
    ...gridMetrics(overview),
    ...weatherMetrics(overview),
    ...inverterMetrics(overview),
    ...loggerMetrics(overview),
    ...batteryMetrics(overview),
    ...curtailmentMetrics(overview),
    counts(
      'site_alerts',
      'Alerts that are not resolved.',
      (alerts?.open ?? []).flatMap(({ status, severity, count }) => [
        [{ status, severity }, count],
      ]),
    ),
  ]
}

function plantMetrics({ site, status }: Overview): MetricFamily[] {
  const { name, timezone } = site
  return [
    {
      name: 'heliograph_site',
      type: 'info',
      help: 'Name and time zone of the site.',
      samples: [[{ name, timezone }, 1]],
    },
    states('site_health', 'Health of the site.', healthStatuses, [[{}, status.health_status]]),
    power('site_ac_power', 'Sum over the inverters with a fresh reading.', [
      [{}, watts(status.ac_power_kw)],
    ]),
    power('site_dc_power', 'DC power of the same inverters.', [[{}, watts(status.dc_power_kw)]]),
    power('site_available_power', 'Power of the same inverters without any limit.', [
      [{}, watts(status.available_power_kw)],
    ]),
    power('site_rated_power', 'Rated AC power.', [[{}, watts(site.ac_capacity_kw)]]),
    gauge('site_energy_today', 'joules', 'Energy since local midnight.', [
      [{}, times(status.energy_today_kwh, joules_per_kwh)],
    ]),
    counts(
      'site_inverters',
      'Inverters in service by state.',
      (['producing', 'standby', 'faulted', 'asleep', 'offline', 'unknown'] as const).map(
        (state) => [{ state }, status[`inverters_${state}`]],
      ),
    ),
    counts(
      'site_strings',
      'Connected strings by status.',
      (['ok', 'zero_current', 'reverse_current', 'asleep', 'no_data'] as const).map((state) => [
        { state },
        status[`strings_${state}`],
      ]),
    ),
  ]
}

function gridMetrics({ status }: Overview): MetricFamily[] {
  return [
    power('site_grid_export_power', 'Export at the grid connection; 0 while importing.', [
      [{}, watts(status.export_power_kw)],
    ]),
    power('site_grid_import_power', 'Import at the grid connection; 0 while exporting.', [
      [{}, watts(status.import_power_kw)],
    ]),
    gauge('site_grid_frequency', 'hertz', 'Grid frequency.', [[{}, status.grid_frequency_hz]]),
  ]
}

function weatherMetrics({ weather, status }: Overview): MetricFamily[] {
  const fresh = weather.filter(isFresh)
  const each = (of: (station: (typeof weather)[number]) => number | null): Samples =>
    fresh.map((station) => [{ station_id: station.station_id, station: station.name }, of(station)])
  return [
    gauge('site_sun_elevation', 'degrees', 'Elevation of the sun at the site.', [
      [{}, status.sun_elevation_deg],
    ]),
    gauge(
      'station_poa_irradiance',
      'watts_per_square_meter',
      'Irradiance in the plane of the modules.',
      each((station) => station.poa_irradiance_w_m2),
    ),
    gauge(
      'station_ambient_temperature',
      'celsius',
      'Temperature of the air.',
      each((station) => station.ambient_temperature_c),
    ),
    gauge(
      'station_module_temperature',
      'celsius',
      'Temperature of the modules.',
      each((station) => station.module_temperature_c),
    ),
    gauge(
      'station_wind_speed',
      'meters_per_second',
      'Wind speed.',
      each((station) => station.wind_speed_m_s),
    ),
  ]
}

const isFresh = ({ quality }: { quality: string }) => quality !== 'stale' && quality !== 'missing'

function inverterMetrics({ inverters }: Overview): MetricFamily[] {
  const labelled = inverters.map((inverter) => {
    const { inverter_id, logger_id, name } = inverter
    return { inverter, labels: { inverter_id, logger_id, inverter: name } }
  })
  const fresh = labelled.filter(({ inverter }) => isFresh(inverter))
  const each = (of: (inverter: (typeof inverters)[number]) => number | null): Samples =>
    fresh.map(({ inverter, labels }) => [labels, of(inverter)])
  return [
    states(
      'inverter_state',
      'State of the inverter.',
      countedStates,
      labelled.map(({ inverter, labels }) => [labels, countedAs(inverter)]),
    ),
    power(
      'inverter_ac_power',
      'AC power.',
      each(({ ac_power_kw }) => watts(ac_power_kw)),
    ),
    power(
      'inverter_dc_power',
      'DC power.',
      each(({ dc_power_kw }) => watts(dc_power_kw)),
    ),
    {
      name: 'heliograph_inverter_energy_joules',
      type: 'counter',
      unit: 'joules',
      help: 'Energy by the counter of the inverter.',
      samples: each(({ energy_total_kwh }) => times(energy_total_kwh, joules_per_kwh)),
    },
    gauge(
      'inverter_temperature',
      'celsius',
      'Temperature in the inverter.',
      fresh.flatMap(({ inverter, labels }) =>
        (['cabinet', 'heatsink', 'transformer'] as const).map(
          (place) => [{ ...labels, place }, inverter[`${place}_temperature_c`]] as const,
        ),
      ),
    ),
    counts(
      'inverter_alarms',
      'Active alarms.',
      each(({ active_alarm_count }) => active_alarm_count),
    ),
  ]
}

function loggerMetrics({ loggers }: Overview): MetricFamily[] {
  const each = (of: (logger: (typeof loggers)[number]) => number | null): Samples =>
    loggers.map((logger) => [{ logger_id: logger.logger_id, logger: logger.name }, of(logger)])
  const edge = loggers[0] ?? null
  return [
    power(
      'logger_rated_power',
      'Rated AC power of the plant.',
      each(({ rated_power_kw }) => watts(rated_power_kw)),
    ),
    gauge(
      'logger_energy_today',
      'joules',
      'Energy of the plant since local midnight.',
      each(({ energy_today_kwh }) => times(energy_today_kwh, joules_per_kwh)),
    ),
    counts('edge_connected', '1 while the edge is connected.', [
      [{}, edge && Number(edge.comm_state === 'connected' || edge.comm_state === 'backfilling')],
    ]),
    gauge('edge_last_seen_timestamp', 'seconds', 'When the edge was last seen.', [
      [{}, edge?.last_seen_at ? Date.parse(edge.last_seen_at) / 1000 : null],
    ]),
    gauge('edge_clock_offset', 'seconds', 'Clock of the edge minus clock of the server.', [
      [{}, times(edge?.clock_offset_ms ?? null, 0.001)],
    ]),
    counts('edge_undelivered_frames', 'Frames that the edge has not delivered yet.', [
      [{}, edge?.buffer_depth_frames ?? null],
    ]),
  ]
}

function batteryMetrics({ bess }: Overview): MetricFamily[] {
  const each = (of: (unit: NonNullable<typeof bess>[number]) => number | null): Samples =>
    (bess ?? [])
      .filter(isFresh)
      .map((unit) => [{ bess_id: unit.bess_id, battery: unit.name }, of(unit)])
  return [
    power(
      'battery_power',
      'Power of the battery; positive is discharging.',
      each(({ power_kw }) => watts(power_kw)),
    ),
    power(
      'battery_setpoint',
      'Setpoint of the battery; positive is discharging.',
      each(({ setpoint_kw }) => watts(setpoint_kw)),
    ),
    gauge(
      'battery_state_of_charge',
      'ratio',
      'State of charge, from 0 to 1.',
      each(({ soc_pct }) => times(soc_pct, 0.01)),
    ),
    counts(
      'battery_alarms',
      'Set alarms of the battery.',
      each(({ alarm_count }) => alarm_count),
    ),
  ]
}

function curtailmentMetrics({ curtailment, loggers }: Overview): MetricFamily[] {
  if (curtailment === null) return []
  return [
    counts('site_curtailment_orders', 'Curtailment orders in force.', [
      [{}, curtailment.active_count],
    ]),
    power('site_curtailed_power', 'Available minus delivered power under a limit.', [
      [{}, watts(curtailment.curtailed_now_kw)],
    ]),
    power(
      'logger_power_limit',
      'Lowest limit in force at the plant; absent without one.',
      loggers.map(({ logger_id, name, power_limit_kw }) => [
        { logger_id, logger: name },
        watts(power_limit_kw),
      ]),
    ),
  ]
}
