/** Faults of batteries on request, as those of the rest of the plant in `faults.ts`. */
import type { Battery } from '@heliograph/domain/battery'

const unit_faults = [
  'bms_silent',
  'battery_heartbeat_frozen',
  'local_control',
  'contactor_open',
] as const
const pcs_faults = ['pcs_silent', 'pcs_fault'] as const

export type BatteryFault =
  | { kind: (typeof unit_faults)[number]; bess_id: number }
  | { kind: (typeof pcs_faults)[number]; bess_id: number; pcs_idx: number }
  /** Its state of charge is shown so much too high, percent points. */
  | { kind: 'soc_jump'; bess_id: number; by_pct: number }
  | { kind: 'cell_weak'; bess_id: number; cell: string }
  /** What the sensor of the cell shows. */
  | { kind: 'cell_over_temperature'; bess_id: number; cell: string; temperature_c: number }

export const batteryFaultForms = [
  ...unit_faults.map((kind) => `${kind}:<bess_id>`),
  ...pcs_faults.map((kind) => `${kind}:<bess_id>/<pcs_idx>`),
  'soc_jump:<bess_id>=<by_pct>',
  'cell_weak:<bess_id>/<cluster>-<module>-<cell>',
  'cell_over_temperature:<bess_id>/<cluster>-<module>-<cell>=<temperature_c>',
]

export const isBatteryFault = <Of extends { kind: string }>(
  fault: Of,
): fault is Extract<Of, BatteryFault> =>
  [...unit_faults, ...pcs_faults, 'soc_jump', 'cell_weak', 'cell_over_temperature'].some(
    (kind) => kind === fault.kind,
  )

interface Written {
  kind: string
  bess_id: number | null
  /** Behind the slash. */
  part: string | undefined
  /** Behind the equals sign. */
  value: number | null
  has_value: boolean
}

/** Null where it is none of a battery. */
export function batteryFaultOf(written: Written): BatteryFault | null {
  const { kind, bess_id, part, value, has_value } = written
  if (bess_id === null) return null
  const unit_kind = unit_faults.find((one) => one === kind)
  if (unit_kind) {
    return part === undefined && !has_value ? { kind: unit_kind, bess_id } : null
  }
  const pcs_kind = pcs_faults.find((one) => one === kind)
  if (pcs_kind) {
    const is_idx = part !== undefined && /^\d{1,2}$/.test(part)
    return is_idx && !has_value ? { kind: pcs_kind, bess_id, pcs_idx: Number(part) } : null
  }
  if (kind === 'soc_jump') {
    return part === undefined && value !== null ? { kind, bess_id, by_pct: value } : null
  }
  if (part === undefined || !/^\d{1,3}-\d{1,3}-\d{1,3}$/.test(part)) return null
  if (kind === 'cell_weak') return has_value ? null : { kind, bess_id, cell: part }
  if (kind === 'cell_over_temperature' && value !== null) {
    return { kind, bess_id, cell: part, temperature_c: value }
  }
  return null
}

interface CellPlace {
  cluster_idx: number
  /** Within the cluster. */
  index: number
}

/** Null for a cell that the battery does not have. */
export function cellPlace(battery: Battery, cell: string): CellPlace | null {
  const [cluster_idx = 0, module_idx = 0, nth = 0] = cell.split('-').map(Number)
  const { cluster_count, modules_per_cluster, cells_per_module } = battery
  const is_there =
    cluster_idx < cluster_count && module_idx < modules_per_cluster && nth < cells_per_module
  return is_there ? { cluster_idx, index: module_idx * cells_per_module + nth } : null
}

/** What the fault is of, in words. */
export function batteryFaultPlace(fault: BatteryFault): string {
  if ('pcs_idx' in fault) return `PCS ${fault.bess_id}/${fault.pcs_idx}`
  if ('cell' in fault) return `cell ${fault.bess_id}/${fault.cell}`
  return `battery ${fault.bess_id}`
}

export function isFaultOf(batteries: readonly Battery[], fault: BatteryFault): boolean {
  const battery = batteries.find(({ bess_id }) => bess_id === fault.bess_id)
  if (!battery) return false
  if ('pcs_idx' in fault) return battery.pcs.some(({ pcs_idx }) => pcs_idx === fault.pcs_idx)
  return 'cell' in fault ? cellPlace(battery, fault.cell) !== null : true
}
