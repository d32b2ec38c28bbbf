/** A site as `GET /v1/sites` and the overview return it. */

import { type Static, Type } from 'typebox'
import { modules, scopes } from '../http/endpoint.ts'
import * as field from '../http/fields.ts'
import { Named, Nullable } from '../http/params.ts'
import { healthRule, healthStatuses } from './health.ts'
import { SiteStatus } from './site-status.ts'

const severities = ['info', 'warning', 'major', 'critical'] as const
export const health = {
  health_status: field.OneOf(healthStatuses, healthRule, 'degraded'),
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
  site_id: field.Text('The id of the site in every path.', 'demo'),
  name: Type.String({ examples: ['Heliograph Demo Park'] }),
  ...health,
  active_alert_count: field.CountOrNull(
    'Active alerts, including suppressed alerts; null without `alerts:read`.',
    2,
  ),
  highest_alert_severity: field.OneOfOrNull(
    severities,
    'The highest severity of these; null without alerts or without `alerts:read`.',
    'major',
  ),
  timezone: field.Text('IANA name; `UTC` until the edge announces the site.', 'Europe/Berlin'),
  country_code: field.TextOrNull('ISO 3166-1, two letters.', 'DE'),
  address: Nullable(Type.String()),
  latitude: field.NumOrNull('Degrees, north positive.', 48.62),
  longitude: field.NumOrNull('Degrees, east positive.', 12.17),
  elevation_m: field.NumOrNull('Height above sea level, m.', 410),
  currency: field.TextOrNull('ISO 4217.', 'EUR'),
  commissioned_date: Nullable(Type.String({ format: 'date', examples: ['2024-05-01'] })),
  commissioning_safe_mode: field.Flag('While true, every write is rejected.'),
  safe_mode_since_at: field.AtOrNull('Start of the safe mode; null without it.'),
  dc_capacity_kwp: field.Num('DC capacity of the panels at STC, kWp.', 1572),
  ac_capacity_kw: field.Num('Sum of the rated power of the loggers, kW.', 1200),
  logger_count: field.Count('Loggers in service.', 3),
  inverter_count: field.Count('Inverters in service.', 12),
  string_count: field.Count('Connected strings in service.', 144),
  sensor_node_count: field.Count('Sensor nodes in service.', 2),
  modules: Type.Array(Type.Enum([...modules]), {
    description: "The modules of the client's plan.",
  }),
  scopes: Type.Array(Type.Enum([...scopes]), { description: 'The scopes of this key.' }),
  last_data_at: field.AtOrNull('The latest reading of the site.', '2026-06-21T10:00:05.000Z'),
  simulated: field.Flag('Whether a simulator replaces the devices.'),
  created_at: field.At('When the site was created on the server.', '2026-01-05T08:00:00.000Z'),
  updated_at: field.At('When the site or its inventory last changed.', '2026-05-11T14:30:00.000Z'),
  status: Type.Optional(SiteStatus),
})
