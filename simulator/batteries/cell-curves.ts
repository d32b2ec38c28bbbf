/** The simulated cells: curves of their chemistry, and the bounds of the BMS. */
import type { Battery } from '@heliograph/domain/battery'
import { type CellCurves, cellCurves } from '@heliograph/physics/cell-curves'

export interface ManagedCell extends CellCurves {
  /** Voltages at which the battery management stops charging and discharging. */
  operating_v: { min: number; max: number }
  /** Absolute limits of a cell. */
  hard_v: { min: number; max: number }
  /** Share of the charge that can be discharged again. */
  coulombic_efficiency: number
  /**
   * Passive balancing starts above this voltage: the curve below is too flat to tell cells apart.
   */
  balances_above_v: number
}

/**
 * A. J. Smith, J. C. Burns, J. R. Dahn, Electrochemical and Solid-State Letters 13(12), 2010: good
 * cells reach 99.9 % and more.
 */
const coulombic_efficiency = 0.999

const lfp: ManagedCell = {
  ...cellCurves.lfp,
  coulombic_efficiency,
  operating_v: { min: 2.2, max: 3.55 },
  hard_v: { min: 2, max: 3.65 },
  balances_above_v: 3.36,
}

const nmc: ManagedCell = {
  ...cellCurves.nmc,
  coulombic_efficiency,
  operating_v: { min: 2.9, max: 4.15 },
  hard_v: { min: 2.7, max: 4.25 },
  balances_above_v: 3.8,
}

/** @throws {Error} for a chemistry without curves */
export function curvesOf({
  bess_id,
  chemistry,
}: Pick<Battery, 'bess_id' | 'chemistry'>): ManagedCell {
  if (chemistry === 'lfp') return lfp
  if (chemistry === 'nmc') return nmc
  throw new Error(`battery ${bess_id}: the simulator has cells of lfp and nmc, not ${chemistry}`)
}
