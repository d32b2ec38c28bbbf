import { rounded } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { List, list } from '../../http/envelope.ts'
import { LoggerId } from '../../http/params.ts'
import { requireLogger } from '../../plant/device-ids.ts'
import { served } from '../../storage/records.ts'
import { type Period, periodNote, periodRecord } from '../period.ts'
import { diagnostics, siteAndPeriod } from './asked.ts'
import { type InverterSumsRow, plantYields, readInverterSums } from './inverter-sums.ts'
import { efficiencyPct, europeanEfficiencyPct, loadBins, lossesOf } from './losses.ts'
import { byRank, comparable, ranked } from './ranking.ts'
import {
  InverterEfficiency,
  InverterLosses,
  InverterRanking,
  type inverterRankings,
  LoggerEfficiency,
  LoggerRanking,
  type loggerRankings,
} from './schemas.ts'
import { type Yields, yieldsOf } from './yields.ts'

export const rankLoggers = endpoint({
  ...diagnostics,
  path: '/efficiency/loggers',
  operation_id: 'efficiency_loggers_list',
  summary: 'Rank loggers (plants) by specific yield or capacity factor',
  description: `Returns loggers with their performance ratios and availability, best first. ${periodNote}`,
  query: { rank_by: LoggerRanking },
  returns: List(LoggerEfficiency),
  async handle({ site: { site_id }, query, window }, context: Context) {
    const { period } = await siteAndPeriod(site_id, window, context)
    const rows = await readInverterSums(context.db, site_id, period)
    const plants = [...Map.groupBy(rows, ({ logger_id }) => logger_id).values()]
    return list(byRank(loggerItems(plants, period, query.rank_by ?? 'specific_yield')))
  },
})

export const rankInverters = endpoint({
  ...diagnostics,
  path: '/efficiency/inverters',
  operation_id: 'efficiency_inverters_list',
  summary: 'Rank inverters by specific yield, capacity factor or efficiency',
  description: `Returns inverters with their fault time and clipping losses, best first. ${periodNote}`,
  query: { logger_id: Type.Optional(LoggerId), rank_by: InverterRanking },
  returns: List(InverterEfficiency),
  async handle({ site: { site_id }, query, window }, context: Context) {
    const { logger_id, rank_by = 'specific_yield' } = query
    if (logger_id !== undefined) await requireLogger(context.db, site_id, logger_id)
    const { period } = await siteAndPeriod(site_id, window, context)
    const rows = await readInverterSums(context.db, site_id, period, logger_id)
    return list(byRank(inverterItems(rows, period, rank_by)))
  },
})

export const analyseLosses = endpoint({
  ...diagnostics,
  path: '/efficiency/loss-analysis',
  operation_id: 'efficiency_losses_list',
  summary: 'List DC-to-AC losses of each inverter by cause',
  description: `Returns losses by conversion, clipping, curtailment, downtime and derating, and the night consumption, by inverter. ${periodNote}`,
  returns: List(InverterLosses),
  async handle({ site: { site_id }, window }, context: Context) {
    const { period } = await siteAndPeriod(site_id, window, context)
    const rows = await readInverterSums(context.db, site_id, period)
    return list(rows.map((row) => lossItem(row, period)))
  },
})

type LoggerItem = Static<typeof LoggerEfficiency>
type InverterItem = Static<typeof InverterEfficiency>

function loggerItems(
  plants: readonly InverterSumsRow[][],
  period: Period,
  rank_by: (typeof loggerRankings)[number],
): LoggerItem[] {
  const yields = plants.map((inverters) => plantYields(inverters, period))
  const ranks = yieldRanks(yields)
  return plants.map((inverters, nth) => {
    const metrics = yields[nth]!
    const logger = inverters[0]!
    const guaranteed_pct = logger.guaranteed_performance_ratio_pct
    return served(LoggerEfficiency, {
      ...periodRecord(period),
      ...logger,
      dc_capacity_kwp: logger.logger_dc_capacity_kwp,
      rated_power_kw: logger.logger_rated_power_kw,
      ...metrics,
      deviation_from_fleet_pct: ranks.specific_yield[nth]!.deviation_pct,
      performance_ratio_to_guaranteed_pct: ratioPct(metrics.performance_ratio_pct, guaranteed_pct),
      rank: ranks[rank_by][nth]!.rank,
      percentile_pct: ranks[rank_by][nth]!.percentile,
      specific_yield_rank: ranks.specific_yield[nth]!.rank,
      capacity_factor_rank: ranks.capacity_factor[nth]!.rank,
    })
  })
}

