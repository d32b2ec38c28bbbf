/**
 * Battery management of a simulated battery as a SunSpec map: models 802, 713, 803, one 804 for
 * each cluster and one 805 for each module. Strings, modules and cells count from 1. The sign of
 * current and power is that of site.yaml, by default positive when discharging.
 */
import { type ClusterUnit, clusterUnits } from '@heliograph/domain/battery'
import { type Content, encode } from '@heliograph/domain/sunspec/codec'
import { models } from '@heliograph/domain/sunspec/models'
import { bank_headroom } from '../batteries/bank.ts'
import type { BatteryUnit, BmsTold } from '../batteries/batteries.ts'
import type { BatteryFault } from '../batteries/battery-faults.ts'
import {
  type BatterySnapshot,
  type ClusterSnapshot,
  cellsOf,
} from '../batteries/battery-snapshot.ts'
import type { CellReadings } from '../batteries/cluster.ts'
import { identity, scaleFor } from './sunspec.ts'
import { type Part, sunspecUnit } from './sunspec-unit.ts'
import { type PlacedUnit, Refusal } from './unit.ts'

/** Scale factor of an unsigned register. */
const unsignedScale = (largest: number): number =>
  Math.max(-2, Math.ceil(Math.log10(largest / 60_000)))

const percent_scale = -2
const cell_volt_scale = -3
const volt_scale = -1
const temperature_scale = -1
/** Below 0xffff, which is "not implemented". */
const beat_end = 0xffff

/** Counts seconds, unless frozen by a fault. */
export function beatAt(faults: readonly BatteryFault[], now_ms: number): number {
  const stuck = faults.find(({ kind }) => kind === 'battery_heartbeat_frozen')
  const since_ms = (stuck as { since_ms?: number } | undefined)?.since_ms ?? 0
  return Math.floor((stuck ? since_ms : now_ms) / 1000) % beat_end
}

/** One unit for the whole battery, plus units with some clusters each. */
export function bmsUnits(unit: BatteryUnit): PlacedUnit[] {
  const { bms } = unit.battery
  const places = clusterUnits(unit.battery)
  const own = places.filter((place) => isSame(place, bms))
  const others = places.filter((place) => !isSame(place, bms))
  return [
    bmsUnit(unit, bms, [...bankParts(unit), ...own.flatMap((place) => clusterParts(unit, place))]),
    ...others.map((place) => bmsUnit(unit, place, clusterParts(unit, place))),
  ]
}

type Place = Pick<ClusterUnit, 'connection' | 'unit_id' | 'base_address'>
const isSame = (a: Place, b: Place) => a.connection === b.connection && a.unit_id === b.unit_id

function bmsUnit(unit: BatteryUnit, place: Place, parts: readonly Part<BatterySnapshot>[]) {
  const { connection, unit_id, base_address } = place
  const { bess_id } = unit.battery
  const make = () => identity('Simulated battery', `SIM-BMS-${bess_id}-${unit_id}`)
  const served = sunspecUnit<BatterySnapshot, BmsTold>({
    base_address,
    parts: [{ model: models[1], make }, ...parts],
    now: () => unit.snapshot(),
    version: () => `${unit.state.time_ms} ${unit.version}`,
    take: (place, word) => writable[place]?.(word),
    tell: (told) => unit.tellBms(told),
    isAway: () => unit.faults().some(({ kind }) => kind === 'bms_silent'),
  })
  return { connection, unit_id, ...served }
}

/** Points CtrlHb, AlmRst and SetOp of model 802. */
const writable: Readonly<Record<string, (word: number) => Partial<BmsTold>>> = {
  '802.19': (controller_beat) => ({ controller_beat }),
  '802.20': () => ({}),
  '802.50': (word) => {
    if (word !== 1 && word !== 2) throw new Refusal('illegal data value')
    return { is_disconnected: word === 2 }
  },
}

const bankParts = (unit: BatteryUnit): Part<BatterySnapshot>[] => [
  { model: models[802], make: (now) => bank(unit, now) },
  { model: models[713], make: (now) => capacity(unit, now) },
]

function clusterParts(unit: BatteryUnit, { first_cluster_idx }: ClusterUnit) {
  const { battery } = unit
  const { modules_per_cluster, cells_per_module, cluster_count } = battery
  const places = clusterUnits(battery).map((place) => place.first_cluster_idx)
  const next = Math.min(cluster_count, ...places.filter((first) => first > first_cluster_idx))
  const own = Array.from({ length: next - first_cluster_idx }, (_, nth) => first_cluster_idx + nth)
  const at = (cluster_idx: number) => ({ cluster_idx, Idx: cluster_idx - first_cluster_idx + 1 })
  const parts: Part<BatterySnapshot>[] = [
    {
      model: models[803],
      groups: own.length,
      make: ({ clusters }) =>
        strings(
          unit,
          clusters.filter((_, idx) => own.includes(idx)),
        ),
    },
    ...own.map((idx) => ({
      model: models[804],
      groups: modules_per_cluster,
      make: () => string(unit, at(idx)),
    })),
    ...own.flatMap((idx) =>
      Array.from({ length: modules_per_cluster }, (_, module_idx) => ({
        model: models[805],
        groups: cells_per_module,
        make: () => module(unit, { ...at(idx), module_idx }),
      })),
    ),
  ]
  return parts
}

