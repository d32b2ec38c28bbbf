/** What goes into the control log: what happens, and what holds whenever it is another. */
import type { Clock, Stopwatch } from '@heliograph/domain/clock'
import type { ListedPcs } from './battery-shares.ts'
import type { ControlLog, Noted, RoundEntry } from './control-entry.ts'
import type { Plant } from './controlled-plants.ts'
import type { Sun } from './night-watch.ts'
import type { Permit } from './permit-terms.ts'
import { PowerPace } from './power-pace.ts'

interface NotesNeeds {
  clock: Clock
  stopwatch: Stopwatch
  log: ControlLog
  onFault?(error: Error): void
}

interface PlantNote {
  logger_id: number
  held_by: 'none' | 'curtailment' | 'permit'
  may_raise: boolean
  is_known: boolean
  worst_w: number
}

export class ControlNotes {
  readonly #needs: NotesNeeds
  #permit = ''
  #sun: Sun | null = null
  readonly #decisions = new Map<number, string>()
  readonly #power_pace = new PowerPace()

  constructor(needs: NotesNeeds) {
    this.#needs = needs
  }

  async write(entry: Noted): Promise<void> {
    const { clock, log } = this.#needs
    await log.write({ at: clock.now().getTime(), ...entry })
  }

  /** The same; what fails is a fault, not a rejection. */
  async noted(entry: Noted): Promise<void> {
    await this.write(entry).catch((error: unknown) => this.#needs.onFault?.(error as Error))
  }

  /** The same, waiting for nothing. */
  note(entry: Noted): void {
    void this.noted(entry)
  }

  site(plants: readonly Plant[], pcs: readonly ListedPcs[]): void {
    this.note({
      is: 'site',
      plants: plants.map(({ logger_id, devices, removed }) => {
        // The log has each device in one plant.
        const counting = [...devices, ...removed.filter(({ is_moved }) => !is_moved)]
        const inverters = counting.map(({ inverter_id, limits }) => {
          return { inverter_id, max_w: limits.facts.default_max_w }
        })
        return { logger_id, inverters }
      }),
      ...(pcs.length > 0 && { pcs }),
    })
  }

  permit(permit: Permit | null): void {
    const plants = entriesOf(permit?.plant_w)
    const lapsed = permit?.lapsed_w?.size ? { lapsed: entriesOf(permit.lapsed_w) } : {}
    const entry = { is: 'permit', plants, ...lapsed, site_w: permit?.site_w ?? null } as const
    const text = JSON.stringify(entry)
    if (text === this.#permit) return
    this.#permit = text
    this.note(entry)
  }

  /** null: not known yet, and as before the start. */
  sun(sun: Sun | null): void {
    if (sun === null || sun === this.#sun) return
    this.#sun = sun
    this.note({ is: 'sun', sun })
  }

  plant({ worst_w, ...plant }: PlantNote, ceiling_w: number): void {
    const { logger_id } = plant
    const entry = { is: 'decision', ...plant, worst_w, ceiling_w } as const
    const text = JSON.stringify(entry)
    if (text !== this.#decisions.get(logger_id)) this.note(entry)
    this.#decisions.set(logger_id, text)
  }

  /** Each minute, and sooner where something changed. `round_at` null: no round was polled. */
  round({ round_at, plants, batteries }: Omit<RoundEntry, 'is' | 'at'>): void {
    const now_ms = this.#needs.stopwatch.elapsedMs()
    const powers = [...plants, ...batteries].map(({ power_w }) => power_w)
    if (!this.#power_pace.isDue(round_at === null ? null : powers, now_ms)) return
    this.note({ is: 'round', round_at, plants, batteries })
  }
}

const entriesOf = (of_plant: ReadonlyMap<number, number> = new Map()) =>
  [...of_plant].map(([logger_id, permit_w]) => ({ logger_id, permit_w }))
