/**
 * Clusters of a battery: SunSpec models 804 (one string) and 803 (summary of all strings), on one
 * or several units.
 */
import {
  type Battery,
  type ClusterState,
  type ClusterUnit,
  connectionFailures,
} from '@heliograph/domain/battery'
import { emptyReading } from '@heliograph/domain/readings'
import type { Decoded } from '@heliograph/domain/sunspec/codec'
import type { models } from '@heliograph/domain/sunspec/models'
import type { Bus, ClustersAnswer, Complaint, Device } from './driver.ts'
import { plausible } from './plausible.ts'
import { batteryRanges, indexOf, milli, modelsOf, signOf } from './sunspec-battery.ts'
import { openUnits } from './sunspec-battery-units.ts'
import type { Chain } from './sunspec-chain.ts'
import { createReader, type Parts, type Snapshot } from './sunspec-snapshot.ts'

type ClusterValues = ClustersAnswer['clusters'][number]

const parts: Parts = { 804: { last: 'ModTmp_SF' } }

/** Rejects if no unit answers. */
export async function openClusters(bus: Bus, battery: Battery): Promise<Device<ClustersAnswer>> {
  const ranges = batteryRanges(battery)
  const units = await openUnits(bus, battery, (chain, { unit_id }) =>
    createReader(bus, unit_id, { wanted: stringsOf(chain, battery), parts }),
  )
  return {
    get identity() {
      return units.identity
    },
    async read() {
      const complaints: Complaint[] = []
      const missing: string[] = []
      const clusters: ClusterValues[] = []
      for (const { answer: snapshot, at } of await units.askAll((read) => read())) {
        clusters.push(...clustersIn(snapshot, battery, at))
        complaints.push(...snapshot.complaints)
        missing.push(...snapshot.missing)
      }
      const there = clusters.filter(({ cluster_idx }) => cluster_idx < battery.cluster_count)
      const values = there.map((one) => plausible(one, complaints, ranges))
      return {
        values: { clusters: values, alarm_table: 'sunspec-string-804' },
        complaints,
        missing,
      }
    },
  }
}

/** Model 803 only for strings without the more detailed 804. */
function stringsOf(chain: Chain, battery: Battery) {
  modelsOf(chain, [804, 803], battery)
  const strings = chain.models.filter(({ model_id }) => model_id === 804)
  const bank = chain.models.filter(({ model_id }) => model_id === 803).slice(0, 1)
  return strings.length >= battery.cluster_count ? strings : [...bank, ...strings]
}

function clustersIn(snapshot: Snapshot, battery: Battery, at: ClusterUnit): ClusterValues[] {
  const found = new Map<number, ClusterValues>()
  const add = (index: number | null, values: Partial<ClusterValues>) => {
    if (index === null) return
    const cluster_idx = at.first_cluster_idx + index
    found.set(cluster_idx, { ...emptyReading('cluster'), ...values, cluster_idx })
  }
  const sign = signOf(battery)
  for (const { groups } of snapshot.all(803)) {
    for (const [index, group] of groups.entries()) add(index, stringValues(unprefixed(group), sign))
  }
  for (const { values } of snapshot.all(804)) add(indexOf(values.Idx), stringValues(values, sign))
  return [...found.values()]
}

type Model<Id extends 803 | 804> = Decoded<(typeof models)[Id]>

function stringValues(points: Model<804>['values'], sign: number): Partial<ClusterValues> {
  const current_a = points.A === null ? null : sign * points.A + 0
  return {
    ...standing({ St: points.St, ConFail: points.ConFail, current_a }),
    soc_pct: points.SoC,
    soh_pct: points.SoH,
    voltage_v: points.V,
    current_a,
    cell_voltage_min_mv: milli(points.CellVMin),
    cell_voltage_max_mv: milli(points.CellVMax),
    cell_voltage_avg_mv: milli(points.CellVAvg),
    cell_voltage_min_module_idx: indexOf(points.CellVMinMod),
    cell_voltage_max_module_idx: indexOf(points.CellVMaxMod),
    cell_temperature_min_c: points.ModTmpMin,
    cell_temperature_max_c: points.ModTmpMax,
    cell_temperature_avg_c: points.ModTmpAvg,
    cell_temperature_min_module_idx: indexOf(points.ModTmpMinMod),
    cell_temperature_max_module_idx: indexOf(points.ModTmpMaxMod),
    cycle_count: points.NCyc,
    balancing_cell_count: points.NCellBal,
    alarm_1: points.Evt1,
    alarm_2: points.EvtVnd1,
  }
}

/** The points of model 803 for one string by the names of model 804. */
function unprefixed(group: Model<803>['groups'][number]): Model<804>['values'] {
  const named = Object.entries(group).map(([name, value]) => [name.replace(/^Str/, ''), value])
  return { V: null, NCyc: null, NCellBal: null, ...Object.fromEntries(named) }
}

interface Standing {
  /** Bit 0: enabled; bit 1: all contactors are closed. */
  St: number | null
  ConFail: number | null
  current_a: number | null
}

function standing({ St, ConFail, current_a }: Standing): Partial<ClusterValues> {
  // The standard does not assign contactors; only "all closed" is known.
  const closed = St !== null && (St & 2) !== 0 ? 1 : null
  return {
    state: stateOf({ St, ConFail, current_a }),
    connection_failure: ConFail === null ? null : (connectionFailures[ConFail] ?? 'unknown'),
    positive_contactor_closed: closed,
    negative_contactor_closed: closed,
  }
}

function stateOf({ St, ConFail, current_a }: Standing): ClusterState | null {
  if (St === null) return null
  const is_closed = (St & 2) !== 0
  if (!is_closed && ConFail !== null && ConFail !== 0) return 'fault'
  if ((St & 1) === 0) return 'stopped'
  if (!is_closed) return 'disconnected'
  if (current_a === null) return 'normal'
  return current_a > 0 ? 'discharging' : current_a < 0 ? 'charging' : 'standby'
}
