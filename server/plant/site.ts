/** A site as `GET /v1/sites` and the overview return it. */
import { type Static, Type } from 'typebox'
import { modules, scopes } from '../http/endpoint.ts'
import { Nullable } from '../http/params.ts'
import { At } from './frame.ts'
import { healthRule, healthStatuses } from './health.ts'

const severities = ['info', 'warning', 'major', 'critical'] as const
const closed = { additionalProperties: false } as const
const Count = (description: string) => Type.Integer({ minimum: 0, description })

export const health = {
  health_status: Type.Enum([...healthStatuses], { description: healthRule }),
  health_reasons: Type.Array(Type.String(), {
    description:
      'Reasons for a status other than `healthy`, at most 100: `edge_offline`; ' +
      '`logger_offline:3`, `logger_no_data:3`, `logger_underperformance:3`, `inverter_fault:7`, ' +
      '`inverter_disconnected:7` with the id of the device; `critical_alerts:2` with the number of ' +
      'active and acknowledged alerts.',
  }),
}

export type Site = Static<typeof Site>
export const Site = Type.Object(
  {
    site_id: Type.String({ description: 'The id of the site in every path.' }),
    name: Type.String(),
    ...health,
    active_alert_count: Nullable(
      Count('Active alerts, including suppressed alerts; null without `alerts:read`.'),
    ),
    highest_alert_severity: Nullable(
      Type.Enum([...severities], {
        description: 'The highest severity of these; null without alerts or without `alerts:read`.',
      }),
    ),
    timezone: Type.String({ description: 'IANA name; `UTC` until the edge announces the site.' }),
    country_code: Nullable(Type.String({ description: 'ISO 3166-1, two letters.' })),
    address: Nullable(Type.String()),
    latitude: Nullable(Type.Number({ description: 'Degrees, north positive.' })),
    longitude: Nullable(Type.Number({ description: 'Degrees, east positive.' })),
    elevation_m: Nullable(Type.Number({ description: 'Height above sea level, m.' })),
    currency: Nullable(Type.String({ description: 'ISO 4217.' })),
    commissioned_date: Nullable(Type.String({ format: 'date' })),
    commissioning_safe_mode: Type.Boolean({ description: 'While true, every write is rejected.' }),
    safe_mode_since_at: Nullable(At('Start of the safe mode; null without it.')),
    dc_capacity_kwp: Type.Number({ description: 'DC capacity of the panels at STC, kWp.' }),
    ac_capacity_kw: Type.Number({ description: 'Sum of the rated power of the loggers, kW.' }),
    logger_count: Count('Loggers in service.'),
    inverter_count: Count('Inverters in service.'),
    string_count: Count('Connected strings in service.'),
    sensor_node_count: Count('Sensor nodes in service.'),
    modules: Type.Array(Type.Enum([...modules]), {
      description: "The modules of the client's plan.",
    }),
    scopes: Type.Array(Type.Enum([...scopes]), { description: 'The scopes of this key.' }),
    last_data_at: Nullable(At('The latest reading of the site.')),
    simulated: Type.Boolean({ description: 'Whether a simulator replaces the devices.' }),
    created_at: At('When the site was created on the server.'),
    updated_at: At('When the site or its inventory last changed.'),
  },
  { ...closed, $id: 'Site' },
)
