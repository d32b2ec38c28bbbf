/**
 * What a device makes of a limit that it is told: it may round it down. That looks at first like
 * the limit of another master that was set meanwhile, and counts as one until it is known better,
 * which nothing is ever raised for: it is told a little less than what was found, once more. What
 * another had set gives way to just that, and a device that rounds does so again.
 *
 * A device that keeps to a least limit of its own, or comes to a limit step by step, looks the same
 * as another master that sets its limit again and again, or brings it down step by step. In doubt a
 * lower limit is another's.
 *
 * Power in whole watts.
 */

import type { Rounding } from './declared-traits.ts'

/** Survives a restart. */
export interface Habits {
  /** The most that it was seen to round down. */
  rounds_by_w: number
  /** The most that it was seen to make more of a limit. */
  rounds_up_w?: number
  doubt: Doubt | null
}

/** What was read while it had not shown the newest limit yet. */
interface Answer {
  found_w: number
  asked_w: number
  /** The lower limit of another that is known; null: none. */
  external_w: number | null
  rated_w: number
  /** It shows a limit late, and is still in the time that it has for that. */
  is_applying: boolean
  /** It was read before in the same contact, did not hold this then, nor was told to since. */
  is_new: boolean
}

export interface Verdict {
  /** It shows the newest limit, or what it makes of that. */
  is_proof: boolean
  /** What counts from now on as the limit of another. */
  external_w: number | null
  /** Another master, who is known only now. */
  foreign: 'lowered' | null
}

/** What was found once, and may be another's or rounded by the device. */
interface Doubt {
  asked_w: number
  got_w: number
  /** The most that it may have rounded, this time or before it. */
  gap_w: number
  /** The limit of another that was known before. */
  external_w: number | null
}

/** The register holds what was written, to the rounding of its scale. */
export const same_w = 1
/** No device rounds by more, of its rating: limits are in whole percent at the coarsest. */
const rounding_ratio = 0.02

export const isSame = (a_w: number, b_w: number): boolean => Math.abs(a_w - b_w) <= same_w

const no_habits: Habits = { rounds_by_w: 0, doubt: null }

export class DeviceHabits {
  #habits: Habits
  /** What is declared of its rounding. */
  rounding: Pick<Rounding, 'tolerance_w' | 'least_w'> = { tolerance_w: 0, least_w: 0 }

  constructor(habits: Habits = no_habits) {
    this.#habits = habits
  }

  get known(): Habits {
    return this.#habits
  }

  /** The most that it may be set to, so that it shows what it makes of that. */
  get most_w(): number {
    const { doubt } = this.#habits
    // What it shows already would be no answer to that, to the rounding of its register.
    return doubt ? Math.max(0, doubt.got_w - same_w - 1) : Number.POSITIVE_INFINITY
  }

  /** By all that is known of it, it may show this for that. */
  makes(found_w: number, asked_w: number): boolean {
    if (isSame(found_w, asked_w)) return true
    const { tolerance_w, least_w } = this.rounding
    if (Math.abs(found_w - asked_w) <= tolerance_w + same_w) return true
    // It goes no lower, whatever it is told.
    if (asked_w < least_w && Math.abs(found_w - least_w) <= tolerance_w + same_w) return true
    // Rounding up explains no lower limit, and rounding down no higher one.
    const { rounds_by_w, rounds_up_w = 0 } = this.#habits
    return found_w < asked_w
      ? asked_w - found_w <= rounds_by_w + same_w
      : rounds_up_w > 0 && found_w - asked_w <= rounds_up_w + same_w
  }

  /** What is in doubt stays the limit of another, who has done something since. */
  letBe(): void {
    this.#doubt(null)
  }

  /** It makes so much more of a limit. */
  roundsUp(by_w: number): void {
    const rounds_up_w = Math.max(by_w, this.#habits.rounds_up_w ?? 0)
    this.#habits = { ...this.#habits, rounds_up_w, doubt: null }
  }

  /** Of another ceiling its steps are other ones. */
  forget(): void {
    this.#habits = no_habits
  }

  /** null: it shows none of its habits; what is found is as before, or another's doing. */
  judge(answer: Answer): Verdict | null {
    const { found_w, asked_w, is_new, is_applying } = answer
    const { doubt } = this.#habits
    if (this.makes(found_w, asked_w)) return this.#shown(answer)
    if (doubt && isSame(found_w, doubt.got_w)) return asBefore(answer)
    if (!is_new || is_applying || !isRounded(answer)) return null
    const is_again = doubt && asked_w < doubt.got_w && isNear(doubt.got_w, answer)
    return is_again ? this.#roundsAgain(doubt, answer) : this.#suspect(answer)
  }

  /** It shows the limit: of what was in doubt nothing more will be known. */
  #shown(answer: Answer): Verdict {
    const { doubt } = this.#habits
    const proof = { ...asBefore(answer), is_proof: true }
    // Further below, it may happen to be a figure that needs no rounding.
    if (!doubt || !isJustBelow(answer.asked_w, doubt)) return proof
    this.#doubt(null)
    return { ...proof, foreign: 'lowered' }
  }

  #roundsAgain(doubt: Doubt, answer: Answer): Verdict {
    const { asked_w, found_w } = answer
    const rounds_by_w = asked_w - found_w
    // Just below one of its steps it rounds by the most that it can; more was another's doing.
    if (doubt.gap_w > rounds_by_w + same_w) {
      if (!isJustBelow(asked_w, doubt)) return this.#suspect(answer)
      this.#doubt(null)
      const external_w = lowest(answer.external_w, found_w)
      return { is_proof: false, external_w, foreign: 'lowered' }
    }
    const most_w = Math.max(this.#habits.rounds_by_w, rounds_by_w)
    this.#habits = { ...this.#habits, rounds_by_w: most_w, doubt: null }
    return { is_proof: true, external_w: doubt.external_w, foreign: null }
  }

  #suspect({ asked_w, found_w, external_w }: Answer): Verdict {
    const { doubt } = this.#habits
    const gap_w = Math.max(asked_w - found_w, doubt?.gap_w ?? 0)
    const before_w = doubt ? doubt.external_w : external_w
    this.#doubt({ asked_w, got_w: found_w, gap_w, external_w: before_w })
    return { is_proof: false, external_w: lowest(external_w, found_w), foreign: null }
  }

  #doubt(doubt: Doubt | null): void {
    this.#habits = { ...this.#habits, doubt }
  }
}

const asBefore = ({ external_w }: Answer): Verdict => ({
  is_proof: false,
  external_w,
  foreign: null,
})

const lowest = (external_w: number | null, found_w: number) =>
  Math.min(external_w ?? found_w, found_w)

const isRounded = (answer: Answer) =>
  answer.found_w < answer.asked_w && isNear(answer.found_w, answer)

const isNear = (limit_w: number, { asked_w, rated_w }: Answer) =>
  Math.abs(asked_w - limit_w) <= rounding_ratio * rated_w

/** Told this, one that rounds cannot show it. */
function isJustBelow(asked_w: number, { asked_w: before_w, got_w }: Doubt): boolean {
  return asked_w < got_w && asked_w >= got_w - (before_w - got_w) - same_w
}
