/** The simulator's electrical battery as the battery of a mixed site. */
import type { Battery } from '@heliograph/domain/battery'
import type { BatteryPhysics } from '../edge/battery/fixtures/mixed-site.ts'
import { advanceBattery } from '../simulator/batteries/battery-model.ts'
import { batterySnapshot } from '../simulator/batteries/battery-snapshot.ts'
import {
  type BatteryState,
  batteryModel,
  initialBattery,
} from '../simulator/batteries/battery-state.ts'

interface ElectricalBattery {
  state: BatteryState
  physics: BatteryPhysics
}

export function electricalBattery(
  battery: Battery,
  { seed, isOpen = () => false }: { seed: number; isOpen?: () => boolean },
): ElectricalBattery {
  const model = batteryModel(battery, seed)
  const state = initialBattery(model, { soc_pct: 50, temperature_c: 22 })
  const physics: BatteryPhysics = {
    soc_pct: 50,
    max_charge_w: 0,
    max_discharge_w: 0,
    is_alarmed: false,
    advance(setpoints_w) {
      advanceBattery(model, state, {
        seconds: 1,
        setpoint_kw: setpoints_w.map((w) => w / 1000),
        ambient_c: 22,
        ailments: { contactors_open: isOpen() },
      })
      const { soc_pct, dc_limits, contactor, pcs } = batterySnapshot(model, state)
      physics.soc_pct = soc_pct
      physics.max_charge_w = 1000 * dc_limits.charge_kw
      physics.max_discharge_w = 1000 * dc_limits.discharge_kw
      physics.is_alarmed = contactor !== 'closed'
      return pcs.map(({ ac_power_kw }) => 1000 * ac_power_kw)
    },
  }
  return { state, physics }
}
