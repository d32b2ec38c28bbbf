/**
 * The room of each battery: what it asks for, what is kept for it, what that takes off the ceilings
 * of plants, and the most that it may come to. Whole watts; time in ms of a stopwatch.
 */
import { waterFill } from '../control/core/share.ts'
import type { JointCeiling, JointCeilings } from '../control/joint-ceilings.ts'
import type { Permit } from '../control/permit-terms.ts'
import { sum } from '../control/sum.ts'
import { BatteryRoom, type Sum } from './battery-room.ts'
import type { ControlledUnit } from './controlled-unit.ts'
import type { CountedBatteries, StandingUnit } from './counted-batteries.ts'
import type { DispatchFacts, UnitNow } from './decide-dispatch.ts'
import { LatelyMost } from './most-told.ts'

/** What strays less than that long does not rewrite limits of plants. */
const lasting_ms = 5000
const infinite = Number.POSITIVE_INFINITY
const step_ratio = 0.02

export class UnitRooms {
  readonly #counted: CountedBatteries
  readonly #room = new BatteryRoom()
  readonly #kept = new Map<number, LatelyMost>()
  /** By bess_id. */
  #kept_w: ReadonlyMap<number, number> = new Map()
  /** By bess_id, of those whose setpoint stays where the edge falls silent. */
  #standing_w: ReadonlyMap<number, number> = new Map()

  constructor(counted: CountedBatteries) {
    this.#counted = counted
  }

  /** What comes off the export of plants for a battery. */
  keptFor(bess_id: number): number {
    return this.#kept_w.get(bess_id) ?? 0
  }

  /** The same for all, with what none of them can be told. null: of the common connection. */
  share_w(logger_id: number | null): number {
    const within = this.#counted.within(logger_id)
    return this.#counted.fixed_w(logger_id) + sum(within, ({ bess_id }) => this.keptFor(bess_id))
  }

  /**
   * At each tick.
   *
   * @param aimOf what one would come to with so much room
   */
  plan(
    joint: JointCeilings,
    units: readonly ControlledUnit[],
    aimOf: (unit: ControlledUnit, most_w: number) => number,
  ): void {
    const { now_ms, permit } = joint
    const taken_w = (logger_id: number | null) => this.#counted.taken_w(logger_id)
    this.#standing_w = standingRoom(permit, this.#counted.standing(), taken_w)
    const askers = units.map((unit) => {
      const { bess_id, logger_id } = unit
      const asked_w = Math.max(0, aimOf(unit, this.#mostOf(unit, joint)))
      const held_w = unit.worst_w(now_ms) - unit.fixed_w(now_ms)
      return { bess_id, logger_id, asked_w, step_w: marginOf(unit, joint), held_w }
    })
    this.#room.look(this.#sumsOf(joint), askers, now_ms)
    const kept = units.map(({ bess_id, facts }, nth) => {
      const lately = this.#kept.get(bess_id) ?? new LatelyMost(lasting_ms)
      this.#kept.set(bess_id, lately)
      const kept_w = this.#room.keptFor(bess_id)
      const step_w = stepOf(facts)
      const { held_w } = askers[nth]!
      // What it delivers above its setpoint the plants leave to it, too.
      const need_w = held_w > kept_w ? step_w * Math.ceil(held_w / step_w) : kept_w
      return [bess_id, lately.look(need_w, now_ms)] as const
    })
    this.#kept_w = new Map(kept)
  }

  /** Whom a battery makes room for: the permit, or a row, which an operator asked for. */
  roomOf(unit: ControlledUnit, joint: JointCeilings): UnitNow['room'] {
    const { bess_id, logger_id } = unit
    const most_w = this.#mostOf(unit, joint)
    const kept_w = Math.max(0, this.#room.keptFor(bess_id) - marginOf(unit, joint))
    // What it would hold without the edge is the business of the permit alone.
    if (most_w < kept_w) return { discharge_w: most_w, tier: 'permit' }
    if (logger_id === null) {
      const rows_w = sum(joint.plants, ({ row_w }) => row_w) - this.#counted.worstBeside_w(null)
      const under_rows_w = Math.max(0, rows_w + unit.worst_w(joint.now_ms))
      if (under_rows_w < kept_w) return { discharge_w: under_rows_w, tier: 'operator' }
      return { discharge_w: kept_w, tier: 'permit' }
    }
    const plant = joint.plants.find((one) => one.logger_id === logger_id)
    const is_row = plant !== undefined && plant.row_w <= plant.ceiling_w && joint.site_w === null
    const is_operator = is_row && Number.isFinite(plant.row_w) && hasPermit(unit, joint)
    return { discharge_w: kept_w, tier: is_operator ? 'operator' : 'permit' }
  }

  /** What nobody may use now of all that the battery feeds into. */
  leftFor({ logger_id }: ControlledUnit, { plants, site_w }: JointCeilings): number {
    const ofPlant = (id: number) => plants.find((one) => one.logger_id === id)?.ceiling_w ?? 0
    const left_w = [null, ...(logger_id === null ? [] : [logger_id])].map((id) => {
      const ceiling_w = id === null ? (site_w ?? infinite) : ofPlant(id)
      return ceiling_w - this.#counted.worstBeside_w(id)
    })
    return Math.max(0, Math.min(...left_w))
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
        const power_w = plant.power_w + this.#counted.fixed_w(logger_id)
        return [logger_id, { ...plant, power_w, may_rise_w: mayRise(plant) }]
      }),
    )
    const power_w = sum(plants, (plant) => plant.power_w) + this.#counted.fixed_w(null)
    const is_known = plants.every((plant) => plant.is_known)
    const may_rise_w = sum(plants, mayRise)
    return sums.set(null, { ceiling_w: site_w ?? infinite, power_w, may_rise_w, is_known })
  }
}