const signOf = ({ battery }: BatteryUnit) => (battery.bms.positive_current === 'charge' ? -1 : 1)

const lithium_ion = 4

function bank(unit: BatteryUnit, now: BatterySnapshot): Uint16Array {
  const { battery, model, state } = unit
  const faults = unit.faults()
  const rated_w = Math.max(battery.rated_charge_power_kw, battery.rated_discharge_power_kw) * 1000
  const nominal_ah = model.clusters[0]!.nominal_ah * battery.cluster_count
  const sign = signOf(unit)
  const cells = extremesOf(now, 'cell_voltage_v')
  const most_a = (2 * rated_w) / Math.max(1, now.dc_voltage_v)
  return encode(models[802], {
    values: {
      AHRtg: nominal_ah,
      AHRtg_SF: unsignedScale(nominal_ah),
      WHRtg: battery.rated_energy_kwh * 1000,
      WHRtg_SF: unsignedScale(battery.rated_energy_kwh * 1000),
      // DC power, which includes the losses of the PCS.
      WChaRteMax: model.rated_dc_kw.charge * bank_headroom * 1000,
      WDisChaRteMax: model.rated_dc_kw.discharge * bank_headroom * 1000,
      WChaDisChaMax_SF: unsignedScale(1.2 * rated_w),
      SoCMax: battery.soc_max_pct,
      SoCMin: battery.soc_min_pct,
      SoC: shownSoc(now, faults),
      SoCRsvMin: battery.soc_reserve_pct ?? null,
      SoC_SF: percent_scale,
      DoD: 100 - shownSoc(now, faults),
      DoD_SF: percent_scale,
      SoH: now.soh_pct,
      SoH_SF: percent_scale,
      NCyc: Math.floor(now.cycle_count),
      ChaSt: chargeStatus(now),
      State: bankState(now),
      Typ: lithium_ion,
      LocRemCtl: faults.some(({ kind }) => kind === 'local_control') ? 1 : 0,
      Hb: beatAt(faults, unit.now_ms()),
      CtrlHb: state.bms.controller_beat,
      AlmRst: 0,
      Evt1: now.event_word,
      Evt2: 0,
      EvtVnd1: 0,
      EvtVnd2: 0,
      V: now.dc_voltage_v,
      V_SF: volt_scale,
      CellV_SF: cell_volt_scale,
      ...extremePoints('CellV', 'Mod', { ...cells, min_at: cells.min_mod, max_at: cells.max_mod }),
      CellVMaxStr: cells.max_str,
      CellVMinStr: cells.min_str,
      A: sign * now.dc_current_a,
      A_SF: scaleFor(most_a),
      AChaMax: now.dc_limits.charge_a,
      ADisChaMax: now.dc_limits.discharge_a,
      AMax_SF: unsignedScale(most_a),
      W: sign * now.dc_power_kw * 1000,
      W_SF: scaleFor(rated_w * 1.5),
      SetOp: state.bms.is_disconnected ? 2 : 1,
      SetInvState: null,
    },
  })
}

function shownSoc({ soc_pct }: BatterySnapshot, faults: readonly BatteryFault[]): number {
  const by_pct = faults.reduce(
    (sum, fault) => sum + (fault.kind === 'soc_jump' ? fault.by_pct : 0),
    0,
  )
  return Math.max(0, Math.min(100, soc_pct + by_pct))
}

function bankState({ contactor, state }: BatterySnapshot): number {
  if (state === 'fault') return 99
  if (contactor === 'open') return 1
  if (contactor === 'precharge') return 2
  return state === 'standby' ? 4 : 3
}

function chargeStatus({ state }: BatterySnapshot): number {
  const known: Record<string, number> = { empty: 2, discharging: 3, charging: 4, full: 5 }
  return known[state] ?? (state === 'holding' || state === 'standby' ? 6 : 1)
}

function capacity(unit: BatteryUnit, now: BatterySnapshot): Uint16Array {
  const rated_wh = unit.battery.rated_energy_kwh * 1000
  const soc_pct = shownSoc(now, unit.faults())
  return encode(models[713], {
    values: {
      WHRtg: rated_wh,
      WHAvail: now.available_energy_kwh * 1000,
      WH_SF: unsignedScale(rated_wh),
      SoC: soc_pct,
      SoH: now.soh_pct,
      Pct_SF: percent_scale,
      Sta: now.state === 'fault' ? 2 : now.event_word === 0 ? 0 : 1,
    },
  })
}

