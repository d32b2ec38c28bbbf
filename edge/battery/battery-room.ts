/**
 * What is kept free for the discharge of batteries, of what plants and batteries may deliver
 * together: each plant with its batteries, and all of them at the common connection. Whole watts;
 * time in ms of a stopwatch.
 *
 * It is never more than the plants leave of it: they do not give way to a battery with what they
 * deliver. Plants that come near to their limit get room back step by step, in steps that grow,
 * until they do not come near to it any more.
 */
import { waterFill } from '../control/core/share.ts'
import { sum as total } from '../control/sum.ts'

/** A plant with its batteries, or the common connection with all. */
export interface Sum {
  /** Infinite: nothing bounds it. */
  ceiling_w: number
  /** What its plants deliver; of devices that do not obey, all that they may. */
  power_w: number
  /** By how much more its plants could come up at the most. */
  may_rise_w: number
  /** False: that is not known yet, since the start. */
  is_known: boolean
}

interface Asker {
  bess_id: number
  /** null: it feeds in at the common connection alone. */
  logger_id: number | null
  /** What it would discharge if there were room; from 0. */
  asked_w: number
  /** What is kept for it goes in such steps, and is that much more than it may use; 0: none. */
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
/** Under a sun that swings, which asks for that again soon, twice as long each time, up to this. */
const rest_ms_max = 300_000
const rest_growth = 2
/** Part of a ceiling: less of it is not worth the writes, but where it is all that is asked for. */
const dead_band_ratio = 0.04

export class BatteryRoom {
  /** By bess_id. */
  #kept: ReadonlyMap<number, number> = new Map()
  /** By logger_id; null: at the common connection. */
  readonly #given = new Map<number | null, Given>()

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
      kept,
      wanted,
      now_ms,
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
    const margin_w = is_known ? partOf(sum, near_ratio) : 0
    if (total(kept_w) === 0 || free_w - total(kept_w) >= margin_w) return []
    const last = this.#given.get(key)
    const since_ms = now_ms - (last?.at_ms ?? Number.NEGATIVE_INFINITY)
    if (since_ms < step_ms && free_w >= total(kept_w)) return []
    const given = givenAfter(last ?? null, now_ms)
    this.#given.set(key, given)
    const left_w = Math.max(0, free_w - partOf(sum, given.ratio))
    const parts = waterFill(left_w, kept_w.map(wholly))
    return askers.map(({ bess_id }, nth) => [bess_id, parts[nth]!])
  }

  /** How much more may be kept for each. */
  #moreIn(key: number | null, sum: Sum, { askers, kept, wanted, now_ms }: Books) {
    const { ceiling_w, power_w, is_known } = sum
    const last = this.#given.get(key)
    const is_resting = last !== undefined && now_ms - last.at_ms < last.rest_ms
    const kept_w = total(askers.map(({ bess_id }) => kept.get(bess_id)!))
    const left_w = ceiling_w - partOf(sum, headroom_ratio) - power_w - kept_w
    const lacking = askers.map(({ bess_id }) => wanted.get(bess_id)! - kept.get(bess_id)!)
    const is_worth = left_w >= Math.min(total(lacking), dead_band_ratio * ceiling_w)
    const parts = waterFill(is_resting || !is_known || !is_worth ? 0 : left_w, lacking.map(wholly))
    return askers.map(({ bess_id }, nth): [number, number] => [bess_id, parts[nth]!])
  }
}

/** What plants got back last, and for how long nothing is taken from them after that. */
interface Given {
  ratio: number
  at_ms: number
  rest_ms: number
}

function givenAfter(last: Given | null, now_ms: number): Given {
  const first: Given = { ratio: headroom_ratio, at_ms: now_ms, rest_ms }
  if (!last) return first
  const since_ms = now_ms - last.at_ms
  if (since_ms < step_ms) return { ...last, at_ms: now_ms }
  if (since_ms < rest_ms) {
    const ratio = Math.min(step_ratio_max, step_growth * last.ratio)
    return { ...last, ratio, at_ms: now_ms }
  }
  // One step is enough for what strays: a sun that swings needed more of them.
  const is_again = last.ratio > headroom_ratio && since_ms < rest_growth * last.rest_ms
  return is_again ? { ...first, rest_ms: Math.min(rest_ms_max, rest_growth * last.rest_ms) } : first
}

interface Books {
  /** Those that count in the sum. */
  askers: readonly Asker[]
  kept: ReadonlyMap<number, number>
  wanted: ReadonlyMap<number, number>
  now_ms: number
}

/** No more is left to plants than they could use. */
const partOf = ({ ceiling_w, may_rise_w, is_known }: Sum, ratio: number) =>
  is_known ? Math.min(ratio * ceiling_w, may_rise_w) : ratio * ceiling_w

const wholly = (max_w: number) => ({ weight: max_w, max_w })

/** More than it uses, so that neither small changes nor how it strays rewrite limits of plants. */
function wantedBy({ asked_w, step_w }: Asker): number {
  if (asked_w === 0 || step_w === 0) return asked_w
  return step_w * (Math.ceil(asked_w / step_w) + 1)
}
