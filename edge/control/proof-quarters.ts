/** Measured power by quarter of an hour. */
import { quarter_ms } from '@heliograph/domain/durations'
import type { MeasuredPower } from './power-rounds.ts'

export interface PowerQuarter {
  from_at: number
  /** Of a battery, its connection; null: the common one. */
  logger_id: number | null
  /** Where it is of a battery: of that alone. */
  bess_id?: number
  samples: number
  /** Further poll rounds that did not measure all of it: their part counts in `max_w` alone. */
  incomplete: number
  min_w: number | null
  max_w: number | null
  /** Of the plant; of a battery null, which has none of its own. */
  permit_w: number | null
}

type Of = Pick<PowerQuarter, 'logger_id' | 'bess_id' | 'permit_w'>

export class PowerQuarters {
  readonly #onQuarter: (quarter: PowerQuarter) => void
  readonly #open = new Map<string, PowerQuarter>()

  constructor(onQuarter: (quarter: PowerQuarter) => void) {
    this.#onQuarter = onQuarter
  }

  add(of: Of, { power_w, at_most_w }: MeasuredPower, at: number): void {
    const from_at = Math.floor(at / quarter_ms) * quarter_ms
    const key = of.bess_id === undefined ? `plant ${of.logger_id}` : `battery ${of.bess_id}`
    let quarter = this.#open.get(key)
    if (quarter?.from_at !== from_at) {
      if (quarter) this.#onQuarter(quarter)
      quarter = { from_at, ...of, samples: 0, incomplete: 0, min_w: null, max_w: null }
      this.#open.set(key, quarter)
    }
    if (power_w === null) return
    quarter.max_w = Math.max(quarter.max_w ?? power_w, power_w)
    if (at_most_w !== undefined) {
      quarter.incomplete += 1
      return
    }
    quarter.samples += 1
    quarter.min_w = Math.min(quarter.min_w ?? power_w, power_w)
  }

  end(): void {
    for (const quarter of this.#open.values()) this.#onQuarter(quarter)
  }
}
