import { mayRead } from '../../http/authorize.ts'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { List, list } from '../../http/envelope.ts'
import { ApiError, found } from '../../http/errors.ts'
import { siteSituation } from '../../plant/site-facts.ts'
import type { Situation } from '../../plant/situation.ts'
import { deviceHistory, historyParts, ReadingSeries } from '../../telemetry/history.ts'
import { exportInstantHistory, readInstantHistory } from '../../telemetry/instants.ts'
import { BatteryNow, BatteryReading, batteryNow } from '../current.ts'
import { Envelope, envelopeOf } from '../envelope.ts'
import { type LiveUnit, readPcs, readUnits } from '../unit-store.ts'
import { BatteryUnit, BessId, type OfUnit, unitRecord } from '../units.ts'
import { Cluster, ClusterCells, ClusterIdx, clusterCells, clusterRecord } from './clusters.ts'
import { FleetSummary, fleetSummary } from './fleet.ts'
import type { FleetReads } from './fleet-facts.ts'
import { pcsInstants, pcsItems, unitItems } from './history.ts'
import { PcsReading, UnitPcs, unitPcs } from './pcs.ts'
import { Protection, protectionRecords, Setup, setupRecord } from './setup.ts'
import { readCells, readClusters, readSetup } from './store.ts'

export interface Needs extends Context {
  fleetReads: FleetReads
}

const bess = { method: 'GET', tag: 'Batteries', scope: 'bess:read', module: 'bess' } as const
const ofUnit = { ...bess, params: { bess_id: BessId } } as const

/** The handler of an answer about the newest readings of a unit. */
const live =
  <Answer>(answerOf: (unit: LiveUnit, situation: Situation) => Answer) =>
  async ({ site: { site_id }, params: { bess_id } }: OfUnit, context: Context) => {
    const situation = await siteSituation(context, site_id)
    const [unit] = await readUnits(context.db, { ...situation, site_id, bess_id })
    return answerOf(found(unit, { bess_id }), situation)
  }

