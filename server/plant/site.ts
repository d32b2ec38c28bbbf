/** A site as `GET /v1/sites` and the overview show it. */
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
      'Why it is not healthy: `edge_offline`, `logger_offline:3`, `logger_no_data:3`, ' +
      '`logger_underperformance:3`, `inverter_fault:7`, `inverter_disconnected:7`, each with the id of the device; `critical_alerts:2` with how ' +
      'many there are, active and acknowledged. 100 at most.',
  }),
}

export type Site = Static<typeof Site>
export const Site = Type.Object(
  {
    site_id: Type.String({ description: 'Identifies the site in every path.' }),
    name: Type.String(),
    ...health,
    active_alert_count: Nullable(
      Count('Alerts that are active, suppressed ones among them; null without `alerts:read`.'),
    ),
    highest_alert_severity: Nullable(
      Type.Enum([...severities], {
        description: 'Of the worst of these; null without any, and without `alerts:read`.',
      }),
    ),
    timezone: Type.String({ description: 'IANA name; `UTC` until the edge announced the site.' }),
    country_code: Nullable(Type.String({ description: 'ISO 3166-1, two letters.' })),
    address: Nullable(Type.String()),
    latitude: Nullable(Type.Number({ description: 'Degrees, north positive.' })),
    longitude: Nullable(Type.Number({ description: 'Degrees, east positive.' })),
    elevation_m: Nullable(Type.Number({ description: 'Height above sea level, m.' })),
    currency: Nullable(Type.String({ description: 'ISO 4217.' })),
    commissioned_date: Nullable(Type.String({ format: 'date' })),
    commissioning_safe_mode: Type.Boolean({ description: 'While true every write is refused.' }),
    safe_mode_since_at: Nullable(At('Since when it is.')),
    dc_capacity_kwp: Type.Number({ description: 'Power of its panels at STC, kWp.' }),
    ac_capacity_kw: Type.Number({ description: 'Sum of the rated power of its loggers, kW.' }),
    logger_count: Count('Without retired ones, as the counts that follow.'),
    inverter_count: Count('Inverters.'),
    string_count: Count('Strings that are connected.'),
    sensor_node_count: Count('Sensor nodes.'),
    modules: Type.Array(Type.Enum([...modules]), { description: "What the client's plan holds." }),
    scopes: Type.Array(Type.Enum([...scopes]), { description: 'What this key may do.' }),
    last_data_at: Nullable(At('When anything was measured last.')),
    simulated: Type.Boolean({ description: 'True where a simulator stands for the devices.' }),
    created_at: At('When the site was created on the server.'),
    updated_at: At('When it or its inventory last changed.'),
  },
  { ...closed, $id: 'Site' },
)
