/**
 * A grid operator, a direct marketer and relay inputs that order limits at any time, and somebody
 * who tries to end their orders through the server. Judges that each order is the one in force.
 */
import {
  type CurtailmentRow,
  type OutsideSource,
  outsideSources,
} from '@heliograph/domain/curtailment'
import type { Controller } from '../controller.ts'
import { OutsideOrders } from '../outside-orders.ts'
import type { Chance } from './chance.ts'
import { Broken } from './judge.ts'
import type { World } from './world.ts'

/** A decision that waits for the disk, and a tick. */
const decided_within_ms = 10_000
const rounding_w = 1

/** An order of one source at one plant; null: none. */
interface Expected {
  kw: number | null
  /** By the stopwatch: when the order last changed. */
  since_ms: number
  /** What a restart may find. */
  durable: (number | null)[]
}

export class OutsideSources {
  readonly #chance: Chance
  readonly #world: World
  readonly #expected = new Map<string, Expected>()
  /** Orders that were ever in force. */
  readonly #seen: CurtailmentRow[] = []
  /** Orders in force at the last second. */
  #passed: CurtailmentRow[] = []
  readonly #onError: (error: Error) => void
  #orders: OutsideOrders | null = null
  #controller: Controller | null = null
  #ids = 0

  constructor(chance: Chance, world: World, onError: (error: Error) => void) {
    this.#chance = chance
    this.#world = world
    this.#onError = onError
  }

  /** Orders in force as the running program knows them; none while it is down. */
  get #rows(): CurtailmentRow[] {
    return outsideSources.flatMap((source) => this.#controller?.fromOutside(source) ?? [])
  }

  /** Orders that are in force, or were a second ago. */
  get lately(): CurtailmentRow[] {
    return [...this.#passed, ...this.#rows]
  }

  start(controller: Controller, clock: { now(): Date }, now_ms: number): void {
    const newOrderId = () => {
      this.#ids += 1
      return `00000000-0000-4000-9000-${String(this.#ids).padStart(12, '0')}`
    }
    this.#controller = controller
    this.#orders = new OutsideOrders({ clock, newOrderId, controller })
    this.#each((key, found) => {
      const { durable } = this.#expected.get(key) ?? { durable: [null] as (number | null)[] }
      if (!durable.includes(found)) throw new Broken(`${key}: ${found} kW after a restart`)
      this.#expected.set(key, { kw: found, since_ms: now_ms, durable: [found] })
    })
  }

  kill(): void {
    this.#controller = null
    this.#orders = null
  }

  /** A second passes, and the program runs. */
  pass(now_ms: number): void {
    const chance = this.#chance
    const { plants, is_calm } = this.#world
    this.#passed = this.#rows
    this.#seen.push(...this.#rows.filter((row) => !this.#seen.includes(row)))
    this.#seen.splice(0, this.#seen.length - 50)
    if (is_calm) {
      for (const source of outsideSources) this.#order(source, () => null, now_ms)
      return
    }
    if (chance.yes(0.05)) {
      const source = chance.pick(outsideSources)
      const share_pct = chance.pick([0, 30, 60, chance.between(0, 100), null])
      const kwOf = (rated_w: number) =>
        share_pct === null ? null : Math.floor((rated_w * share_pct) / 100) / 1000
      this.#order(source, chance.yes(0.5) ? kwOf : null, now_ms, chance.pick(plants).logger_id)
    }
    if (chance.yes(0.05) && this.#seen.length > 0) this.#tamper(chance.pick(this.#seen))
  }

  /** @param kwOf null: 30 % of one plant alone */
  #order(
    source: OutsideSource,
    kwOf: ((rated_w: number) => number | null) | null,
    now_ms: number,
    logger_id = 0,
  ): void {
    const limits = this.#world.plants
      .filter((plant) => kwOf !== null || plant.logger_id === logger_id)
      .map((plant) => ({
        logger_id: plant.logger_id,
        max_power_kw: kwOf ? kwOf(plant.rated_w) : Math.floor(plant.rated_w * 0.3) / 1000,
      }))
    const ordered = limits.map(({ logger_id, max_power_kw: kw }) => {
      const key = `${source} ${logger_id}`
      const before = this.#expected.get(key)!
      const since_ms = before.kw === kw ? before.since_ms : now_ms
      const next: Expected = { kw, since_ms, durable: [...before.durable, kw] }
      this.#expected.set(key, next)
      return { key, next }
    })
    this.#orders!.set(source, limits).then(
      () => {
        // What was ordered before can be found no more.
        for (const { key, next } of ordered) {
          const known = this.#expected.get(key)!
          const nth = known.durable.indexOf(next.kw)
          this.#expected.set(key, { ...known, durable: known.durable.slice(nth) })
        }
      },
      () => {},
    )
  }

  /** Through the server, as it is, without its source, or as it was before. */
  #tamper(row: CurtailmentRow): void {
    const { source, ...bare } = row
    const released_at = this.#chance.pick([null, row.start_at, row.start_at + 1000])
    const told = this.#chance.pick([
      { ...row, released_at },
      { ...bare, released_at: row.start_at },
    ])
    // One that has ended, without its source, would be a command like all others.
    const is_known = this.#rows.some(({ group_id }) => group_id === row.group_id)
    if (!is_known && !('source' in told)) return
    this.#controller!.hear([told]).catch(() => {})
  }

  /** @param ceilingOf what the program said last of a plant, in W; null: nothing yet */
  check(ceilingOf: (logger_id: number) => number | null, now_ms: number): void {
    if (!this.#controller) return
    this.#each((key, found) => {
      const { kw } = this.#expected.get(key)!
      if (found !== kw) this.#onError(new Broken(`${key}: ${found} kW is in force, not ${kw}`))
    })
    for (const { logger_id } of this.#world.plants) {
      const orders = outsideSources.map((source) => this.#expected.get(`${source} ${logger_id}`)!)
      const standing = orders.filter(({ since_ms }) => now_ms - since_ms > decided_within_ms)
      const lowest_w = Math.min(...standing.flatMap(({ kw }) => (kw === null ? [] : [kw * 1000])))
      const ceiling_w = ceilingOf(logger_id)
      if (ceiling_w === null || ceiling_w <= lowest_w + rounding_w) continue
      this.#onError(new Broken(`plant ${logger_id} is held to ${ceiling_w} W, not ${lowest_w} W`))
    }
  }

  /** The order is in force, and no restart can find another. */
  holds({ source, logger_id, max_power_kw }: CurtailmentRow): boolean {
    const expected = this.#expected.get(`${source} ${logger_id}`)
    return expected?.durable.every((kw) => kw === max_power_kw) === true
  }

  #each(look: (key: string, found: number | null) => void): void {
    for (const source of outsideSources) {
      const limits = this.#orders!.limitsOf(source)
      for (const { logger_id } of this.#world.plants) {
        look(`${source} ${logger_id}`, limits.get(logger_id) ?? null)
      }
    }
  }
}
