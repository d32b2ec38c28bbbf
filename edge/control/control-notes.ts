/** What goes into the control log: what happens, and what holds whenever it is another. */
import type { Clock, Stopwatch } from '@heliograph/domain/clock'
import type { ControlLog, Noted } from './control-entry.ts'
import type { Plant } from './controlled-plants.ts'
import type { Permit } from './permit-terms.ts'

export interface NotesNeeds {
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

const power_every_ms = 60_000
/** Power that changed by so much of what was noted last is noted before that. */
const power_change_ratio = 0.01
/** No sooner: the devices of a plant are read one after the other. */
const power_again_ms = 5000

export class ControlNotes {
  readonly #needs: NotesNeeds
  #permit = ''
  readonly #decisions = new Map<number, string>()
  readonly #powers = new Map<number, { power_w: number | null; at_ms: number }>()

  constructor(needs: NotesNeeds) {
    this.#needs = needs
  }

  async write(entry: Noted): Promise<void> {
    const { clock, log } = this.#needs
    await log.write({ at: clock.now().getTime(), ...entry })
  }

  /** The same, waiting for nothing: what fails is a fault. */
  note(entry: Noted): void {
    this.write(entry).catch((error: unknown) => this.#needs.onFault?.(error as Error))
  }

  site(plants: readonly Plant[]): void {
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

  plant({ worst_w, ...plant }: PlantNote, ceiling_w: number, power_w: number | null): void {
    const { logger_id } = plant
    const entry = { is: 'decision', ...plant, worst_w, ceiling_w } as const
    const text = JSON.stringify(entry)
    if (text !== this.#decisions.get(logger_id)) this.note(entry)
    this.#decisions.set(logger_id, text)
    this.#power(logger_id, power_w)
  }

  #power(logger_id: number, power_w: number | null): void {
    const now_ms = this.#needs.stopwatch.elapsedMs()
    const last = this.#powers.get(logger_id)
    const since_ms = last ? now_ms - last.at_ms : power_every_ms
    const change_w = Math.abs((power_w ?? 0) - (last?.power_w ?? 0))
    const has_changed = change_w > power_change_ratio * Math.abs(last?.power_w ?? 0)
    if (since_ms < (has_changed ? power_again_ms : power_every_ms)) return
    this.#powers.set(logger_id, { power_w, at_ms: now_ms })
    this.note({ is: 'power', logger_id, power_w })
  }
}

const entriesOf = (of_plant: ReadonlyMap<number, number> = new Map()) =>
  [...of_plant].map(([logger_id, permit_w]) => ({ logger_id, permit_w }))
