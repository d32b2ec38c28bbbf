/**
 * The room of each battery: what it asks for, what is kept for it, what that takes off the ceilings
 * of plants, and the most that it may come to. Whole watts; time in ms of a stopwatch.
 */
import type { JointCeiling, JointCeilings } from '../control/battery-shares.ts'
import { BatteryRoom, type Sum } from './battery-room.ts'
import type { ControlledUnit } from './controlled-unit.ts'
import { type CountedBatteries, sum } from './counted-batteries.ts'
import type { UnitNow } from './decide-dispatch.ts'
import { LatelyMost } from './lately-most.ts'
import { type RoomLeft, stepOf } from './pcs-targets.ts'
import { standingRoom } from './standing-room.ts'

/** What strays less than that long does not rewrite limits of plants. */
const lasting_ms = 5000
const infinite = Number.POSITIVE_INFINITY

export class UnitRooms {
  readonly #counted: CountedBatteries
  readonly #room = new BatteryRoom()
  readonly #shares = new Map<number | null, LatelyMost>()
  readonly #shares_w = new Map<number | null, number>()
  /** By bess_id, of those whose setpoint stays where the edge falls silent. */
  #standing_w: ReadonlyMap<number, number> = new Map()

  constructor(counted: CountedBatteries) {
    this.#counted = counted
  }

  /** What comes off a ceiling for batteries of site.yaml. null: of the common connection. */
  share_w(logger_id: number | null): number {
    return this.#shares_w.get(logger_id) ?? 0
  }

  /**
   * At each tick.
   *
   * @param joint what plants and these may have beside what left site.yaml
   * @param units those that are known
   * @param aimOf what one would come to with so much room
   */
  plan(
    joint: JointCeilings,
    units: readonly ControlledUnit[],
    aimOf: (unit: ControlledUnit, most_w: number) => number,
  ): void {
    const { now_ms } = joint
    const left_w = (logger_id: number | null) => this.#counted.left_w(logger_id)
    this.#standing_w = standingRoom(joint, this.#counted.standing(), left_w)
    const sums = this.#sumsOf(joint)
    const askers = units.map((unit) => {
      const { bess_id, logger_id } = unit
      const asked_w = Math.max(0, aimOf(unit, this.#mostOf(unit, joint)))
      const held_w = unit.worst_w(now_ms) - unit.fixed_w(now_ms)
      return { bess_id, logger_id, asked_w, step_w: marginOf(unit, joint), held_w }
    })
    this.#room.look(sums, askers, now_ms)
    for (const key of sums.keys()) this.#share(key, now_ms)
  }

  /** Whom a battery makes room for: the permit, or a row, which an operator asked for. */
  roomOf(unit: ControlledUnit, joint: JointCeilings, left: RoomLeft): UnitNow['room'] {
    const { bess_id, logger_id } = unit
    const most_w = this.#mostOf(unit, joint)
    const kept_w = Math.max(0, this.#room.keptFor(bess_id) - marginOf(unit, joint))
    // What it would hold without the edge is the business of the permit alone.
    if (most_w < kept_w) return { discharge_w: most_w, tier: 'permit' }
    if (logger_id === null) {
      const rows_w = left.underRows(unit.worst_w(joint.now_ms))
      if (rows_w < kept_w) return { discharge_w: rows_w, tier: 'operator' }
      return { discharge_w: kept_w, tier: 'permit' }
    }
    const plant = joint.plants.find((one) => one.logger_id === logger_id)
    const is_row = plant !== undefined && plant.row_w <= plant.ceiling_w && joint.site_w === null
    const is_operator = is_row && Number.isFinite(plant.row_w) && hasPermit(unit, joint)
    return { discharge_w: kept_w, tier: is_operator ? 'operator' : 'permit' }
  }

  /** The most that it may be told, whatever else there is. */
  #mostOf(unit: ControlledUnit, joint: JointCeilings): number {
    const standing_w = this.#standing_w.get(unit.bess_id) ?? infinite
    return hasPermit(unit, joint) ? standing_w : 0
  }

  #sumsOf({ plants, site_w }: JointCeilings): Map<number | null, Sum> {
    // What cannot be commanded leaves as little room as a plant that delivers as much.
    const sums = new Map<number | null, Sum>(
      plants.map(({ logger_id, ...plant }) => {
        const power_w = plant.power_w + this.#counted.fixedHere_w(logger_id)
        return [logger_id, { ...plant, power_w, may_rise_w: mayRise(plant) }]
      }),
    )
    const power_w = sum(plants, (plant) => plant.power_w) + this.#counted.fixedHere_w(null)
    const is_known = plants.every((plant) => plant.is_known)
    const may_rise_w = sum(plants, mayRise)
    return sums.set(null, { ceiling_w: site_w ?? infinite, power_w, may_rise_w, is_known })
  }

  #share(key: number | null, now_ms: number): void {
    const share = this.#shares.get(key) ?? new LatelyMost(lasting_ms)
    this.#shares.set(key, share)
    const within = this.#counted.within(key)
    const fixed_w = this.#counted.fixedHere_w(key)
    const kept_w = fixed_w + sum(within, ({ bess_id }) => this.#room.keptFor(bess_id))
    const worst_w = this.#counted.worstHere_w(key)
    const step_w = sum(within, ({ facts }) => stepOf(facts))
    const need_w = worst_w > kept_w ? step_w * Math.ceil(worst_w / step_w) : kept_w
    this.#shares_w.set(key, share.look(need_w, now_ms))
  }
}

const mayRise = ({ most_w, power_w }: Pick<JointCeiling, 'most_w' | 'power_w'>) =>
  Math.max(0, most_w - power_w)

/** What is kept for it beside what it uses; nothing where there is no plant whose limits stray. */
function marginOf({ facts, logger_id }: ControlledUnit, { plants, site_w }: JointCeilings): number {
  const beside = plants.filter((one) => site_w !== null || one.logger_id === logger_id)
  return beside.every(({ most_w }) => most_w === 0) ? 0 : stepOf(facts)
}

function hasPermit({ logger_id }: ControlledUnit, { permit }: JointCeilings): boolean {
  if (logger_id === null) return permit != null && permit.site_w !== null
  return permit?.plant_w.has(logger_id) ?? false
}
