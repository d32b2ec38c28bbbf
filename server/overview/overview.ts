/** The whole site in one response, for polling. */
import { hour_ms, minute_ms } from '@heliograph/domain/durations'
import { significant } from '@heliograph/domain/significant'
import { utcDate } from '@heliograph/domain/utc-day'
import { type Static, Type } from 'typebox'
import { BatteryGlance, batteryGlance } from '../batteries/current.ts'
import type { LiveUnit } from '../batteries/unit-store.ts'
import type { ForecastRun } from '../forecasts/run-store.ts'
import * as field from '../http/fields.ts'
import { Named, Nullable } from '../http/params.ts'
import { Inverter, inverterRecord } from '../plant/inverter.ts'
import { Logger, loggerRecord } from '../plant/logger.ts'
import { StringGlance } from '../plant/pv-string.ts'
import { nodeNow, SensorNow } from '../plant/sensor-node.ts'
import { Site } from '../plant/site.ts'
import { CurtailmentNow, curtailmentNow } from './curtailment.ts'
import type { LiveNode, LivePlant } from './live.ts'
import { PlantStatus, plantStatus } from './status.ts'
import { StationNow, stationNow } from './weather.ts'

// The expected energy of today and the coming hours, by the last issued forecast.
const ahead_h = 12

type PredictionsNow = Static<typeof PredictionsNow>
const PredictionsNow = Named(
  'PredictionsNow',
  {
    forecast_run_at: field.AtOrNull('When the forecast for today was issued; null without one.'),
    today_p50_kwh: field.FromZeroOrNull('Median of the energy of the whole day (UTC).', 1790.1),
    remaining_today_p50_kwh: field.FromZeroOrNull(
      'The part of `today_p50_kwh` that is still to come.',
      1042.7,
    ),
    next_hours: Type.Array(
      Named('PredictedStep', {
        start_at: field.At('Start of the step, inclusive.'),
        end_at: field.At('End of the step, exclusive.'),
        p10_kw: field.FromZero('10th percentile, kW.', 188),
        p50_kw: field.FromZero('Median, kW.', 240.2),
        p90_kw: field.FromZero('90th percentile, kW.', 262.1),
      }),
      {
        description: `The current step of the site and the steps that begin within ${ahead_h} hours.`,
      },
    ),
  },
  {
    description:
      'The last issued forecast of the site, even if the plan lacks `ai_predictions`. Without a ' +
      'forecast every value is null and `next_hours` is empty.',
  },
)

/** @param runs those of the site for today and tomorrow, if issued */
function predictionsNow(runs: readonly ForecastRun[], now: Date): PredictionsNow {
  const now_ms = now.getTime()
  const today = runs.find(({ target_date }) => target_date === utcDate(now))
  const steps = runs.flatMap(stepsOf)
  const next = steps.filter(
    ({ start_ms, end_ms }) => end_ms > now_ms && start_ms < now_ms + ahead_h * hour_ms,
  )
  const remaining_kwh = (today ? stepsOf(today) : []).reduce(
    (sum, { start_ms, end_ms, p50_kw }) => {
      const left_ms = Math.max(0, end_ms - Math.max(start_ms, now_ms))
      return sum + (p50_kw * left_ms) / hour_ms
    },
    0,
  )
  return {
    forecast_run_at: today?.issued_at.toISOString() ?? null,
    today_p50_kwh: today?.total_p50_kwh ?? null,
    remaining_today_p50_kwh: today ? significant(remaining_kwh) : null,
    next_hours: next.map(({ start_ms, end_ms, ...powers }) => ({
      start_at: new Date(start_ms).toISOString(),
      end_at: new Date(end_ms).toISOString(),
      ...powers,
    })),
  }
}

