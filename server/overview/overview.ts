/** The whole site in one response, for polling. */

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
import { PredictionsNow, predictionsNow } from './predictions.ts'
import { PlantStatus, plantStatus } from './status.ts'
import { StationNow, stationNow } from './weather.ts'

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
