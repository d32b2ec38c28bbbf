import { Type } from 'typebox'
import { mayRead } from '../../http/authorize.ts'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { List, list, Series } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { telemetry_rows, telemetryLimit } from '../../http/params.ts'
import { default_hours, type SeriesWindow } from '../../http/time-windows.ts'
import { rowsWindow } from '../../http/windows.ts'
import { readingFrame } from '../../plant/quantities.ts'
import { siteFacts } from '../../plant/site-facts.ts'
import { situationOf } from '../../plant/situation.ts'
import type { Queries } from '../../storage/database.ts'
import { BatteryNow, batteryMeasured, batteryNow } from '../current.ts'
import { requireUnit } from '../earnings.ts'
import { Envelope, envelopeOf } from '../envelope.ts'
import { readPcs, readUnits } from '../unit-store.ts'
import { BatteryUnit, BessId, unitRecord } from '../units.ts'
import { Cluster, ClusterCells, ClusterIdx, clusterCells, clusterRecord } from './clusters.ts'
import {
  batteryNowExample,
  batteryReadingExample,
  batteryUnitExample,
  clusterCellsExample,
  clusterExample,
  envelopeExample,
  fleetExample,
  pcsReadingExample,
  protectionExample,
  setupExample,
  unitPcsExample,
} from './examples.ts'
import { FleetSummary, fleetSummary } from './fleet.ts'
import type { FleetReads } from './fleet-facts.ts'
import {
  pcsColumns,
  pcsHistoryRows,
  readPcsHistory,
  readUnitHistory,
  unitColumns,
  unitHistoryRows,
} from './history.ts'
import { PcsIdx, pcsMeasured, UnitPcs, unitPcs } from './pcs.ts'
import { Protection, protectionRecords, Setup, setupRecord } from './setup.ts'
import { readCells, readClusters, readSetup } from './store.ts'

export interface Needs extends Context {
  fleetReads: FleetReads
}

const bess = { method: 'GET', tag: 'Batteries', scope: 'bess:read', module: 'bess' } as const
const ofUnit = { params: { bess_id: BessId } } as const

const readSituation = async (site_id: string, { db, clock }: Context) =>
  situationOf(await siteFacts(db, site_id), clock.now())

/** @throws ApiError not_found */
async function requireLive(site_id: string, bess_id: number, context: Context) {
  const situation = await readSituation(site_id, context)
  const { day_start_at, now } = situation
  const [unit] = await readUnits(context.db, { site_id, bess_id, day_start_at, now })
  if (!unit) throw new ApiError('not_found', { bess_id })
  return { unit, situation }
}

export const listUnits = endpoint({
  ...bess,
  path: '/bess',
  operation_id: 'bess_list',
  summary: 'The battery units of the site',
  description: 'Returns units by id. Retired units have `retired_at` and their last known values.',
  returns: List(BatteryUnit),
  example: { answer: { data: [batteryUnitExample], meta: { count: 1 } } },
  async handle({ site: { site_id } }, context: Context) {
    const situation = await readSituation(site_id, context)
    const { day_start_at, now } = situation
    const units = await readUnits(context.db, { site_id, day_start_at, now })
    return list(units.map((unit) => unitRecord(unit, situation)))
  },
})

export const getFleetSummary = endpoint({
  ...bess,
  path: '/bess/fleet/summary',
  operation_id: 'bess_fleet_summary_get',
  summary: 'Summary of all battery units of the site',
  description:
    'Returns sums over the units in service. Units with stale readings are left out of present ' +
    'values. Earnings and efficiency are up to five minutes old.',
  returns: FleetSummary,
  example: { answer: fleetExample },
  async handle({ site: { site_id }, caller }, needs: Needs) {
    const situation = await readSituation(site_id, needs)
    const { day_start_at, now } = situation
    const [units, facts] = await Promise.all([
      readUnits(needs.db, { site_id, day_start_at, now, in_service: true }),
      needs.fleetReads.get(site_id, day_start_at),
    ])
    const earnings = mayRead(caller, 'earnings:read') ? facts.earnings : 'forbidden_scope'
    return fleetSummary(units, { ...facts, earnings }, situation)
  },
})

