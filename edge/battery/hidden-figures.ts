/**
 * Which figures of one battery may tell of the grid permit, and so are told to nobody. Pure.
 *
 * Where its schedule or its protection decides, what it is to come to is their figure. On the way
 * there its ramp alone decides, unless room is still made for it: a setpoint that came to where the
 * room ends tells of the permit, and so do those that go on from it, until one is told that does
 * not depend on where it came from. While room is made none is told either: where these would end
 * says as much.
 */
import type { JointCeiling } from '../control/battery-shares.ts'
import type { DispatchDecision } from './decide-dispatch.ts'

export interface Shown {
  decision: DispatchDecision
  /** What has been given up for it by now. */
  granted_w: number
  /** What it is told is less than was decided, as there was no room. */
  is_cut: boolean
  /** Each of its PCS holds its target. */
  is_at: boolean
  /** Each target is what its registers hold of where it is to come to. */
  is_reached: boolean
  /** What a curtailment leaves to it is a figure of its rows alone. */
  is_of_rows: boolean
}

export class HiddenFigures {
  /** What an earlier run left is not known. */
  #is_tainted = true
  #is_waiting = false
  /** What it came to by the permit last: it goes on with that under a row that leaves it there. */
  #permit_aim_w: number | null = null
  #is_aim_hidden = true

  /** Of its setpoint, and of whatever it holds. */
  get is_hidden(): boolean {
    return this.#is_tainted || this.#is_waiting
  }

  /** Of where it is to come to. */
  get is_aim_hidden(): boolean {
    return this.#is_aim_hidden
  }

  look({ decision, granted_w, is_of_rows, ...shown }: Shown): void {
    const { tier, aim_w, setpoint_w, is_held } = decision
    const { is_cut, is_at, is_reached } = shown
    if (tier === 'permit') this.#permit_aim_w = aim_w
    const is_left = aim_w > 0 && (!is_of_rows || aim_w === this.#permit_aim_w)
    this.#is_aim_hidden = tier === 'permit' || (tier === 'operator' && is_left)
    const is_on_its_way = setpoint_w > 0 && !is_reached
    this.#is_waiting = is_on_its_way && granted_w < aim_w
    const is_limited = is_on_its_way && (is_held || is_cut)
    if (this.#is_aim_hidden || is_limited) this.#is_tainted = true
    else if (is_at && (setpoint_w === 0 || is_reached)) this.#is_tainted = false
  }
}

/** Of its row: what a plant that keeps to it may be below it, by the steps of its registers. */
const steps_ratio = 0.02

/**
 * Whether each plant is held by its row, and by nothing lower: then what is left to a battery at
 * the common connection is what the rows leave. Before they came down to their rows, or where the
 * permit holds one of them, that would tell of the permit.
 */
export const areHeldByRows = (
  plants: readonly Pick<JointCeiling, 'logger_id' | 'row_w' | 'ceiling_w'>[],
  plants_w: ReadonlyMap<number, number> | null,
): boolean =>
  plants.every(({ logger_id, row_w, ceiling_w }) => {
    const worst_w = plants_w?.get(logger_id) ?? Number.NaN
    const is_there = worst_w <= row_w && worst_w >= (1 - steps_ratio) * row_w
    return is_there && row_w <= ceiling_w
  })
