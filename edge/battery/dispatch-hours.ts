/** The hours of approved schedules that are known: heard, in force, and at last forgotten. */
import { type DispatchHour, hourKey, mergeHour, powerAt } from '@heliograph/domain/dispatch'

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
  readonly #hours = new Map<string, DispatchHour>()

  constructor(hours: readonly DispatchHour[]) {
    for (const hour of hours) this.#hours.set(hourKey(hour), hour)
  }

  get all(): DispatchHour[] {
    return [...this.#hours.values()]
  }

  /** Takes hours in; whether anything of it is news. */
  hear(hours: readonly DispatchHour[], now: number): boolean {
    let is_news = false
    for (const hour of hours) {
      const key = hourKey(hour)
      const known = this.#hours.get(key)
      const merged = known ? mergeHour(known, hour) : hour
      if (known?.ended_at === merged.ended_at && known) continue
      if (!known && hour.end_at < now - forgotten_ms) continue
      this.#hours.set(key, merged)
      is_news = true
    }
    return is_news
  }

  forget(now: number): void {
    for (const [key, { end_at }] of this.#hours) {
      if (end_at < now - forgotten_ms) this.#hours.delete(key)
    }
  }

  /** Whether any hour of it is known, also one that is over. */
  has(bess_id: number): boolean {
    return this.all.some((hour) => hour.bess_id === bess_id)
  }

  /** What the newest schedule says of this instant; null: none does. */
  askedOf(bess_id: number, now: number): Asked | null {
    let newest: DispatchHour | null = null
    for (const hour of this.#hours.values()) {
      if (hour.bess_id !== bess_id || !isInForce(hour, now)) continue
      if (!newest || hour.schedule_id > newest.schedule_id) newest = hour
    }
    if (!newest) return null
    const { schedule_id, start_at, end_at, quarter_power_kw } = newest
    const quarter_ms = (end_at - start_at) / 4
    const nth = quarter_power_kw === null ? 0 : Math.floor((now - start_at) / quarter_ms)
    return {
      power_w: Math.trunc(powerAt(newest, now) * 1000),
      schedule_id,
      interval_start_at: start_at + nth * quarter_ms,
    }
  }
}

function isInForce({ start_at, end_at, ended_at }: DispatchHour, now: number): boolean {
  return ended_at === null && now >= start_at && now < end_at
}