export const getUnit = endpoint({
  ...bess,
  ...ofUnit,
  path: '/bess/{bess_id}',
  operation_id: 'bess_get',
  summary: 'One battery unit',
  returns: BatteryUnit,
  example: { answer: batteryUnitExample },
  async handle({ site: { site_id }, params: { bess_id } }, context: Context) {
    const { unit, situation } = await requireLive(site_id, bess_id, context)
    return unitRecord(unit, situation)
  },
})

export const getUnitNow = endpoint({
  ...bess,
  ...ofUnit,
  path: '/bess/{bess_id}/current',
  operation_id: 'bess_current_get',
  summary: 'Newest readings of a battery unit',
  returns: BatteryNow,
  example: { answer: batteryNowExample },
  async handle({ site: { site_id }, params: { bess_id } }, context: Context) {
    const { unit, situation } = await requireLive(site_id, bess_id, context)
    return batteryNow(unit, situation)
  },
})

interface HistoryOf {
  site: { site_id: string }
  params: { bess_id: number }
  window: SeriesWindow
}

/** @throws ApiError not_found */
async function historyOf(db: Queries, { site: { site_id }, params, window }: HistoryOf) {
  await requireUnit(db, { site_id, ...params })
  return { site_id, device_id: params.bess_id, window }
}

const BatteryReading = Type.Object(
  { ...readingFrame, ...batteryMeasured },
  { additionalProperties: false, $id: 'BatteryReading' },
)
const readingColumns = unitColumns(Object.keys(batteryMeasured))

export const unitHistory = endpoint({
  ...bess,
  ...ofUnit,
  path: '/bess/{bess_id}/history',
  operation_id: 'bess_history_list',
  summary: 'Historical readings of a battery unit',
  description: 'Returns readings, ascending. The window defaults to the last 24 hours.',
  window: rowsWindow(default_hours.telemetry),
  query: { limit: telemetryLimit },
  heavy: true,
  returns: Series(BatteryReading),
  example: {
    answer: {
      data: [batteryReadingExample],
      meta: { count: 1, truncated: false, next_start: null, previous_end: null },
    },
  },
  async handle({ query, ...request }, { db }: Context) {
    const limit = query.limit ?? telemetry_rows.by_default
    return readUnitHistory(db, { ...(await historyOf(db, request)), limit }, readingColumns)
  },
  async exports({ query, ...request }, { db }: Context) {
    const limit = query.limit ?? null
    return unitHistoryRows({ ...(await historyOf(db, request)), limit }, readingColumns)
  },
})

export const listClusters = endpoint({
  ...bess,
  ...ofUnit,
  path: '/bess/{bess_id}/clusters',
  operation_id: 'bess_clusters_list',
  summary: 'Newest readings of the clusters of a battery unit',
  description: 'Returns every cluster of the inventory, by index, even without readings.',
  returns: List(Cluster),
  example: { answer: { data: [clusterExample], meta: { count: 1 } } },
  async handle({ site: { site_id }, params: { bess_id } }, context: Context) {
    const [situation, rows] = await Promise.all([
      readSituation(site_id, context),
      readClusters(context.db, { site_id, bess_id }),
    ])
    // Every unit has a cluster.
    if (rows.length === 0) throw new ApiError('not_found', { bess_id })
    return list(rows.map((row) => clusterRecord(row, situation)))
  },
})

export const getCluster = endpoint({
  ...bess,
  path: '/bess/{bess_id}/clusters/{cluster_idx}',
  operation_id: 'bess_clusters_get',
  summary: 'One cluster of a battery unit, down to its cells',
  description:
    'Returns the cluster with its cells. Cells are read less often than clusters and have an ' +
    'age of their own.',
  params: { bess_id: BessId, cluster_idx: ClusterIdx },
  returns: ClusterCells,
  example: { answer: clusterCellsExample },
  async handle({ site: { site_id }, params: { bess_id, cluster_idx } }, context: Context) {
    const [situation, row] = await Promise.all([
      readSituation(site_id, context),
      readCells(context.db, { site_id, bess_id, cluster_idx }),
    ])
    if (!row) throw new ApiError('not_found', { bess_id, cluster_idx })
    return clusterCells(row, situation)
  },
})

