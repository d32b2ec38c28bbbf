/** The hours of approved schedules that are known: heard, in force, and at last forgotten. */
import { type DispatchHour, hourKey, mergeHour, powerAt } from '@heliograph/domain/dispatch'
import { wattsTowardsZero } from '@heliograph/domain/watts'
import type { WallTime } from '../control/clock-watch.ts'

/** What is to be done now. */
export interface Asked {
  power_w: number
  schedule_id: number
  /** Of the hour or quarter that asks for it, Unix ms. */
  interval_start_at: number
}

/** An hour that is over is known for so long: the server may tell it again. */
const forgotten_ms = 86_400_000

export class DispatchHours {
  /** By bess_id, and by key: what is asked of one battery does not go through those of others. */
  readonly #hours = new Map<number, Map<string, DispatchHour>>()

  constructor(hours: readonly DispatchHour[]) {
    for (const hour of hours) this.#of(hour.bess_id).set(hourKey(hour), hour)
  }

  get all(): DispatchHour[] {
    return [...this.#hours.values()].flatMap((of_one) => [...of_one.values()])
  }

  get is_empty(): boolean {
    return [...this.#hours.values()].every(({ size }) => size === 0)
  }

  /** Takes hours in; whether anything of it is news. */
  hear(hours: readonly DispatchHour[], now: number): boolean {
    let is_news = false
    for (const hour of hours) {
      const key = hourKey(hour)
      const of_one = this.#of(hour.bess_id)
      const known = of_one.get(key)
      const merged = known ? mergeHour(known, hour) : hour
      if (known?.ended_at === merged.ended_at && known) continue
      if (!known && hour.end_at < now - forgotten_ms) continue
      of_one.set(key, merged)
      is_news = true
    }
    return is_news
  }

  forget(now: number): void {
    for (const of_one of this.#hours.values()) {
      for (const [key, { end_at }] of of_one) {
        if (end_at < now - forgotten_ms) of_one.delete(key)
      }
    }
  }

  /**
   * What the newest schedule asks for; null: nothing. Where clocks disagree, no more power than by
   * each of them, and 0 W where one asks for nothing or for the other direction.
   */
  askedOf(bess_id: number, { now, earliest, latest }: WallTime): Asked | null {
    const asked = this.#askedAt(bess_id, now)
    if (!asked) return null
    const others_w = [earliest, latest].map((at) => this.#askedAt(bess_id, at)?.power_w ?? 0)
    return { ...asked, power_w: others_w.reduce(lesserOf, asked.power_w) }
  }

  #askedAt(bess_id: number, now: number): Asked | null {
    let newest: DispatchHour | null = null
    for (const hour of this.#hours.get(bess_id)?.values() ?? []) {
      if (!isInForce(hour, now)) continue
      if (!newest || hour.schedule_id > newest.schedule_id) newest = hour
    }
    if (!newest) return null
    const { schedule_id, start_at, end_at, quarter_power_kw } = newest
    const quarter_ms = (end_at - start_at) / 4
    const nth = quarter_power_kw === null ? 0 : Math.floor((now - start_at) / quarter_ms)
    return {
      power_w: wattsTowardsZero(powerAt(newest, now)),
      schedule_id,
      interval_start_at: start_at + nth * quarter_ms,
    }
  }

  #of(bess_id: number): Map<string, DispatchHour> {
    const known = this.#hours.get(bess_id) ?? new Map<string, DispatchHour>()
    this.#hours.set(bess_id, known)
    return known
  }
}

function lesserOf(one_w: number, other_w: number): number {
  if (Math.sign(one_w) !== Math.sign(other_w)) return 0
  return Math.abs(one_w) < Math.abs(other_w) ? one_w : other_w
}

function isInForce({ start_at, end_at, ended_at }: DispatchHour, now: number): boolean {
  return ended_at === null && now >= start_at && now < end_at
}
