import { setBits } from '@heliograph/domain/alarms/decode'
import { clusterStates, connectionFailures } from '@heliograph/domain/battery'
import type { ClusterReading, Quality } from '@heliograph/domain/readings'
import { significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import * as field from '../../http/fields.ts'
import { id_max, Named, Nullable } from '../../http/params.ts'
import { sumAll, sumKnown } from '../../plant/energy-today.ts'
import { ageInSeconds, frame, frameOf, iso, isStale, type Measurement } from '../../plant/frame.ts'
import { quantity } from '../../plant/quantities.ts'
import type { Polled } from '../../plant/situation.ts'
import { served } from '../../storage/records.ts'
import { flag, less } from '../current.ts'
import { outlierCells, outlierRule } from './cells.ts'

const Metrics = (description: string, example: number) =>
  Type.Array(Nullable(Type.Number({ examples: [example] })), { description })

export const ClusterIdx = field.Count('A cluster of the unit, counted from 0.', { maximum: id_max })

const Contactors = Named('ClusterContactors', {
  positive: field.FlagOrNull('Whether the contactor of the positive pole is closed.'),
  negative: field.FlagOrNull('Whether the contactor of the negative pole is closed.'),
  precharge: field.FlagOrNull('Whether the pre-charge contactor is closed.'),
})

const summary = {
  cluster_idx: ClusterIdx,
  ...frame,
  state: field.OneOfOrNull(clusterStates, 'State reported by the BMS.', 'discharging'),
  soc_pct: quantity('soc_pct'),
  soh_pct: quantity('soh_pct'),
  voltage_v: field.NumOrNull('DC voltage of the cluster, V.', 720),
  current_a: field.NumOrNull('DC current, A; positive is discharging.', 70.8),
  power_kw: field.NumOrNull('Voltage times current, kW; positive is discharging.', 50.976),
  module_count: field.Count('Modules of the cluster, from the inventory.', 3),
  cell_count: field.Count('Cells of the cluster, from the inventory.', 12),
  cell_voltage_min_mv: quantity('cell_voltage_min_mv'),
  cell_voltage_max_mv: quantity('cell_voltage_max_mv'),
  cell_voltage_avg_mv: quantity('cell_voltage_avg_mv'),
  cell_voltage_spread_mv: field.NumOrNull('Highest minus lowest cell voltage, mV.', 24),
  cell_voltage_min_module_idx: field.CountOrNull(
    'Module of the cell with the lowest voltage, from 0.',
    2,
  ),
  cell_voltage_max_module_idx: field.CountOrNull(
    'Module of the cell with the highest voltage, from 0.',
    1,
  ),
  cell_temperature_min_c: quantity('cell_temperature_min_c'),
  cell_temperature_max_c: quantity('cell_temperature_max_c'),
  cell_temperature_avg_c: quantity('cell_temperature_avg_c'),
  cell_temperature_min_module_idx: field.CountOrNull('Module of the coldest cell, from 0.'),
  cell_temperature_max_module_idx: field.CountOrNull('Module of the warmest cell, from 0.'),
  insulation_positive_kohm: quantity('insulation_positive_kohm'),
  insulation_negative_kohm: quantity('insulation_negative_kohm'),
  max_charge_current_a: quantity('max_charge_current_a'),
  max_discharge_current_a: quantity('max_discharge_current_a'),
  cycle_count: quantity('cycle_count'),
  balancing_cell_count: field.CountOrNull('Number of cells being balanced.'),
  contactors: Nullable(Contactors),
  connection_failure_reason: field.OneOfOrNull(
    connectionFailures,
    'Why the cluster could not be connected.',
  ),
  alarm_count: field.Count('Bits set in the alarm words.'),
}

export type Cluster = Static<typeof Cluster>
export const Cluster = Named('Cluster', summary)

const Module = Named('ClusterModule', {
  module_idx: field.Count('Within the cluster, from 0.'),
  voltage_v: field.NumOrNull('As reported by the module, else the sum of its cells, V.', 13.195),
  soc_pct: quantity('soc_pct'),
  soh_pct: quantity('soh_pct'),
  temperature_c: field.NumOrNull('Mean of the sensors of the module, °C.'),
})

export type ClusterCells = Static<typeof ClusterCells>
export const ClusterCells = Named('ClusterCells', {
  ...summary,
  cells_measured_at: field.AtOrNull('When the cells were measured; less often than the cluster.'),
  cells_age_s: field.FromZeroOrNull('Seconds since `cells_measured_at`.', 37.4),
  cells_quality: field.OneOf(
    ['good', 'suspect', 'estimated', 'stale', 'missing'],
    '`quality` of the cells.',
  ),
  cells_per_module: field.Count('Cells of each module.', 4),
  temperature_sensors_per_module: field.Count('Temperature sensors of each module.', 2),
  cell_voltage_min_index: field.CountOrNull('Index of the lowest value in `cell_voltages_mv`.', 10),
  cell_voltage_max_index: field.CountOrNull('Index of the highest value in `cell_voltages_mv`.', 4),
  cell_temperature_min_index: field.CountOrNull(
    'Index of the lowest value in `cell_temperatures_c`.',
    0,
  ),
  cell_temperature_max_index: field.CountOrNull(
    'Index of the highest value in `cell_temperatures_c`.',
    5,
  ),
  modules: Type.Array(Module, { description: 'Modules by index.' }),
  cell_voltages_mv: Metrics(
    'Voltage of each cell, mV; the index is module times `cells_per_module` plus cell. Null ' +
      'where not measured.',
    3298,
  ),
  cell_temperatures_c: Metrics(
    'Temperature at each sensor, °C; the index is module times `temperature_sensors_per_module` ' +
      'plus sensor.',
    25,
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

export interface ClusterRow extends Values, Measurement {
  cluster_idx: number
  modules_per_cluster: number
  cells_per_module: number
  state: Cluster['state']
  connection_failure: Cluster['connection_failure_reason']
}

type Numbers = readonly (number | null)[] | null

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

export function clusterRecord(row: ClusterRow, { now, poll }: Polled): Cluster {
  const { voltage_v, current_a } = row
  return served(Cluster, {
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
  })
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

const bitsSet = (word: number | null) =>
  word === null || word === no_word ? 0 : setBits(word).length

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
    cell_voltage_min_index: extremeIndex(voltages_mv, 1),
    cell_voltage_max_index: extremeIndex(voltages_mv, -1),
    cell_temperature_min_index: extremeIndex(temperatures_c, 1),
    cell_temperature_max_index: extremeIndex(temperatures_c, -1),
    modules: modulesOf(row, sensors, voltages_mv, temperatures_c),
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

/** Index of the lowest known value, or of the highest for a `sign` of -1; null without any. */
function extremeIndex(values: readonly (number | null)[], sign: 1 | -1): number | null {
  let found: number | null = null
  for (const [index, value] of values.entries()) {
    if (value === null) continue
    if (found === null || sign * value < sign * values[found]!) found = index
  }
  return found
}

function modulesOf(
  row: CellsRow,
  sensors: number,
  voltages_mv: readonly (number | null)[],
  temperatures_c: readonly (number | null)[],
): ClusterCells['modules'] {
  return Array.from({ length: row.modules_per_cluster }, (_, module_idx) => {
    const part = (values: readonly (number | null)[], each: number) =>
      values.slice(module_idx * each, (module_idx + 1) * each)
    const sum_mv = sumAll(part(voltages_mv, row.cells_per_module))
    const known_c = part(temperatures_c, sensors).filter((value) => value !== null)
    const sum_c = sumKnown(known_c)
    return {
      module_idx,
      voltage_v:
        row.module_voltage_v?.[module_idx] ?? (sum_mv === null ? null : significant(sum_mv / 1000)),
      soc_pct: row.module_soc_pct?.[module_idx] ?? null,
      soh_pct: row.module_soh_pct?.[module_idx] ?? null,
      temperature_c: sum_c === null ? null : significant(sum_c / known_c.length),
    }
  })
}