function stepsOf({ target_date, resolution_minutes, p10_kw, p50_kw, p90_kw }: ForecastRun) {
  const step_ms = resolution_minutes * minute_ms
  return p50_kw.map((power_kw, nth) => {
    const start_ms = Date.parse(target_date) + nth * step_ms
    const [p10, p90] = [p10_kw[nth]!, p90_kw[nth]!]
    return { start_ms, end_ms: start_ms + step_ms, p10_kw: p10, p50_kw: power_kw, p90_kw: p90 }
  })
}

/** Sections that need a scope of their own. */
const sections = ['curtailment', 'bess', 'alerts'] as const

const AlertsNow = Named(
  'AlertsNow',
  {
    active: field.Count('Active alerts, including suppressed alerts.', 2),
    acknowledged: field.Count('Acknowledged alerts.', 1),
    critical: field.Count('Critical alerts, active and acknowledged.'),
  },
  { description: 'Needs `alerts:read`.' },
)

export type Overview = Static<typeof Overview>
export const Overview = Named('Overview', {
  site: Site,
  generated_at: field.At('When this response was generated.', '2026-06-21T10:00:07.400Z'),
  status: PlantStatus,
  loggers: Type.Array(Logger, { description: 'Loggers in service.' }),
  inverters: Type.Array(Inverter, { description: 'Inverters in service.' }),
  strings: Type.Array(StringGlance, { description: 'Strings in service of all inverters.' }),
  sensors: Type.Array(SensorNow, {
    description: 'Sensor nodes in service, as in /sensors/{node_id}/current.',
  }),
  weather: Type.Array(StationNow, { description: 'Met stations in service.' }),
  predictions: PredictionsNow,
  curtailment: Nullable(CurtailmentNow),
  bess: Nullable(
    Type.Array(BatteryGlance, {
      description: 'Battery units in service; needs `bess:read` and the module `bess`.',
    }),
  ),
  alerts: Nullable(AlertsNow),
  partial: field.Flag('Whether any section is missing.'),
  missing_sections: Type.Array(Type.Enum([...sections]), {
    description:
      'Sections that are null because the key lacks the scope or the plan lacks the module.',
  }),
})

interface OverviewParts {
  live: LivePlant
  nodes: readonly LiveNode[]
  site: Site
  may_read_curtailment: boolean
  may_read_alerts: boolean
  /** The last issued forecasts of the site for today and tomorrow (UTC). */
  forecasts: readonly ForecastRun[]
  /** Battery units in service; null without access. */
  units: readonly LiveUnit[] | null
}

export function overviewOf(parts: OverviewParts): Overview {
  const { live, nodes, site } = parts
  const { situation, edge } = live
  const status = plantStatus(live, situation)
  const { health_status, health_reasons } = status
  const { active, acknowledged, critical, highest_active } = live.alerts
  const invertersOf = Map.groupBy(live.inverters, ({ logger_id }) => logger_id)
  const optional = {
    curtailment: parts.may_read_curtailment ? curtailmentNow(live, situation) : null,
    bess: parts.units?.map((unit) => batteryGlance(unit, situation)) ?? null,
    alerts: parts.may_read_alerts ? { active, acknowledged, critical } : null,
  }
  const missing_sections = sections.filter((section) => optional[section] === null)
  return {
    // The cached site with current health and alerts.
    site: {
      ...site,
      health_status,
      health_reasons,
      ...(parts.may_read_alerts && {
        active_alert_count: active,
        highest_alert_severity: highest_active,
      }),
    },
    generated_at: situation.now.toISOString(),
    status,
    loggers: live.loggers.map((row) =>
      loggerRecord(row, { inverters: invertersOf.get(row.logger_id) ?? [], edge }, situation),
    ),
    inverters: live.inverters.map((row) => inverterRecord(row, situation)),
    strings: [...live.strings],
    sensors: nodes.map(({ row, switchings }) => nodeNow(row, switchings, situation.now)),
    weather: live.stations.map((row) => stationNow(row, situation)),
    predictions: predictionsNow(parts.forecasts, situation.now),
    ...optional,
    partial: missing_sections.length > 0,
    missing_sections,
  }
}
