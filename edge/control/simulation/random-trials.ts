/** A person at commissioning who tries limits at any time, gives them back, or just leaves. */
import type { LimitTrial, LimitTrials } from '../limit-trials.ts'
import type { Chance } from './chance.ts'

export class RandomTrials {
  readonly #chance: Chance
  #trial: LimitTrial | null = null
  /** Trials that were not refused. */
  begun = 0

  constructor(chance: Chance) {
    this.#chance = chance
  }

  /** A second passes. */
  pass(trials: LimitTrials, devices: readonly { inverter_id: number; rated_w: number }[]): void {
    const chance = this.#chance
    if (chance.yes(0.03)) {
      const { inverter_id, rated_w } = chance.pick(devices)
      try {
        this.#trial = trials.begin(inverter_id, chance.between(0, rated_w), 'a person')
        this.begun += 1
      } catch {
        // A refused trial changes nothing.
      }
    }
    if (chance.yes(0.01)) this.#trial?.giveBack()
    if (chance.yes(0.02)) this.end()
  }

  end(): void {
    this.#trial?.end()
    this.#trial = null
  }
}
