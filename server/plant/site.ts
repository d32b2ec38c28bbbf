/** A site as `GET /v1/sites` and the overview return it. */
import { type Static, Type } from 'typebox'
import { modules, scopes } from '../http/endpoint.ts'
import { Named, Nullable } from '../http/params.ts'
import { At, Num, Text } from './frame.ts'
import { healthRule, healthStatuses } from './health.ts'

const severities = ['info', 'warning', 'major', 'critical'] as const
const Count = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, examples: [example] })

export const health = {
  health_status: Type.Enum([...healthStatuses], {
    description: healthRule,
    examples: ['degraded'],
  }),
  health_reasons: Type.Array(Type.String(), {
    description:
      'Reasons for a status other than `healthy`, at most 100: `edge_offline`; ' +
      '`logger_offline:3`, `logger_no_data:3`, `logger_underperformance:3`, `inverter_fault:7`, ' +
      '`inverter_disconnected:7` with the id of the device; `critical_alerts:2` with the number of ' +
      'active and acknowledged alerts.',
    examples: [['inverter_fault:7']],
  }),
}

export type Site = Static<typeof Site>
export const Site = Named('Site', {
  site_id: Text('The id of the site in every path.', 'demo'),
  name: Type.String({ examples: ['Heliograph Demo Park'] }),
  ...health,
  active_alert_count: Nullable(
    Count('Active alerts, including suppressed alerts; null without `alerts:read`.', 2),
  ),
  highest_alert_severity: Nullable(
    Type.Enum([...severities], {
      description: 'The highest severity of these; null without alerts or without `alerts:read`.',
      examples: ['major'],
    }),
  ),
  timezone: Text('IANA name; `UTC` until the edge announces the site.', 'Europe/Berlin'),
  country_code: Nullable(Text('ISO 3166-1, two letters.', 'DE')),
  address: Nullable(Type.String()),
  latitude: Nullable(Num('Degrees, north positive.', 48.62)),
  longitude: Nullable(Num('Degrees, east positive.', 12.17)),
  elevation_m: Nullable(Num('Height above sea level, m.', 410)),
  currency: Nullable(Text('ISO 4217.', 'EUR')),
  commissioned_date: Nullable(Type.String({ format: 'date', examples: ['2024-05-01'] })),
  commissioning_safe_mode: Type.Boolean({ description: 'While true, every write is rejected.' }),
  safe_mode_since_at: Nullable(At('Start of the safe mode; null without it.')),
  dc_capacity_kwp: Num('DC capacity of the panels at STC, kWp.', 1572),
  ac_capacity_kw: Num('Sum of the rated power of the loggers, kW.', 1200),
  logger_count: Count('Loggers in service.', 3),
  inverter_count: Count('Inverters in service.', 12),
  string_count: Count('Connected strings in service.', 144),
  sensor_node_count: Count('Sensor nodes in service.', 2),
  modules: Type.Array(Type.Enum([...modules]), {
    description: "The modules of the client's plan.",
  }),
  scopes: Type.Array(Type.Enum([...scopes]), { description: 'The scopes of this key.' }),
  last_data_at: Nullable(At('The latest reading of the site.', '2026-06-21T10:00:05.000Z')),
  simulated: Type.Boolean({ description: 'Whether a simulator replaces the devices.' }),
  created_at: At('When the site was created on the server.', '2026-01-05T08:00:00.000Z'),
  updated_at: At('When the site or its inventory last changed.', '2026-05-11T14:30:00.000Z'),
})