const rankedBy = (
  yields: readonly Yields[],
  name: 'specific_yield_kwh_kwp' | 'capacity_factor_pct',
) =>
  ranked(
    comparable(
      yields.map((each) => each[name]),
      yields.map(({ completeness_pct }) => completeness_pct),
    ),
  )

const yieldRanks = (yields: readonly Yields[]) => ({
  specific_yield: rankedBy(yields, 'specific_yield_kwh_kwp'),
  capacity_factor: rankedBy(yields, 'capacity_factor_pct'),
})

const ratioPct = (value: number | null, to: number | null): number | null =>
  value === null || to === null ? null : rounded((100 * value) / to, 3)

function inverterItems(
  rows: readonly InverterSumsRow[],
  period: Period,
  rank_by: (typeof inverterRankings)[number],
): InverterItem[] {
  const yields = rows.map((row) => yieldsOf(row, row, period, 1))
  const efficiencies = rows.map((row, nth) =>
    yields[nth]!.excluded_reason === null
      ? efficiencyPct(row.conversion_ac_kwh, row.conversion_dc_kwh)
      : null,
  )
  const ranks = { ...yieldRanks(yields), efficiency: ranked(efficiencies) }
  const groups = rows.map(peerGroup)
  const deviations = deviationsWithin(groups, yields)
  return rows.map((row, nth) => {
    const metrics = yields[nth]!
    const known = metrics.excluded_reason === null
    const bins = loadBins(row)
    return served(InverterEfficiency, {
      ...periodRecord(period),
      ...row,
      ...metrics,
      conversion_efficiency_pct: efficiencies[nth]!,
      weighted_efficiency_pct: known ? europeanEfficiencyPct(bins) : null,
      fault_min: row.covered_s > 0 ? rounded(row.fault_s / 60, 1) : null,
      derated_min: row.covered_s > 0 ? rounded(row.derated_s / 60, 1) : null,
      clipped_energy_kwh:
        metrics.curtailed_energy_kwh === null ? null : rounded(row.clipping_loss_kwh, 3),
      peer_group: groups[nth]!,
      deviation_from_peers_pct: deviations[nth]!,
      rank: ranks[rank_by][nth]!.rank,
      percentile_pct: ranks[rank_by][nth]!.percentile,
      specific_yield_rank: ranks.specific_yield[nth]!.rank,
      capacity_factor_rank: ranks.capacity_factor[nth]!.rank,
      efficiency_rank: ranks.efficiency[nth]!.rank,
    })
  })
}

/** Inverters are compared with inverters of the same panel orientation. */
function peerGroup(row: InverterSumsRow): string {
  const { azimuth_min_deg, azimuth_max_deg, tilt_min_deg, tilt_max_deg } = row
  if (azimuth_min_deg === null) return 'none'
  const range = (low: number | null, high: number | null) =>
    low === high ? `${low}` : `${low}-${high}`
  return `${range(azimuth_min_deg, azimuth_max_deg)}/${range(tilt_min_deg, tilt_max_deg)}`
}

function deviationsWithin(groups: readonly string[], yields: readonly Yields[]): (number | null)[] {
  const deviations = new Array<number | null>(groups.length).fill(null)
  const places = Map.groupBy(groups.keys(), (nth) => groups[nth]!)
  for (const members of places.values()) {
    const of_members = members.map((nth) => yields[nth]!)
    const ranks = rankedBy(of_members, 'specific_yield_kwh_kwp')
    for (const [at, nth] of members.entries()) deviations[nth] = ranks[at]!.deviation_pct
  }
  return deviations
}

const lossItem = (row: InverterSumsRow, period: Period) =>
  served(InverterLosses, {
    ...periodRecord(period),
    ...row,
    ...lossesOf(row, row.nominal_efficiency_pct !== null, period),
    load_bins: loadBins(row),
  })
