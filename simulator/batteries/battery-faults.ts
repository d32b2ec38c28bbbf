/** Faults of batteries on request; see also `faults.ts`. */
import type { Battery } from '@heliograph/domain/battery'

export type BatteryFault =
  | {
      kind: 'bms_silent' | 'battery_heartbeat_frozen' | 'local_control' | 'contactor_open'
      bess_id: number
    }
  | { kind: 'pcs_silent' | 'pcs_fault'; bess_id: number; pcs_idx: number }
  /** The state of charge reads this many percent points too high. */
  | { kind: 'soc_jump'; bess_id: number; by_pct: number }
  | { kind: 'cell_weak'; bess_id: number; cell: string }
  | { kind: 'cell_over_temperature'; bess_id: number; cell: string; temperature_c: number }

export const isBatteryFault = <Of extends object>(
  fault: Of,
): fault is Extract<Of, { bess_id: number }> => 'bess_id' in fault

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