type Measure = 'cell_voltage_v' | 'cell_temperature_c'

/** Extremes over clusters with their places, counted from 1. */
export function extremesOf({ clusters }: Pick<BatterySnapshot, 'clusters'>, measure: Measure) {
  const lowest = clusters.reduce((a, b) => (b[measure].min < a[measure].min ? b : a))
  const highest = clusters.reduce((a, b) => (b[measure].max > a[measure].max ? b : a))
  return {
    min: lowest[measure].min,
    min_str: clusters.indexOf(lowest) + 1,
    min_mod: lowest[measure].min_module_idx + 1,
    max: highest[measure].max,
    max_str: clusters.indexOf(highest) + 1,
    max_mod: highest[measure].max_module_idx + 1,
    avg: clusters.reduce((sum, one) => sum + one[measure].avg, 0) / clusters.length,
  }
}

/** Lowest, highest and mean value, with their places counted from 1. */
interface Extremes {
  min: number
  min_at: number
  max: number
  max_at: number
  avg: number
}

const inCluster = (cluster: ClusterSnapshot, measure: Measure): Extremes => {
  const { min_module_idx, max_module_idx, ...values } = cluster[measure]
  return { ...values, min_at: min_module_idx + 1, max_at: max_module_idx + 1 }
}

/** Points such as CellVMin, CellVMinMod and CellVAvg. */
function extremePoints<Name extends string, At extends 'Mod' | 'Cell'>(
  name: Name,
  at: At,
  { min, min_at, max, max_at, avg }: Extremes,
) {
  return {
    [`${name}Min`]: min,
    [`${name}Min${at}`]: min_at,
    [`${name}Max`]: max,
    [`${name}Max${at}`]: max_at,
    [`${name}Avg`]: avg,
  } as Record<`${Name}${'Min' | 'Max' | 'Avg'}` | `${Name}${'Min' | 'Max'}${At}`, number>
}

/** Scale of a cluster's current, up to twice its share of the rated current. */
function clusterScale({ battery, model }: BatteryUnit): number {
  const { nominal_v } = model.clusters[0]!.curve
  const cluster_v = nominal_v * battery.modules_per_cluster * battery.cells_per_module
  const { charge, discharge } = model.rated_dc_kw
  const rated_a = (Math.max(charge, discharge) * 1000) / cluster_v / battery.cluster_count
  return scaleFor(2 * rated_a)
}

/** Bit 0: enabled; bit 1: its contactors are closed. */
const statusOf = ({ contactor }: ClusterSnapshot) => (contactor === 'closed' ? 3 : 1)
const has_tripped = 8
const out_of_range = 3
const failureOf = (cluster: ClusterSnapshot) =>
  cluster.alarm_levels.includes(3) ? has_tripped : cluster.is_out_of_range ? out_of_range : 0

function strings(unit: BatteryUnit, clusters: readonly ClusterSnapshot[]): Uint16Array {
  const tmp = extremesOf({ clusters: [...clusters] }, 'cell_temperature_c')
  const module_count = unit.battery.modules_per_cluster
  return encode(models[803], {
    values: {
      NStrCon: clusters.filter(({ contactor }) => contactor === 'closed').length,
      ...extremePoints('ModTmp', 'Mod', { ...tmp, min_at: tmp.min_mod, max_at: tmp.max_mod }),
      ModTmpMaxStr: tmp.max_str,
      ModTmpMinStr: tmp.min_str,
      ModTmp_SF: temperature_scale,
      CellV_SF: cell_volt_scale,
      NCellBal: clusters.reduce((sum, one) => sum + one.balancing_cell_count, 0),
      A_SF: clusterScale(unit),
      V_SF: volt_scale,
      SoC_SF: percent_scale,
      SoH_SF: percent_scale,
    },
    groups: clusters.map((cluster) => ({
      StrNMod: module_count,
      StrDisRsn: 0,
      ...clusterPoints('Str', unit, cluster),
    })),
  })
}

/** The points that models 803 and 804 have in common. */
function clusterPoints<Prefix extends string>(
  prefix: Prefix,
  unit: BatteryUnit,
  cluster: ClusterSnapshot,
) {
  const points = {
    St: statusOf(cluster),
    ConFail: failureOf(cluster),
    SoC: cluster.soc_pct,
    SoH: cluster.soh_pct,
    A: signOf(unit) * cluster.current_a,
    ...extremePoints('CellV', 'Mod', inCluster(cluster, 'cell_voltage_v')),
    ...extremePoints('ModTmp', 'Mod', inCluster(cluster, 'cell_temperature_c')),
    Evt1: cluster.event_word,
    Evt2: 0,
    EvtVnd1: 0,
    EvtVnd2: 0,
  }
  const named = Object.entries(points).map(([name, value]) => [prefix + name, value])
  return Object.fromEntries(named) as Record<`${Prefix}${keyof typeof points}`, number>
}

