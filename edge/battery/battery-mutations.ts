/** Mistakes about batteries, each of which a check has to find: see `mutate.ts` of control. */
import type { Mutation } from '../control/simulation/mutation.ts'

const ceilings = 'edge/control/plant-ceilings.ts'
const controller = 'edge/control/controller.ts'
const power = 'edge/battery/pcs-power.ts'
const pcs = 'edge/battery/controlled-pcs.ts'
const room = 'edge/battery/battery-room.ts'
const targets = 'edge/battery/pcs-targets.ts'
const rooms = 'edge/battery/unit-rooms.ts'
const standing = 'edge/battery/standing-room.ts'
const arming = 'edge/control/arming.ts'
const dispatcher = 'edge/battery/dispatcher.ts'
const decide = 'edge/battery/decide-dispatch.ts'
const counted = 'edge/battery/counted-batteries.ts'
const places = 'edge/battery/removed-pcs.ts'
const notes = 'edge/battery/pcs-notes.ts'
const proof = 'edge/control/proof-worst.ts'

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
    name: 'takes what a PCS delivers beyond what it is told for room to tell it more',
    file: dispatcher,
    from: '? held_w + left.of(logger_id)',
    to: '? worst_w + left.of(logger_id)',
  },
  {
    name: 'takes what a PCS delivers beyond what it is told for explained',
    file: counted,
    from: 'sum(this.within(logger_id), (unit) => unit.held_w(now_ms))',
    to: 'this.worstHere_w(logger_id)',
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
    from: 'if (!this.obeys(now_ms)) return this.unwatched_w',
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
    from: 'Math.max(0, told_w, reverts_w, ...begun_w)',
    to: 'Math.max(0, told_w, reverts_w, 0 * begun_w.length)',
  },
  {
    name: 'does not count a PCS that cannot be commanded beside the others',
    file: rooms,
    from: 'sum(plants, (plant) => plant.power_w) + this.#counted.fixedHere_w(null)',
    to: 'sum(plants, (plant) => plant.power_w)',
  },
  {
    name: 'goes on with a PCS that refuses to be lowered',
    file: pcs,
    from: ' && !is_failing',
    to: '',
  },
  {
    name: 'keeps for a battery what its plant delivers',
    file: room,
    from: 'ceiling_w - partOf(sum, headroom_ratio) - power_w - kept_w',
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
    file: rooms,
    from: 'hasPermit(unit, joint) ? standing_w : 0',
    to: 'standing_w',
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
    name: 'takes an outage back',
    file: 'edge/battery/dispatch-log.ts',
    from: "if ((report.status === 'failed') !== (failure !== null)) return true",
    to: '',
  },
  {
    name: 'raises a battery beside one that was not heard since the start',
    file: dispatcher,
    from: 'this.isKnown(null) ? worst_w : null',
    to: 'worst_w',
  },
  {
    name: 'forgets a PCS that left site.yaml',
    file: counted,
    from: 'return isAskedFor() ? removed.worst_w(logger_id) : 0',
    to: 'return 0',
  },
  {
    name: 'gives batteries the room of one that left site.yaml',
    file: counted,
    from: 'ceiling_w: ceiling_w - left_w, row_w',
    to: 'ceiling_w, row_w',
  },
  {
    name: 'gives batteries the room at the common connection of one that left',
    file: counted,
    from: 'site_w - this.left_w(null)',
    to: 'site_w',
  },
  {
    name: 'forgets over a restart that a PCS left',
    file: 'edge/battery/dispatcher.ts',
    from: 'new PcsPlaces(needs.store.state.pcs)',
    to: 'new PcsPlaces([])',
  },
  {
    name: 'forgets the connection that a PCS moved from',
    file: places,
    from: 'const there = place && !this.#isAt(id, place.logger_id) ? [place.logger_id] : []',
    to: 'const there = place && !this.#here.has(id) ? [place.logger_id] : []',
  },
  {
    name: 'does not tell a PCS that leaves to stop',
    file: 'edge/battery/dispatcher.ts',
    from: '(is_asked_for ? leaving : [])',
    to: '(is_asked_for ? [] : leaving)',
  },
  {
    name: 'raises a PCS before that is in the control log',
    file: notes,
    from: 'if (!is_raise) {',
    to: 'if (is_raise !== null) {',
  },
  {
    name: 'notes no setpoint that lowers',
    file: notes,
    from: 'const noted = this.#write({',
    to: 'const noted = !is_raise ? Promise.resolve() : this.#write({',
  },
  {
    name: 'proves plants without their batteries',
    file: proof,
    from: 'return Math.max(0, setpoint_w ?? discharge_max_w, begun_w, falls_back_to_w ?? 0)',
    to: 'return 0',
  },
  {
    name: 'proves a PCS without what it was told since it was read',
    file: proof,
    from: 'begun?.power_w ?? 0)',
    to: '0)',
  },
  {
    name: 'proves a silent PCS by what it held last',
    file: proof,
    from: "if (found.obeys !== 'yes') return Math.max(discharge_max_w, begun_w)",
    to: '',
  },
  {
    name: 'proves a PCS without what it falls back to',
    file: proof,
    from: ', falls_back_to_w ?? 0)',
    to: ')',
  },
  {
    name: 'takes a PCS whose heartbeat stands still for one that obeys',
    file: power,
    from: ' && !this.is_lost',
    to: '',
  },
  {
    name: 'leaves inverters the whole permit to fall back to beside a PCS without a timer',
    file: arming,
    from: 'Math.max(0, of_plant_w - standing_w(logger_id))',
    to: 'of_plant_w',
  },
  {
    name: 'leaves plants the whole connection to fall back to beside a PCS without a timer',
    file: arming,
    from: 'Math.max(0, permit.site_w - standing_w(null))',
    to: 'permit.site_w',
  },
  {
    name: 'tells a PCS without a timer power before the inverters are armed anew',
    file: standing,
    from: '...falling.map(({ falls_w }) => falls_w),',
    to: '',
  },
  {
    name: 'forgets over a restart that a PCS has no timer',
    file: counted,
    from: 'stands ?? removed.stands({ bess_id, pcs_idx })',
    to: 'stands ?? false',
  },
  {
    name: 'does not measure batteries at the common connection in the proof',
    file: 'edge/control/proof.ts',
    from: 'alone.map(({ power_w }) => Math.max(0, power_w ?? 0))',
    to: 'alone.map(() => 0)',
  },
  {
    name: 'takes a PCS that was told less for one that delivers less at once',
    file: power,
    from: 'Math.max(held_w, this.#rampingFrom_w(now_ms), this.measuredAt(now_ms) ?? 0)',
    to: 'Math.max(held_w, this.measuredAt(now_ms) ?? 0)',
  },
  {
    name: 'dispatches by its own clock alone where the server has another time',
    file: 'edge/battery/dispatch-hours.ts',
    from: 'others_w.reduce(lesserOf, asked.power_w)',
    to: 'others_w.reduce((one_w) => one_w, asked.power_w)',
  },
]

export const batteryMutations: readonly Mutation[] = all.map((one) => ({
  ...one,
  edge: 'batteries' as const,
}))
