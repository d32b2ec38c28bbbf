/**
 * Judges what a reading says of its limit, for its figure is told where that is no secret: `none`
 * only at the device's own ceiling, `external` only at what another set there, `curtailment` only
 * at what was set while a row held the plant below its permit.
 */
import { type CurtailmentRow, isInForce } from '@heliograph/domain/curtailment'
import type { Limiter } from '@heliograph/domain/readings'
import type { LimitState } from '../../drivers/limit-control.ts'
import type { SimulatedDevice } from './device.ts'
import { Broken } from './judge.ts'

/** What was set is read back as that, but for what its steps are rounded by. */
const same_w = 2
/** A row that ended in the course of a second still was in force when that was decided. */
const lately_ms = 1000

export class LabelJudge {
  /** What was set for a row, by inverter_id. */
  readonly #of_rows = new Map<number, Set<number>>()
  /** What was set last for the permit, by inverter_id. */
  readonly #of_permit = new Map<number, number>()

  /** @param permit_w of the plant, as far as there is one */
  ordered(
    { inverter_id, limit_w }: { inverter_id: number; limit_w: number },
    rows: readonly CurtailmentRow[],
    { now, permit_w }: { now: number; permit_w: number | undefined },
  ): void {
    const logger_id = Math.floor(inverter_id / 100)
    const is_of_row = rows.some(
      (row) =>
        row.logger_id === logger_id &&
        (isInForce(row, now) || isInForce(row, now - lately_ms)) &&
        row.max_power_kw * 1000 < (permit_w ?? Number.POSITIVE_INFINITY),
    )
    const of_rows = this.#of_rows.get(inverter_id) ?? new Set()
    this.#of_rows.set(inverter_id, of_rows)
    // What is set once more says no less of the permit than it did before.
    if (is_of_row && this.#of_permit.get(inverter_id) !== limit_w) {
      of_rows.add(limit_w)
      this.#of_permit.delete(inverter_id)
    } else {
      of_rows.delete(limit_w)
      this.#of_permit.set(inverter_id, limit_w)
    }
  }

  /** @throws {Broken} where it is not true */
  look(device: SimulatedDevice, { limit_w }: LimitState, limited_by: Limiter): void {
    const { inverter_id, static_w } = device.build
    const bound_w = limit_w ?? static_w
    const isOneOf = (all: Iterable<number>) =>
      [...all].some((one_w) => Math.abs(one_w - bound_w) < same_w)
    const is_true =
      limited_by === 'none'
        ? bound_w >= static_w
        : limited_by === 'external'
          ? isOneOf(device.foreign_w)
          : limited_by === 'curtailment'
            ? isOneOf(this.#of_rows.get(inverter_id) ?? [])
            : true
    if (is_true) return
    throw new Broken(`inverter ${inverter_id} stands at ${bound_w} W, said to be ${limited_by}`)
  }
}
