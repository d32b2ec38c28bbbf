import type { Clock } from '@heliograph/domain/clock'
import { Type } from 'typebox'
import { mayRead } from '../../http/authorize.ts'
import { endpoint } from '../../http/endpoint.ts'
import { List, list, Series } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { telemetry_rows, telemetryLimit } from '../../http/params.ts'
import { default_hours, type SeriesWindow } from '../../http/time-windows.ts'
import { rowsWindow } from '../../http/windows.ts'
import { readingFrame } from '../../plant/quantities.ts'
import { type SiteFacts, type Situation, situationOf } from '../../plant/situation.ts'
import { BatteryNow, batteryMeasured, batteryNow } from '../current.ts'
import { Envelope, envelopeOf } from '../envelope.ts'
import type { LiveUnit, UnitFacts } from '../unit-store.ts'
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
import { pcsColumns, unitColumns } from './history.ts'
import { PcsIdx, pcsMeasured, UnitPcs, unitPcs } from './pcs.ts'
import { Protection, protectionRecords, Setup, setupRecord } from './setup.ts'
import type { BessStore } from './store.ts'

export interface Needs {
  clock: Clock
  sites: { facts(site_id: string): Promise<SiteFacts> }
  bess: BessStore
}

const bess = { method: 'GET', tag: 'Batteries', scope: 'bess:read', module: 'bess' } as const
const ofUnit = { params: { bess_id: BessId } } as const

const situation = async (site_id: string, { clock, sites }: Needs): Promise<Situation> =>
  situationOf(await sites.facts(site_id), clock.now())

const units = (site_id: string, now: Situation, needs: Needs, in_service = false) =>
  needs.bess.units({ site_id, day_start_at: now.day_start_at, now: now.now, in_service })

/** A unit live, and what to judge it by. */
async function demandLive(
  site_id: string,
  bess_id: number,
  needs: Needs,
): Promise<{ unit: LiveUnit; now: Situation }> {
  const now = await situation(site_id, needs)
  const { day_start_at } = now
  const [unit] = await needs.bess.units({ site_id, bess_id, day_start_at, now: now.now })
  if (!unit) throw new ApiError('not_found', { bess_id })
  return { unit, now }
}

async function demandUnit(site_id: string, bess_id: number, { bess }: Needs): Promise<UnitFacts> {
  const unit = await bess.unit(site_id, bess_id)
  if (!unit) throw new ApiError('not_found', { bess_id })
  return unit
}

export const listUnits = endpoint({
  ...bess,
  path: '/bess',
  operation_id: 'bess_list',
  summary: 'The battery units of the site',
  description: 'By id; retired ones carry `retired_at` and the last that was known of them.',
  returns: List(BatteryUnit),
  example: { answer: { data: [batteryUnitExample], meta: { count: 1 } } },
  async handle({ site: { site_id } }, needs: Needs) {
    const now = await situation(site_id, needs)
    return list((await units(site_id, now, needs)).map((unit) => unitRecord(unit, now)))
  },
})

export const getFleetSummary = endpoint({
  ...bess,
  path: '/bess/fleet/summary',
  operation_id: 'bess_fleet_summary_get',
  summary: 'All battery units of the site together',
  description:
    'Over the units in service. Sums of what is now leave out those that do not answer; earnings ' +
    'and the efficiency are up to five minutes old.',
  returns: FleetSummary,
  example: { answer: fleetExample },
  async handle({ site: { site_id }, caller }, needs: Needs) {
    const now = await situation(site_id, needs)
    const [fleet, facts] = await Promise.all([
      units(site_id, now, needs, true),
      needs.bess.fleet.get(site_id, now.day_start_at),
    ])
    const earnings = mayRead(caller, 'earnings:read') ? facts.earnings : 'forbidden_scope'
    return fleetSummary(fleet, { ...facts, earnings }, now)
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
  async handle({ site: { site_id }, params: { bess_id } }, needs: Needs) {
    const { unit, now } = await demandLive(site_id, bess_id, needs)
    return unitRecord(unit, now)
  },
})

export const getUnitNow = endpoint({
  ...bess,
  ...ofUnit,
  path: '/bess/{bess_id}/current',
  operation_id: 'bess_current_get',
  summary: 'What a battery unit measured last',
  returns: BatteryNow,
  example: { answer: batteryNowExample },
  async handle({ site: { site_id }, params: { bess_id } }, needs: Needs) {
    const { unit, now } = await demandLive(site_id, bess_id, needs)
    return batteryNow(unit, now)
  },
})

/** Which readings are asked for, of a unit that exists. */
async function demandHistory(site_id: string, bess_id: number, window: SeriesWindow, needs: Needs) {
  await demandUnit(site_id, bess_id, needs)
  return { site_id, device_id: bess_id, window }
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
  summary: 'What a battery unit measured, over time',
  description: 'Ascending. Without a window: the last 24 hours.',
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
  async handle({ site, params, query, window }, needs: Needs) {
    const wanted = await demandHistory(site.site_id, params.bess_id, window, needs)
    const limit = query.limit ?? telemetry_rows.by_default
    return needs.bess.history({ ...wanted, limit }, readingColumns)
  },
  async exports({ site, params, query, window }, needs: Needs) {
    const wanted = await demandHistory(site.site_id, params.bess_id, window, needs)
    return needs.bess.historyRows({ ...wanted, limit: query.limit ?? null }, readingColumns)
  },
})

