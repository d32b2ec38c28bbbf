/** Data sheet of a simulated battery, computed from its model, for plans. */
import type { Battery } from '@heliograph/domain/battery'
import { type Bank, bankOf, currentAt } from './bank.ts'
import { batterySnapshot } from './battery-snapshot.ts'
import { type BatteryModel, batteryModel, initialBattery } from './battery-state.ts'
import { curvesOf } from './cell-curves.ts'
import { dcPowerAt } from './converter.ts'
import { idleSupply } from './thermal.ts'

interface BatteryFacts {
  /** On the AC side at a cell temperature of 25 °C, without its own supply. */
  curve: readonly LimitPoint[]
  /** Efficiency from the grid to the cells, and from the cells to the grid; 0 to 1. */
  charge_efficiency: number
  discharge_efficiency: number
  roundtrip_efficiency_pct: number
  /** Losses of all PCS together at no power while running, and at rest. */
  idle_loss_kw: number
  /** Own supply without heating or cooling. */
  auxiliary_power_kw: number
}

interface LimitPoint {
  soc_pct: number
  max_charge_power_kw: number
  max_discharge_power_kw: number
}

const curve_soc_pct = [
  0, 1, 2, 4, 6, 8, 10, 20, 30, 40, 50, 60, 70, 80, 90, 92, 94, 96, 98, 99, 100,
]

/** @throws {Error} for a chemistry without curves */
export function batteryFacts(battery: Battery, seed = 1): BatteryFacts {
  const model = batteryModel(battery, seed)
  const at = (soc_pct: number) => initialBattery(model, { soc_pct, temperature_c: 25 })
  const curve = curve_soc_pct.map((soc_pct) => {
    const { max_charge_power_kw, max_discharge_power_kw } = batterySnapshot(model, at(soc_pct))
    return { soc_pct, max_charge_power_kw, max_discharge_power_kw }
  })
  const half = bankOf(model, at(50))
  const charge_efficiency = chargeEfficiency(model, half)
  const discharge_efficiency = dischargeEfficiency(model, half)
  return {
    curve,
    charge_efficiency,
    discharge_efficiency,
    roundtrip_efficiency_pct: 100 * charge_efficiency * discharge_efficiency,
    idle_loss_kw: battery.pcs.reduce(
      (sum, { rated_power_kw }) => sum + dcPowerAt(0, rated_power_kw),
      0,
    ),
    auxiliary_power_kw: idleSupply(battery),
  }
}

function chargeEfficiency({ battery, rated_dc_kw }: BatteryModel, bank: Bank): number {
  const current_a = currentAt(bank, -rated_dc_kw.charge)
  const stored_kw = (-current_a * bank.open_circuit_v) / 1000
  const { coulombic_efficiency } = curvesOf(battery)
  return (stored_kw * coulombic_efficiency) / ratedPower(battery, battery.rated_charge_power_kw)
}

function dischargeEfficiency({ battery, rated_dc_kw }: BatteryModel, bank: Bank): number {
  const current_a = currentAt(bank, rated_dc_kw.discharge)
  const taken_kw = (current_a * bank.open_circuit_v) / 1000
  return ratedPower(battery, battery.rated_discharge_power_kw) / taken_kw
}

const ratedPower = ({ pcs }: Battery, unit_kw: number): number =>
  Math.min(
    unit_kw,
    pcs.reduce((sum, { rated_power_kw }) => sum + rated_power_kw, 0),
  )