interface StringAt {
  cluster_idx: number
  Idx: number
}

function string(unit: BatteryUnit, { cluster_idx, Idx }: StringAt): Uint16Array {
  const cluster = unit.snapshot().clusters[cluster_idx]!
  const { modules_per_cluster } = unit.battery
  const cells = cellsOf(unit.model, unit.state.battery, cluster_idx)
  return encode(models[804], {
    values: {
      Idx,
      NCellBal: cluster.balancing_cell_count,
      DoD: 100 - cluster.soc_pct,
      NCyc: Math.floor(cluster.cycle_count),
      V: cluster.voltage_v,
      ...clusterPoints('', unit, cluster),
      SoC_SF: percent_scale,
      SoH_SF: percent_scale,
      DoD_SF: percent_scale,
      A_SF: clusterScale(unit),
      V_SF: volt_scale,
      CellV_SF: cell_volt_scale,
      ModTmp_SF: temperature_scale,
    },
    groups: Array.from({ length: modules_per_cluster }, (_, module_idx) => {
      const one = moduleCells(unit, cells, module_idx)
      return {
        ModNCell: unit.battery.cells_per_module,
        ModSoH: cluster.soh_pct,
        ModSoC: moduleSoc(unit, { cluster_idx, module_idx }),
        ...extremePoints('ModCellV', 'Cell', one.voltage),
        ...extremePoints('ModCellTmp', 'Cell', one.temperature),
      }
    }),
  })
}

function moduleCells({ battery }: BatteryUnit, cells: CellReadings, module_idx: number) {
  const { cells_per_module } = battery
  const own = <Of>(values: readonly Of[]) =>
    values.slice(module_idx * cells_per_module, (module_idx + 1) * cells_per_module)
  const summary = (values: readonly number[]) => {
    const min = Math.min(...values)
    const max = Math.max(...values)
    const avg = values.reduce((sum, value) => sum + value, 0) / values.length
    const at = { min_at: values.indexOf(min) + 1, max_at: values.indexOf(max) + 1 }
    return { min, max, avg, ...at }
  }
  const voltage_v = own(cells.voltage_v)
  const temperature_c = own(cells.temperature_c)
  return {
    voltage_v,
    temperature_c,
    is_balancing: own(cells.is_balancing),
    voltage: summary(voltage_v),
    temperature: summary(temperature_c),
  }
}

function moduleSoc(
  { battery, state }: BatteryUnit,
  { cluster_idx, module_idx }: { cluster_idx: number; module_idx: number },
): number {
  const { cells_per_module } = battery
  const from = module_idx * cells_per_module
  const own = state.battery.clusters[cluster_idx]!.soc.slice(from, from + cells_per_module)
  const mean = own.reduce((sum, value) => sum + value, 0) / own.length
  return 100 * Math.max(0, Math.min(1, mean))
}

const is_balancing = 1

function module(unit: BatteryUnit, at: StringAt & { module_idx: number }): Uint16Array {
  const { cluster_idx, Idx, module_idx } = at
  const cluster = unit.snapshot().clusters[cluster_idx]!
  const cells = cellsOf(unit.model, unit.state.battery, cluster_idx)
  const one = moduleCells(unit, cells, module_idx)
  const soc_pct = moduleSoc(unit, at)
  const values: Partial<Content<(typeof models)[805]>['values']> = {
    StrIdx: Idx,
    ModIdx: module_idx + 1,
    SoC: soc_pct,
    DoD: 100 - soc_pct,
    SoH: cluster.soh_pct,
    NCyc: Math.floor(cluster.cycle_count),
    V: one.voltage_v.reduce((sum, value) => sum + value, 0),
    ...extremePoints('CellV', 'Cell', one.voltage),
    ...extremePoints('CellTmp', 'Cell', one.temperature),
    NCellBal: one.is_balancing.filter(Boolean).length,
    SN: `SIM-MOD-${unit.battery.bess_id}-${cluster_idx}-${module_idx}`,
    SoC_SF: percent_scale,
    SoH_SF: percent_scale,
    DoD_SF: percent_scale,
    V_SF: -2,
    CellV_SF: cell_volt_scale,
    Tmp_SF: temperature_scale,
  }
  return encode(models[805], {
    values,
    groups: one.voltage_v.map((CellV, cell) => ({
      CellV,
      CellTmp: one.temperature_c[cell]!,
      CellSt: one.is_balancing[cell] ? is_balancing : 0,
    })),
  })
}
