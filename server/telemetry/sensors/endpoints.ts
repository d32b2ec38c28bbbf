import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { RowId } from '../../http/cursor.ts'
import { endpoint } from '../../http/endpoint.ts'
import { CursorList, cursorList, List, list, Series } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { pageItems } from '../../http/export-items.ts'
import { limit, Nullable, Timestamp, telemetry_rows, telemetryLimit } from '../../http/params.ts'
import { default_hours, type SeriesWindow } from '../../http/time-windows.ts'
import { rowsWindow } from '../../http/windows.ts'
import { nodeNowExample } from '../../plant/device-examples.ts'
import { measured, readingFrame } from '../../plant/quantities.ts'
import { NodeId, nodeNow, SensorNow } from '../../plant/sensor-node.ts'
import type { Queries } from '../../storage/database.ts'
import { nodeExample, nodeReadingExample, switchingExample } from './examples.ts'
import { switchingsExport } from './exports.ts'
import { nodeRecord, SensorNode } from './node.ts'
import { RelaySwitching, switchingRecord } from './relays.ts'
import {
  lastSwitchings,
  liveNodes,
  nodeHistory,
  nodeHistoryRows,
  nodeNumber,
  readSwitchings,
} from './store.ts'

const sensors = {
  method: 'GET',
  tag: 'Sensors',
  scope: 'plant:read',
  module: 'basic_scada',
} as const

export const listSensors = endpoint({
  ...sensors,
  path: '/sensors',
  operation_id: 'sensors_list',
  summary: 'The sensor and fan nodes of the transformer stations',
  description:
    'By id, with the channels that each measures and their last values; retired ones carry ' +
    '`retired_at`. The API switches nothing on them.',
  returns: List(SensorNode),
  example: { answer: { data: [nodeExample], meta: { count: 1 } } },
  async handle({ site: { site_id } }, { db, clock }: Context) {
    const now = clock.now()
    return list((await liveNodes(db, site_id)).map((row) => nodeRecord(row, now)))
  },
})

export const getSensorNow = endpoint({
  ...sensors,
  path: '/sensors/{node_id}/current',
  operation_id: 'sensors_current_get',
  summary: 'What a sensor node measured last',
  params: { node_id: NodeId },
  returns: SensorNow,
  example: { answer: nodeNowExample },
  async handle({ site: { site_id }, params: { node_id } }, { db, clock }: Context) {
    const [[row], switchings] = await Promise.all([
      liveNodes(db, site_id, node_id),
      lastSwitchings(db, site_id, node_id),
    ])
    if (!row) throw new ApiError('not_found', { node_id })
    return nodeNow(row, switchings, clock.now())
  },
})

async function requireNode(db: Queries, site_id: string, node_id: string): Promise<number> {
  const device_id = await nodeNumber(db, site_id, node_id)
  if (device_id === null) throw new ApiError('not_found', { node_id })
  return device_id
}

async function requireHistory(
  db: Queries,
  { site_id, node_id, window }: { site_id: string; node_id: string; window: SeriesWindow },
) {
  const [node] = await liveNodes(db, site_id, node_id)
  const device_id = await requireNode(db, site_id, node_id)
  return { site_id, device_id, window, channels: node!.channels }
}

const SensorReading = Type.Object(
  {
    ...readingFrame,
    ...measured('node'),
    values: Type.Record(Type.String(), Nullable(Type.Number()), {
      description:
        'The same by the names of the channels; null where a channel was not measured, or did not ' +
        'exist yet.',
    }),
  },
  { additionalProperties: false, $id: 'SensorReading' },
)

export const sensorHistory = endpoint({
  ...sensors,
  path: '/sensors/{node_id}/history',
  operation_id: 'sensors_history_list',
  summary: 'What a sensor node measured, over time',
  description:
    'Ascending. Without a window: the last 24 hours. `values` has the value of each channel by its ' +
    'name, in the units of /sensors; of a door 1 for open, of a relay 1 for on, else 0. ' +
    '`channel_values` has them in the order of `channels`; channels that were added later are ' +
    'missing at its end.',
  params: { node_id: NodeId },
  window: rowsWindow(default_hours.telemetry),
  query: { limit: telemetryLimit },
  heavy: true,
  returns: Series(SensorReading),
  example: {
    answer: {
      data: [nodeReadingExample],
      meta: { count: 1, truncated: false, next_start: null, previous_end: null },
    },
  },
  async handle({ site, params, query, window }, { db }: Context) {
    const wanted = await requireHistory(db, { site_id: site.site_id, ...params, window })
    return nodeHistory(db, { ...wanted, limit: query.limit ?? telemetry_rows.by_default })
  },
  async exports({ site, params, query, window }, { db }: Context) {
    const wanted = await requireHistory(db, { site_id: site.site_id, ...params, window })
    return nodeHistoryRows({ ...wanted, limit: query.limit ?? null })
  },
})

const switching_rows = { max: 500, by_default: 100 } as const

export const relayHistory = endpoint({
  method: 'GET',
  path: '/commands/relay-history',
  operation_id: 'commands_relay_history_list',
  tag: 'Curtailment',
  scope: 'curtailment:read',
  module: 'basic_scada',
  summary: 'How the relays of sensor nodes were switched, and by whom',
  description:
    'Newest first. Relays switch fans and the like by rules of the node, by hand or from afar; ' +
    'each switching is told once, with what the node says of its cause.',
  query: {
    node_id: Type.Optional(NodeId),
    limit: limit(switching_rows.max, switching_rows.by_default),
  },
  cursor: { switched_at: Timestamp, command_id: RowId },
  returns: CursorList(RelaySwitching),
  example: { answer: cursorList({ rows: [switchingExample], next_cursor: null }) },
  async handle({ site: { site_id }, query, after }, { db }: Context) {
    const { node_id = null, limit = switching_rows.by_default } = query
    if (node_id !== null) await requireNode(db, site_id, node_id)
    const found = await readSwitchings(db, site_id, { node_id, after, limit })
    const { rows, next_cursor, count } = found
    return cursorList({ rows: rows.map(switchingRecord), next_cursor }, count)
  },
  async exports({ site: { site_id }, query, after }, { db }: Context) {
    const { node_id = null, limit } = query
    if (node_id !== null) await requireNode(db, site_id, node_id)
    if (limit === undefined && after === null) return switchingsExport(site_id, node_id)
    const page = { node_id, after, limit: limit ?? switching_rows.by_default }
    return pageItems((await readSwitchings(db, site_id, page)).rows.map(switchingRecord))
  },
})