export const listUnits = endpoint({
  ...bess,
  path: '/bess',
  operation_id: 'bess_list',
  summary: 'The battery units of the site',
  description: 'Returns units by id. Retired units have `retired_at` and their last known values.',
  returns: List(BatteryUnit),
  async handle({ site: { site_id } }, context: Context) {
    const situation = await siteSituation(context, site_id)
    const units = await readUnits(context.db, { ...situation, site_id })
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
  async handle({ site: { site_id }, caller }, needs: Needs) {
    const situation = await siteSituation(needs, site_id)
    const [units, facts] = await Promise.all([
      readUnits(needs.db, { ...situation, site_id, in_service: true }),
      needs.fleetReads.get(site_id, situation.day_start_at),
    ])
    const earnings = mayRead(caller, 'earnings:read') ? facts.earnings : 'forbidden_scope'
    return fleetSummary(units, { ...facts, earnings }, situation)
  },
})

export const getUnit = endpoint({
  ...ofUnit,
  path: '/bess/{bess_id}',
  operation_id: 'bess_get',
  summary: 'One battery unit',
  returns: BatteryUnit,
  handle: live(unitRecord),
})

export const getUnitNow = endpoint({
  ...ofUnit,
  path: '/bess/{bess_id}/current',
  operation_id: 'bess_current_get',
  summary: 'Newest readings of a battery unit',
  returns: BatteryNow,
  handle: live(batteryNow),
})

export const unitHistory = endpoint({
  ...ofUnit,
  ...deviceHistory<{ bess_id: number }>('bess', unitItems),
  path: '/bess/{bess_id}/history',
  operation_id: 'bess_history_list',
  summary: 'Historical readings of a battery unit',
  description: 'Returns readings, ascending. The window defaults to the last 24 hours.',
  returns: ReadingSeries(BatteryReading),
})

export const listClusters = endpoint({
  ...ofUnit,
  path: '/bess/{bess_id}/clusters',
  operation_id: 'bess_clusters_list',
  summary: 'Newest readings of the clusters of a battery unit',
  description: 'Returns every cluster of the inventory, by index, even without readings.',
  returns: List(Cluster),
  async handle({ site: { site_id }, params: { bess_id } }, context: Context) {
    const [situation, rows] = await Promise.all([
      siteSituation(context, site_id),
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
  async handle({ site: { site_id }, params: { bess_id, cluster_idx } }, context: Context) {
    const [situation, row] = await Promise.all([
      siteSituation(context, site_id),
      readCells(context.db, { site_id, bess_id, cluster_idx }),
    ])
    return clusterCells(found(row, { bess_id, cluster_idx }), situation)
  },
})

export const getPcsNow = endpoint({
  ...ofUnit,
  path: '/bess/{bess_id}/pcs/current',
  operation_id: 'bess_pcs_current_get',
  summary: 'Newest readings of the power conversion systems of a unit',
  description: 'Returns sums over all PCS, and each PCS in `pcs`.',
  returns: UnitPcs,
  async handle({ site: { site_id }, params: { bess_id } }, context: Context) {
    const [situation, rows] = await Promise.all([
      siteSituation(context, site_id),
      readPcs(context.db, site_id, bess_id),
    ])
    // Every unit has a PCS.
    if (rows.length === 0) throw new ApiError('not_found', { bess_id })
    return unitPcs(bess_id, rows, situation)
  },
})

export const pcsHistory = endpoint({
  ...ofUnit,
  ...historyParts<{ bess_id: number }>('pcs', pcsItems, {
    page: (db, request) => readInstantHistory(db, 'pcs', request, pcsInstants),
    file: (_, request) => exportInstantHistory('pcs', request, pcsInstants),
  }),
  path: '/bess/{bess_id}/pcs/history',
  operation_id: 'bess_pcs_history_list',
  summary: 'Historical readings of the power conversion systems of a unit',
  description:
    'Returns one item for each PCS and instant, by instant and PCS; `limit` and `meta.count` count ' +
    'items. The window defaults to the last 24 hours. A page ends with a complete instant, so that ' +
    '`next_start` and `previous_end` skip no item. With a `limit` below the number of PCS, only ' +
    'the first items of one instant are returned, without `next_start` and `previous_end`: use a ' +
    'higher limit.',
  returns: ReadingSeries(PcsReading),
})

export const getEnvelope = endpoint({
  ...ofUnit,
  path: '/bess/{bess_id}/envelope',
  operation_id: 'bess_envelope_get',
  summary: 'Present power and energy limits of a battery unit',
  description:
    'Returns the lowest of the limits of BMS, PCS and operating window. For information only: the ' +
    'edge computes its own limits at every setpoint. The limit of the connection is not included, ' +
    'as the server does not know it.',
  returns: Envelope,
  handle: live(envelopeOf),
})

export const listProtection = endpoint({
  ...ofUnit,
  path: '/bess/{bess_id}/protection',
  operation_id: 'bess_protection_list',
  summary: 'Protection thresholds of a battery unit',
  description: 'Returns the thresholds read last, by parameter and level. Read-only.',
  cache: 'resource',
  returns: List(Protection),
  async handle({ site: { site_id }, params: { bess_id } }, { db }: Context) {
    const setup = await readSetup(db, { site_id, bess_id })
    return list(protectionRecords(found(setup, { bess_id })))
  },
})

export const getSetup = endpoint({
  ...ofUnit,
  path: '/bess/{bess_id}/setup',
  operation_id: 'bess_setup_get',
  summary: 'Settings of a battery unit',
  description: 'Returns the settings read last from the device. Read-only.',
  cache: 'resource',
  returns: Setup,
  async handle({ site: { site_id }, params: { bess_id } }, context: Context) {
    const [situation, setup] = await Promise.all([
      siteSituation(context, site_id),
      readSetup(context.db, { site_id, bess_id }),
    ])
    return setupRecord(found(setup, { bess_id }), situation.poll)
  },
})
