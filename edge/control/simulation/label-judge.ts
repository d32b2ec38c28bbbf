/**
 * Judges what a reading says of its limit: `none` only at the device's own ceiling, `external` only
 * at what another set there, `curtailment` only at what was set while a row held the plant below
 * its permit.
 */
import { type CurtailmentRow, rowKey } from '@heliograph/domain/curtailment'
import type { Limiter } from '@heliograph/domain/readings'
import type { LimitState } from '../../drivers/limit-control.ts'
import type { SimulatedDevice } from './device.ts'
import { Broken } from './judge.ts'

/** What was set is read back as that, but for what its steps are rounded by. */
const same_w = 2
/** A row that ended in the course of a second still was in force when that was decided. */
const lately_ms = 1000
/** So long after a jump of the clock rows may go by the time before it. */
const in_doubt_ms = 120_000

export interface LabelMoment {
  /** Unix ms. */
  now: number
  /** By the stopwatch. */
  now_ms: number
  /** Unix ms, as the edge knows it of the server; null: never told. */
  server_at: number | null
}

export class LabelJudge {
  /** What was set for a row, by inverter_id. */
  readonly #of_rows = new Map<number, Set<number>>()
  /** Its ceiling as it was read last, by inverter_id. */
  readonly #ceilings_w = new Map<number, number>()

  /** Rows that were seen to hold: a clock that is set back ends none. */
  readonly #begun = new Set<string>()
  #offset_ms: number | null = null
  #before: { offset_ms: number; until_ms: number }[] = []
  #latest_at = 0

  /** An edge that starts finds a clock that was set back since it last wrote the time down. */
  started({ now, now_ms }: { now: number; now_ms: number }): void {
    if (this.#latest_at - now <= lately_ms) return
    const offset_ms = this.#latest_at - now_ms
    this.#before.push({ offset_ms, until_ms: now_ms + in_doubt_ms })
  }

  /** At each second. */
  passed(rows: readonly CurtailmentRow[], moment: LabelMoment): void {
    const { now, now_ms } = moment
    const offset_ms = now - now_ms
    const last_ms = this.#offset_ms ?? offset_ms
    if (Math.abs(offset_ms - last_ms) > lately_ms) {
      // What held before the first of several in doubt still counts.
      const offsets = [...this.#before.map((one) => one.offset_ms), last_ms]
      this.#before = offsets.map((one_ms) => ({
        offset_ms: one_ms,
        until_ms: now_ms + in_doubt_ms,
      }))
    }
    this.#offset_ms = offset_ms
    this.#latest_at = Math.max(this.#latest_at, now)
    this.#before = this.#before.filter(({ until_ms }) => now_ms < until_ms)
    // It begins when either clock says so: that one is then set back again ends it no more.
    // So does one that began by one clock and has ended by another.
    for (const row of rows) if (this.#mayHold(row, moment)) this.#begun.add(rowKey(row))
  }

  #mayHold(row: CurtailmentRow, { now, now_ms, server_at }: LabelMoment): boolean {
    const earlier = this.#before.map(({ offset_ms }) => offset_ms + now_ms)
    const times = [now, server_at ?? now, ...earlier].flatMap((at) => [at, at - lately_ms])
    if (row.released_at !== null || Math.min(...times) >= row.end_at) return false
    return this.#begun.has(rowKey(row)) || Math.max(...times) >= row.start_at
  }

  /** @param permit_w of the plant, as far as there is one */
  ordered(
    device: SimulatedDevice,
    limit_w: number,
    rows: readonly CurtailmentRow[],
    { permit_w, ...moment }: LabelMoment & { permit_w: number | undefined },
  ): void {
    const { inverter_id } = device.build
    const logger_id = Math.floor(inverter_id / 100)
    const is_of_row = rows.some(
      (row) =>
        row.logger_id === logger_id &&
        this.#mayHold(row, moment) &&
        row.max_power_kw * 1000 < (permit_w ?? Number.POSITIVE_INFINITY),
    )
    const of_rows = this.#of_rows.get(inverter_id) ?? new Set()
    this.#of_rows.set(inverter_id, of_rows)
    // As its present ceiling has it: another may be there before that is read back.
    if (is_of_row) of_rows.add(limit_w).add(device.makes(limit_w))
    else of_rows.delete(limit_w)
  }

  /**
   * @param forgot the edge was killed with a record that its disk did not take: its own limit may
   *   be external to it
   * @throws {Broken} where it is not true
   */
  look(
    device: SimulatedDevice,
    { limit_w, static_max_w }: LimitState,
    { limited_by, forgot }: { limited_by: Limiter; forgot: boolean },
  ): void {
    const { inverter_id } = device.build
    const bound_w = limit_w ?? static_max_w
    const isOneOf = (all: Iterable<number>) =>
      [...all].some((one_w) => Math.abs(one_w - bound_w) <= same_w)
    if (static_max_w > 0) this.#rescale(inverter_id, static_max_w)
    const of_rows = [...(this.#of_rows.get(inverter_id) ?? [])]
    // Its ceiling may have been set since this was read.
    const read_ratio = static_max_w / device.build.static_w
    const made = of_rows.flatMap((row_w) => [device.makes(row_w), device.makes(row_w) * read_ratio])
    const is_true =
      limited_by === 'none'
        ? // Its ceiling may be another since this was read, which nobody can know yet.
          bound_w >= static_max_w
        : limited_by === 'external'
          ? // What was set in percent of another ceiling is nobody's, and counts as another's.
            forgot || device.is_rescaled || isOneOf(device.foreign_w)
          : limited_by === 'curtailment'
            ? isOneOf([...of_rows, ...made])
            : true
    if (is_true) return
    throw new Broken(`inverter ${inverter_id} stands at ${bound_w} W, said to be ${limited_by}`)
  }

  /** What was set in percent of a ceiling goes along with that, and says no more than before. */
  #rescale(inverter_id: number, static_max_w: number): void {
    const ratio = static_max_w / (this.#ceilings_w.get(inverter_id) ?? static_max_w)
    this.#ceilings_w.set(inverter_id, static_max_w)
    const of_rows = this.#of_rows.get(inverter_id)
    if (!of_rows || ratio === 1) return
    for (const row_w of [...of_rows]) of_rows.add(row_w * ratio)
  }
}