export const getPcsNow = endpoint({
  ...bess,
  ...ofUnit,
  path: '/bess/{bess_id}/pcs/current',
  operation_id: 'bess_pcs_current_get',
  summary: 'Newest readings of the power conversion systems of a unit',
  description: 'Returns sums over all PCS, and each PCS in `pcs`.',
  returns: UnitPcs,
  example: { answer: unitPcsExample },
  async handle({ site: { site_id }, params: { bess_id } }, context: Context) {
    const [situation, rows] = await Promise.all([
      readSituation(site_id, context),
      readPcs(context.db, site_id, bess_id),
    ])
    // Every unit has a PCS.
    if (rows.length === 0) throw new ApiError('not_found', { bess_id })
    return unitPcs(bess_id, rows, situation)
  },
})

const { efficiency_pct: _now, ...pcsMeasuredThen } = pcsMeasured
const PcsReading = Type.Object(
  {
    measured_at: readingFrame.measured_at,
    pcs_idx: PcsIdx,
    quality: readingFrame.quality,
    ...pcsMeasuredThen,
  },
  { additionalProperties: false, $id: 'PcsReading' },
)
const pcsReadingColumns = pcsColumns(Object.keys(pcsMeasuredThen))

export const pcsHistory = endpoint({
  ...bess,
  ...ofUnit,
  path: '/bess/{bess_id}/pcs/history',
  operation_id: 'bess_pcs_history_list',
  summary: 'Historical readings of the power conversion systems of a unit',
  description:
    'Returns one item for each PCS and instant, by instant and PCS; `limit` and `meta.count` count ' +
    'items. The window defaults to the last 24 hours. A page ends with a complete instant, so that ' +
    '`next_start` and `previous_end` skip no item. With a `limit` below the number of PCS, only ' +
    'the first items of one instant are returned, without `next_start` and `previous_end`: use a ' +
    'higher limit.',
  window: rowsWindow(default_hours.telemetry),
  query: { limit: telemetryLimit },
  heavy: true,
  returns: Series(PcsReading),
  example: {
    answer: {
      data: [pcsReadingExample],
      meta: { count: 1, truncated: false, next_start: null, previous_end: null },
    },
  },
  async handle({ query, ...request }, { db }: Context) {
    const limit = query.limit ?? telemetry_rows.by_default
    return readPcsHistory(db, { ...(await historyOf(db, request)), limit }, pcsReadingColumns)
  },
  async exports({ query, ...request }, { db }: Context) {
    const limit = query.limit ?? null
    return pcsHistoryRows({ ...(await historyOf(db, request)), limit }, pcsReadingColumns)
  },
})

export const getEnvelope = endpoint({
  ...bess,
  ...ofUnit,
  path: '/bess/{bess_id}/envelope',
  operation_id: 'bess_envelope_get',
  summary: 'Present power and energy limits of a battery unit',
  description:
    'Returns the lowest of the limits of BMS, PCS and operating window. For information only: the ' +
    'edge computes its own limits at every setpoint. The limit of the connection is not included, ' +
    'as the server does not know it.',
  returns: Envelope,
  example: { answer: envelopeExample },
  async handle({ site: { site_id }, params: { bess_id } }, context: Context) {
    const { unit, situation } = await requireLive(site_id, bess_id, context)
    return envelopeOf(unit, situation)
  },
})

export const listProtection = endpoint({
  ...bess,
  ...ofUnit,
  path: '/bess/{bess_id}/protection',
  operation_id: 'bess_protection_list',
  summary: 'Protection thresholds of a battery unit',
  description: 'Returns the thresholds read last, by parameter and level. Read-only.',
  cache: 'resource',
  returns: List(Protection),
  example: { answer: { data: [protectionExample], meta: { count: 1 } } },
  async handle({ site: { site_id }, params: { bess_id } }, { db }: Context) {
    const setup = await readSetup(db, { site_id, bess_id })
    if (!setup) throw new ApiError('not_found', { bess_id })
    return list(protectionRecords(setup))
  },
})

export const getSetup = endpoint({
  ...bess,
  ...ofUnit,
  path: '/bess/{bess_id}/setup',
  operation_id: 'bess_setup_get',
  summary: 'Settings of a battery unit',
  description: 'Returns the settings read last from the device. Read-only.',
  cache: 'resource',
  returns: Setup,
  example: { answer: setupExample },
  async handle({ site: { site_id }, params: { bess_id } }, context: Context) {
    const [situation, setup] = await Promise.all([
      readSituation(site_id, context),
      readSetup(context.db, { site_id, bess_id }),
    ])
    if (!setup) throw new ApiError('not_found', { bess_id })
    return setupRecord(setup, situation.poll)
  },
})