const mayRise = ({ most_w, power_w }: Pick<JointCeiling, 'most_w' | 'power_w'>) =>
  Math.max(0, most_w - power_w)

/** The step in which room is kept for a battery. */
const stepOf = ({ rated_discharge_w }: DispatchFacts) =>
  Math.max(1, Math.ceil(step_ratio * rated_discharge_w))

/** What is kept for it beside what it uses; nothing where there is no plant whose limits stray. */
function marginOf({ facts, logger_id }: ControlledUnit, { plants, site_w }: JointCeilings): number {
  const beside = plants.filter((one) => site_w !== null || one.logger_id === logger_id)
  return beside.every(({ most_w }) => most_w === 0) ? 0 : stepOf(facts)
}

function hasPermit({ logger_id }: ControlledUnit, { permit }: JointCeilings): boolean {
  if (logger_id === null) return permit != null && permit.site_w !== null
  return permit?.plant_w.has(logger_id) ?? false
}

/**
 * What batteries without a timer may be told to discharge: of each connection, what all others
 * leave of the permit where the edge falls silent. They go on with that, beside inverters that fall
 * back to their shares of the permit. Rows do not count: when nobody writes they are over.
 *
 * @param taken_w by others; by plant, or null: at the common connection
 * @returns by bess_id
 */
export function standingRoom(
  permit: Permit | null,
  units: readonly StandingUnit[],
  taken_w: (logger_id: number | null) => number,
): ReadonlyMap<number, number> {
  const most = new Map(units.map(({ bess_id }) => [bess_id, Number.POSITIVE_INFINITY]))
  for (const key of new Set([null, ...units.map(({ logger_id }) => logger_id)])) {
    const permit_w = key === null ? permit?.site_w : permit?.plant_w.get(key)
    if (permit_w == null) continue
    const within = units.filter(({ logger_id }) => key === null || logger_id === key)
    const parts = within.map(({ reserve_w }) => ({ weight: reserve_w, max_w: reserve_w }))
    const shares_w = waterFill(permit_w - taken_w(key), parts)
    within.forEach(({ bess_id }, nth) => {
      most.set(bess_id, Math.min(most.get(bess_id)!, shares_w[nth]!))
    })
  }
  return most
}
