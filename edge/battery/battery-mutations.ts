/** Mistakes about batteries, each of which a check has to find: see `mutate.ts` of control. */
import type { Mutation } from '../control/simulation/mutation.ts'

const ceilings = 'edge/control/plant-ceilings.ts'
const controller = 'edge/control/controller.ts'
const power = 'edge/battery/pcs-power.ts'
const pcs = 'edge/battery/controlled-pcs.ts'
const room = 'edge/battery/battery-room.ts'
const targets = 'edge/battery/pcs-targets.ts'
const dispatcher = 'edge/battery/dispatcher.ts'
const decide = 'edge/battery/decide-dispatch.ts'

const all: readonly Omit<Mutation, 'edge'>[] = [
  {
    name: 'forgets batteries in the ceiling of their plant',
    file: ceilings,
    from: 'joint.ceiling_w - battery_w)',
    to: 'joint.ceiling_w)',
  },
  {
    name: 'forgets batteries at the common connection',
    file: controller,
    from: 'joint_w - (batteries?.share_w(null) ?? 0)',
    to: 'joint_w',
  },
  {
    name: 'raises a battery before its plant has come down',
    file: targets,
    from: 'return Math.max(0, Math.min(of_plant_w, this.#left_w.get(null) ?? 0))',
    to: 'return Number.POSITIVE_INFINITY',
  },
  {
    name: 'raises two batteries by the same room',
    file: targets,
    from: 'if (power_w === 0) return',
    to: 'return',
  },
  {
    name: 'forgets the silent PCS',
    file: power,
    from: 'if (!this.obeys(now_ms)) return Math.max(this.ceiling_w, measured_w)',
    to: '',
  },
  {
    name: 'takes a PCS under local control for one that obeys',
    file: power,
    from: 'this.isFresh(now_ms) && this.#state!.is_remote',
    to: 'this.isFresh(now_ms)',
  },
  {
    name: 'does not count a setpoint that is under way',
    file: power,
    from: 'this.#beforeAt(now_ms), ...begun_w)\n  }\n\n  /** The most that it may have been told',
    to: 'this.#beforeAt(now_ms))\n  }\n\n  /** The most that it may have been told',
  },
  {
    name: 'does not count a PCS that cannot be commanded beside the others',
    file: dispatcher,
    from: 'sum(plants, (plant) => plant.power_w) + this.fixed_w(null)',
    to: 'sum(plants, (plant) => plant.power_w)',
  },
  {
    name: 'goes on with a PCS that refuses to be lowered',
    file: pcs,
    from: ' && this.failure === null',
    to: '',
  },
  {
    name: 'keeps for a battery what its plant delivers',
    file: room,
    from: '(1 - headroom_ratio) * ceiling_w - power_w - kept_w',
    to: 'ceiling_w - kept_w',
  },
  {
    name: 'never gives a plant its room back',
    file: room,
    from: 'if (total(kept_w) === 0 || free_w - total(kept_w) >= margin_w) return []',
    to: 'if (free_w - total(kept_w) >= -ceiling_w) return []',
  },
  {
    name: 'discharges without a permit of the connection',
    file: dispatcher,
    from: 'this.#hasPermit(unit, joint) ? infinite : 0',
    to: 'infinite',
  },
  {
    name: 'discharges on stale data',
    file: decide,
    from: "if (!battery) return stopped({ code: 'battery_stale', clamp_reason: null, alarm_code: null })",
    to: 'if (!battery) return decideDispatch({ ...unit, battery: { soc_pct: 50, max_charge_w: null, max_discharge_w: null, cell_temperature_min_c: null, cell_temperature_max_c: null } })',
  },
  {
    name: 'discharges below its window',
    file: decide,
    from: 'battery.soc_pct <= facts.soc_min_pct',
    to: 'battery.soc_pct < 0',
  },
  {
    name: 'ramps down as well as up',
    file: decide,
    from: 'if (aim_w * told_w < 0) return 0',
    to: '',
  },
  {
    name: 'goes on with the PCS beside a silent one',
    file: 'edge/battery/controlled-unit.ts',
    from: "this.pcs.some(({ power }) => !power.isFresh(now_ms)) && doubt('pcs_stale'),",
    to: '',
  },
  {
    name: 'tells a figure of the permit',
    file: 'edge/battery/dispatch-log.ts',
    from: 'const to_power_kw = is_hidden ? null : kw(decision.aim_w)',
    to: 'const to_power_kw = kw(decision.aim_w)',
  },
]

export const batteryMutations: readonly Mutation[] = all.map((one) => ({
  ...one,
  edge: 'batteries' as const,
}))
