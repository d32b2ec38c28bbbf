/**
 * What is kept free for the discharge of batteries, of what plants and batteries may deliver
 * together: each plant with its batteries, and all of them at the common connection. Whole watts;
 * time in ms of a stopwatch.
 *
 * It is never more than the plants leave of it: they do not give way to a battery with what they
 * deliver. Plants that come near to their limit get room back step by step, in steps that grow,
 * until they do not come near to it any more.
 */
import { waterFill } from '../control/share.ts'

/** A plant with its batteries, or the common connection with all. */
export interface Sum {
  /** Infinite: nothing bounds it. */
  ceiling_w: number
  /** What its plants deliver; of devices that do not obey, all that they may. */
  power_w: number
  /** False: that is not known yet, since the start. */
  is_known: boolean
}

export interface Asker {
  bess_id: number
  /** null: it feeds in at the common connection alone. */
  logger_id: number | null
  /** What it would discharge if there were room; from 0. */
  asked_w: number
  /** What is kept for it goes in such steps, and is that much more than it may use. */
  step_w: number
  /** What it may discharge now: it goes on with that after a restart. */
  held_w: number
}

/** Parts of a ceiling: nearer to its limit, a plant is taken to want more. */
const near_ratio = 0.02
/** So much is left between a plant and its limit. */
const headroom_ratio = 0.04
/** The most that is given back in one step. */
const step_ratio_max = 0.64
const step_growth = 4
/** Steps follow each other when plants had the time to take what they got. */
const step_ms = 12_000
/** So long nothing is taken from plants after they got room back. */
const rest_ms = 60_000

export class BatteryRoom {
  /** By bess_id. */
  #kept: ReadonlyMap<number, number> = new Map()
  /** By logger_id; null: at the common connection. */
  readonly #given = new Map<number | null, { ratio: number; at_ms: number }>()

  /** What is kept free for a battery. */
  keptFor(bess_id: number): number {
    return this.#kept.get(bess_id) ?? 0
  }

  /** At each tick. @param sums by logger_id; null: the common connection */
  look(sums: ReadonlyMap<number | null, Sum>, askers: readonly Asker[], now_ms: number): void {
    const wanted = new Map(askers.map((one) => [one.bess_id, wantedBy(one)]))
    const kept = new Map<number, number>()
    for (const { bess_id, held_w, step_w } of askers) {
      const kept_w = this.#kept.get(bess_id) ?? held_w + step_w
      kept.set(bess_id, Math.min(kept_w, wanted.get(bess_id)!))
    }
    const bounded = [...sums].filter(([, { ceiling_w }]) => Number.isFinite(ceiling_w))
    const booksOf = (key: number | null): Books => ({
      askers: askers.filter(({ logger_id }) => key === null || logger_id === key),
      ...{ kept, wanted, now_ms },
    })
    for (const [key, sum] of bounded) {
      for (const [id, kept_w] of this.#leftOf(key, sum, booksOf(key))) kept.set(id, kept_w)
    }
    const more = new Map<number, number>()
    for (const [key, sum] of bounded) {
      for (const [id, more_w] of this.#moreIn(key, sum, booksOf(key))) {
        more.set(id, Math.min(more_w, more.get(id) ?? more_w))
      }
    }
    for (const [id, wanted_w] of wanted) {
      const more_w = more.get(id) ?? wanted_w
      kept.set(id, Math.min(wanted_w, kept.get(id)! + more_w))
    }
    this.#kept = kept
  }

  /** What is left to each, of whom something is taken; else to none. */
  #leftOf(key: number | null, sum: Sum, { askers, kept, now_ms }: Books): [number, number][] {
    const { ceiling_w, is_known } = sum
    const kept_w = askers.map(({ bess_id }) => kept.get(bess_id)!)
    const free_w = ceiling_w - (is_known ? sum.power_w : 0)
    const margin_w = is_known ? near_ratio * ceiling_w : 0
    if (total(kept_w) === 0 || free_w - total(kept_w) >= margin_w) return []
    const last = this.#given.get(key)
    const since_ms = now_ms - (last?.at_ms ?? Number.NEGATIVE_INFINITY)
    if (since_ms < step_ms && free_w >= total(kept_w)) return []
    const grown = last && since_ms < rest_ms ? step_growth * last.ratio : headroom_ratio
    const ratio = since_ms < step_ms ? last!.ratio : Math.min(step_ratio_max, grown)
    this.#given.set(key, { ratio, at_ms: now_ms })
    const left_w = Math.max(0, free_w - ratio * ceiling_w)
    const parts = waterFill(left_w, kept_w.map(wholly))
    return askers.map(({ bess_id }, nth) => [bess_id, parts[nth]!])
  }

  /** How much more may be kept for each. */
  #moreIn(key: number | null, sum: Sum, { askers, kept, wanted, now_ms }: Books) {
    const { ceiling_w, power_w, is_known } = sum
    const last = this.#given.get(key)
    const is_resting = last !== undefined && now_ms - last.at_ms < rest_ms
    const kept_w = total(askers.map(({ bess_id }) => kept.get(bess_id)!))
    const left_w = (1 - headroom_ratio) * ceiling_w - power_w - kept_w
    const lacking = askers.map(({ bess_id }) => wanted.get(bess_id)! - kept.get(bess_id)!)
    const parts = waterFill(is_resting || !is_known ? 0 : left_w, lacking.map(wholly))
    return askers.map(({ bess_id }, nth): [number, number] => [bess_id, parts[nth]!])
  }
}

interface Books {
  /** Those that count in the sum. */
  askers: readonly Asker[]
  kept: ReadonlyMap<number, number>
  wanted: ReadonlyMap<number, number>
  now_ms: number
}

const wholly = (max_w: number) => ({ weight: max_w, max_w })

/** More than it uses, so that neither small changes nor how it strays rewrite limits of plants. */
function wantedBy({ asked_w, step_w }: Asker): number {
  return asked_w > 0 ? step_w * (Math.ceil(asked_w / step_w) + 1) : 0
}

const total = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0)
