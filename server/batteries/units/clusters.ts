/** The clusters of a unit: summaries, and one cluster with its cells. */
import { clusterStates, connectionFailures } from '@heliograph/domain/battery'
import type { ClusterReading, Quality } from '@heliograph/domain/readings'
import { significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import {
  AtOrNull,
  Closed,
  Count,
  CountOrNull,
  FlagOrNull,
  FromZeroOrNull,
  NumOrNull,
  OneOf,
  OneOfOrNull,
} from '../../http/fields.ts'
import { id_max, Nullable } from '../../http/params.ts'
import { ageInSeconds, frame, frameOf, iso, isStale, type Measurement } from '../../plant/frame.ts'
import { quantity } from '../../plant/quantities.ts'
import type { Situation } from '../../plant/situation.ts'
import { served } from '../../storage/records.ts'
import { flag, less } from '../current.ts'
import { outlierCells, outlierRule } from './cells.ts'

const Metrics = (description: string) => Type.Array(Nullable(Type.Number()), { description })

export const ClusterIdx = Count('A cluster of the unit, counted from 0.', { maximum: id_max })

const Contactors = Closed('ClusterContactors', {
  positive: FlagOrNull('Whether the contactor of the positive pole is closed.'),
  negative: FlagOrNull('Whether the contactor of the negative pole is closed.'),
  precharge: FlagOrNull('Whether the pre-charge contactor is closed.'),
})

const summary = {
  cluster_idx: ClusterIdx,
  ...frame,
  state: OneOfOrNull(clusterStates, 'State reported by the BMS.'),
  soc_pct: quantity('soc_pct'),
  soh_pct: quantity('soh_pct'),
  voltage_v: NumOrNull('DC voltage of the cluster, V.'),
  current_a: NumOrNull('DC current, A; positive is discharging.'),
  power_kw: NumOrNull('Voltage times current, kW; positive is discharging.'),
  module_count: Count('Modules of the cluster, from the inventory.'),
  cell_count: Count('Cells of the cluster, from the inventory.'),
  cell_voltage_min_mv: quantity('cell_voltage_min_mv'),
  cell_voltage_max_mv: quantity('cell_voltage_max_mv'),
  cell_voltage_avg_mv: quantity('cell_voltage_avg_mv'),
  cell_voltage_spread_mv: NumOrNull('Highest minus lowest cell voltage, mV.'),
  cell_voltage_min_module_idx: CountOrNull('Module of the cell with the lowest voltage, from 0.'),
  cell_voltage_max_module_idx: CountOrNull('Module of the cell with the highest voltage, from 0.'),
  cell_temperature_min_c: quantity('cell_temperature_min_c'),
  cell_temperature_max_c: quantity('cell_temperature_max_c'),
  cell_temperature_avg_c: quantity('cell_temperature_avg_c'),
  cell_temperature_min_module_idx: CountOrNull('Module of the coldest cell, from 0.'),
  cell_temperature_max_module_idx: CountOrNull('Module of the warmest cell, from 0.'),
  insulation_positive_kohm: quantity('insulation_positive_kohm'),
  insulation_negative_kohm: quantity('insulation_negative_kohm'),
  max_charge_current_a: quantity('max_charge_current_a'),
  max_discharge_current_a: quantity('max_discharge_current_a'),
  cycle_count: quantity('cycle_count'),
  balancing_cell_count: CountOrNull('Number of cells being balanced.'),
  contactors: Nullable(Contactors),
  connection_failure_reason: OneOfOrNull(
    connectionFailures,
    'Why the cluster could not be connected.',
  ),
  alarm_count: Count('Bits set in the alarm words.'),
}

export type Cluster = Static<typeof Cluster>
export const Cluster = Closed('Cluster', summary)

const Module = Closed('ClusterModule', {
  module_idx: Count('Within the cluster, from 0.'),
  voltage_v: NumOrNull('As reported by the module, else the sum of its cells, V.'),
  soc_pct: quantity('soc_pct'),
  soh_pct: quantity('soh_pct'),
  temperature_c: NumOrNull('Mean of the sensors of the module, °C.'),
})

export type ClusterCells = Static<typeof ClusterCells>
export const ClusterCells = Closed('ClusterCells', {
  ...summary,
  cells_measured_at: AtOrNull('When the cells were measured; less often than the cluster.'),
  cells_age_s: FromZeroOrNull('Seconds since `cells_measured_at`.'),
  cells_quality: OneOf(
    ['good', 'suspect', 'estimated', 'stale', 'missing'],
    '`quality` of the cells.',
  ),
  cells_per_module: Count('Cells of each module.'),
  temperature_sensors_per_module: Count('Temperature sensors of each module.'),
  cell_voltage_min_index: CountOrNull('Index of the lowest value in `cell_voltages_mv`.'),
  cell_voltage_max_index: CountOrNull('Index of the highest value in `cell_voltages_mv`.'),
  cell_temperature_min_index: CountOrNull('Index of the lowest value in `cell_temperatures_c`.'),
  cell_temperature_max_index: CountOrNull('Index of the highest value in `cell_temperatures_c`.'),
  modules: Type.Array(Module, { description: 'Modules by index.' }),
  cell_voltages_mv: Metrics(
    'Voltage of each cell, mV; the index is module times `cells_per_module` plus cell. Null ' +
      'where not measured.',
  ),
  cell_temperatures_c: Metrics(
    'Temperature at each sensor, °C; the index is module times `temperature_sensors_per_module` ' +
      'plus sensor.',
  ),
  cell_balancing: Type.Array(Nullable(Type.Boolean()), {
    description: 'Whether each cell is being balanced, in the order of the voltages.',
  }),
  outlier_cell_indexes: Type.Array(Type.Integer({ minimum: 0 }), { description: outlierRule }),
})

type Values = Omit<
  ClusterReading,
  'bess_id' | 'cluster_idx' | 'measured_at' | 'quality' | 'state' | 'connection_failure'
>

/** A cluster of the inventory with its newest reading. */
export interface ClusterRow extends Values, Measurement {
  cluster_idx: number
  modules_per_cluster: number
  cells_per_module: number
  state: Cluster['state']
  connection_failure: Cluster['connection_failure_reason']
}

type Numbers = readonly (number | null)[] | null

/** A cluster with its cells. */
export interface CellsRow extends ClusterRow {
  temperature_sensors_per_module: number | null
  cells_measured_at: Date | null
  cells_quality: Quality | null
  cell_voltage_mv: Numbers
  cell_temperature_c: Numbers
  cell_balancing: Numbers
  module_voltage_v: Numbers
  module_soc_pct: Numbers
  module_soh_pct: Numbers
}

type Polled = Pick<Situation, 'now' | 'poll'>

const fields = Object.keys(Cluster.properties)

export function clusterRecord(row: ClusterRow, { now, poll }: Polled): Cluster {
  const { voltage_v, current_a } = row
  return served(fields, {
    ...row,
    ...frameOf(row, poll.cluster_s, now),
    power_kw:
      voltage_v === null || current_a === null ? null : significant((voltage_v * current_a) / 1000),
    module_count: row.modules_per_cluster,
    cell_count: row.modules_per_cluster * row.cells_per_module,
    cell_voltage_spread_mv: less(row.cell_voltage_max_mv, row.cell_voltage_min_mv),
    contactors: contactorsOf(row),
    connection_failure_reason: row.connection_failure,
    alarm_count: bitsSet(row.alarm_1) + bitsSet(row.alarm_2),
  }) as Cluster
}

function contactorsOf(row: ClusterRow): Cluster['contactors'] {
  const positive = flag(row.positive_contactor_closed)
  const negative = flag(row.negative_contactor_closed)
  const precharge = flag(row.precharge_contactor_closed)
  const is_known = positive !== null || negative !== null || precharge !== null
  return is_known ? { positive, negative, precharge } : null
}

/** SunSpec's value of a bit field that is not implemented. */
const no_word = 2 ** 32 - 1

function bitsSet(word: number | null): number {
  if (word === null || word === no_word) return 0
  let count = 0
  for (let rest = word; rest > 0; rest = Math.floor(rest / 2)) count += rest % 2
  return count
}

export function clusterCells(row: CellsRow, { now, poll }: Polled): ClusterCells {
  const sensors = row.temperature_sensors_per_module ?? row.cells_per_module
  const cells = row.modules_per_cluster * row.cells_per_module
  const voltages_mv = whole(row.cell_voltage_mv, cells)
  const temperatures_c = whole(row.cell_temperature_c, row.modules_per_cluster * sensors)
  return {
    ...clusterRecord(row, { now, poll }),
    cells_measured_at: iso(row.cells_measured_at),
    cells_age_s: row.cells_measured_at && ageInSeconds(row.cells_measured_at, now),
    cells_quality: cellsQuality(row, { now, poll }),
    cells_per_module: row.cells_per_module,
    temperature_sensors_per_module: sensors,
    ...extremes('cell_voltage', voltages_mv),
    ...extremes('cell_temperature', temperatures_c),
    modules: modulesOf(row, { sensors, voltages_mv, temperatures_c }),
    cell_voltages_mv: voltages_mv,
    cell_temperatures_c: temperatures_c,
    cell_balancing: whole(row.cell_balancing, cells).map(flag),
    outlier_cell_indexes: outlierCells(voltages_mv),
  }
}

function cellsQuality(row: CellsRow, { now, poll }: Polled): ClusterCells['cells_quality'] {
  if (row.cells_measured_at === null) return 'missing'
  if (isStale(row.cells_measured_at, poll.cells_s, now)) return 'stale'
  return row.cells_quality ?? 'suspect'
}

/** One element for each cell or sensor of the inventory, and any that are reported beyond it. */
const whole = (values: Numbers, count: number): (number | null)[] =>
  Array.from({ length: Math.max(count, values?.length ?? 0) }, (_, nth) => values?.[nth] ?? null)

type ExtremesOf<Name extends string> = Record<
  `${Name}_min_index` | `${Name}_max_index`,
  number | null
>

function extremes<Name extends string>(
  name: Name,
  values: readonly (number | null)[],
): ExtremesOf<Name> {
  let [lowest, highest]: [number | null, number | null] = [null, null]
  for (const [index, value] of values.entries()) {
    if (value === null) continue
    if (lowest === null || value < values[lowest]!) lowest = index
    if (highest === null || value > values[highest]!) highest = index
  }
  return { [`${name}_min_index`]: lowest, [`${name}_max_index`]: highest } as ExtremesOf<Name>
}

function modulesOf(
  row: CellsRow,
  measured: {
    sensors: number
    voltages_mv: readonly (number | null)[]
    temperatures_c: readonly (number | null)[]
  },
): ClusterCells['modules'] {
  return Array.from({ length: row.modules_per_cluster }, (_, module_idx) => {
    const part = (values: readonly (number | null)[], each: number) =>
      values.slice(module_idx * each, (module_idx + 1) * each)
    const cells_mv = part(measured.voltages_mv, row.cells_per_module)
    const sensors_c = part(measured.temperatures_c, measured.sensors).filter(
      (value) => value !== null,
    )
    return {
      module_idx,
      voltage_v: row.module_voltage_v?.[module_idx] ?? sumOfCells(cells_mv),
      soc_pct: row.module_soc_pct?.[module_idx] ?? null,
      soh_pct: row.module_soh_pct?.[module_idx] ?? null,
      temperature_c:
        sensors_c.length === 0 ? null : significant(total(sensors_c) / sensors_c.length),
    }
  })
}

const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

/** V; null where a cell was not measured. */
function sumOfCells(cells_mv: readonly (number | null)[]): number | null {
  const known = cells_mv.filter((value) => value !== null)
  return known.length < cells_mv.length ? null : significant(total(known) / 1000)
}