export const listClusters = endpoint({
  ...bess,
  ...ofUnit,
  path: '/bess/{bess_id}/clusters',
  operation_id: 'bess_clusters_list',
  summary: 'The clusters of a battery unit, live',
  description: 'Every cluster of the inventory, by index, measured or not.',
  returns: List(Cluster),
  example: { answer: { data: [clusterExample], meta: { count: 1 } } },
  async handle({ site: { site_id }, params: { bess_id } }, needs: Needs) {
    const [now, rows] = await Promise.all([
      situation(site_id, needs),
      needs.bess.clusters(site_id, bess_id),
    ])
    // Every unit has a cluster.
    if (rows.length === 0) throw new ApiError('not_found', { bess_id })
    return list(rows.map((row) => clusterRecord(row, now)))
  },
})

export const getCluster = endpoint({
  ...bess,
  path: '/bess/{bess_id}/clusters/{cluster_idx}',
  operation_id: 'bess_clusters_get',
  summary: 'One cluster of a battery unit, down to its cells',
  description: 'Cells are measured less often than clusters: they have an age of their own.',
  params: { bess_id: BessId, cluster_idx: ClusterIdx },
  returns: ClusterCells,
  example: { answer: clusterCellsExample },
  async handle({ site: { site_id }, params: { bess_id, cluster_idx } }, needs: Needs) {
    const [now, row] = await Promise.all([
      situation(site_id, needs),
      needs.bess.cells(site_id, bess_id, cluster_idx),
    ])
    if (!row) throw new ApiError('not_found', { bess_id, cluster_idx })
    return clusterCells(row, now)
  },
})

export const getPcsNow = endpoint({
  ...bess,
  ...ofUnit,
  path: '/bess/{bess_id}/pcs/current',
  operation_id: 'bess_pcs_current_get',
  summary: 'What the power conversion systems of a unit measured last',
  description: 'All together, and each of them in `pcs`.',
  returns: UnitPcs,
  example: { answer: unitPcsExample },
  async handle({ site: { site_id }, params: { bess_id } }, needs: Needs) {
    const [now, rows] = await Promise.all([
      situation(site_id, needs),
      needs.bess.pcs(site_id, bess_id),
    ])
    // Every unit has one.
    if (rows.length === 0) throw new ApiError('not_found', { bess_id })
    return unitPcs(bess_id, rows, now)
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
  summary: 'What the power conversion systems of a unit measured, over time',
  description:
    'One item for each PCS and instant, by instant and PCS; `limit` and `meta.count` count these. ' +
    'Without a window: the last 24 hours. A page ends with a whole instant, so that going on by ' +
    '`next_start` or `previous_end` leaves nothing out. A `limit` below the number of PCS that ' +
    'are read at once gives the first of one instant and neither of the two: raise it.',
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
  async handle({ site, params, query, window }, needs: Needs) {
    const wanted = await demandHistory(site.site_id, params.bess_id, window, needs)
    const limit = query.limit ?? telemetry_rows.by_default
    return needs.bess.pcsHistory({ ...wanted, limit }, pcsReadingColumns)
  },
  async exports({ site, params, query, window }, needs: Needs) {
    const wanted = await demandHistory(site.site_id, params.bess_id, window, needs)
    return needs.bess.pcsHistoryRows({ ...wanted, limit: query.limit ?? null }, pcsReadingColumns)
  },
})

export const getEnvelope = endpoint({
  ...bess,
  ...ofUnit,
  path: '/bess/{bess_id}/envelope',
  operation_id: 'bess_envelope_get',
  summary: 'What a battery unit may charge and discharge now',
  description:
    'The least of what its management system, its PCS and its operating window allow. The edge ' +
    'finds its own at every setpoint: this one promises nothing, and holds no figure of the limit ' +
    'of the connection.',
  returns: Envelope,
  example: { answer: envelopeExample },
  async handle({ site: { site_id }, params: { bess_id } }, needs: Needs) {
    const { unit, now } = await demandLive(site_id, bess_id, needs)
    return envelopeOf(unit, now)
  },
})

export const listProtection = endpoint({
  ...bess,
  ...ofUnit,
  path: '/bess/{bess_id}/protection',
  operation_id: 'bess_protection_list',
  summary: 'The thresholds of protection that a battery unit is set to',
  description: 'By parameter and level, as they were read last. They can only be read.',
  cache: 'resource',
  returns: List(Protection),
  example: { answer: { data: [protectionExample], meta: { count: 1 } } },
  async handle({ site: { site_id }, params: { bess_id } }, needs: Needs) {
    await demandUnit(site_id, bess_id, needs)
    return list(protectionRecords(await needs.bess.setup(site_id, bess_id)))
  },
})

export const getSetup = endpoint({
  ...bess,
  ...ofUnit,
  path: '/bess/{bess_id}/setup',
  operation_id: 'bess_setup_get',
  summary: 'What a battery unit is set to',
  description: 'As it was read last. It can only be read.',
  cache: 'resource',
  returns: Setup,
  example: { answer: setupExample },
  async handle({ site: { site_id }, params: { bess_id } }, needs: Needs) {
    const unit = await demandUnit(site_id, bess_id, needs)
    const [now, setup] = await Promise.all([
      situation(site_id, needs),
      needs.bess.setup(site_id, bess_id),
    ])
    return setupRecord(unit, setup, now.poll)
  },
})
