/** What goes into the control log: what happens, and what holds whenever it is another. */
import type { Clock, Stopwatch } from '@heliograph/domain/clock'
import type { ControlLog, Noted, RoundEntry } from './control-entry.ts'
import type { Plant } from './controlled-plants.ts'
import type { ListedPcs } from './device-name.ts'
import type { Sun } from './night-watch.ts'
import type { Permit } from './permit-terms.ts'

const every_ms = 60_000
/** Power that changed by so much of what was noted last is noted before that. */
const change_ratio = 0.01
const again_ms = 5000
/** Without a poll round: later than any round comes, and sooner than the proof finds a gap. */
const unmeasured_ms = 130_000

interface NotesNeeds {
  clock: Clock
  stopwatch: Stopwatch
  log: ControlLog
  onFault?(error: Error): void
}

export class ControlNotes {
  readonly #needs: NotesNeeds
  #permit = ''
  #sun: Sun | null = null
  readonly #decisions = new Map<number, string>()
  /** Of the round that was noted last, in the order of plants and batteries. */
  #noted: { powers: readonly (number | null)[]; at_ms: number } | null = null

  constructor(needs: NotesNeeds) {
    this.#needs = needs
  }

  async write(entry: Noted): Promise<void> {
    const { clock, log } = this.#needs
    await log.write({ at: clock.now().getTime(), ...entry })
  }

  /** The same; what fails is a fault, not a rejection. Whether it is on disk. */
  async noted(entry: Noted): Promise<boolean> {
    try {
      await this.write(entry)
      return true
    } catch (error) {
      this.#needs.onFault?.(error as Error)
      return false
    }
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

  decision(entry: Extract<Noted, { is: 'decision' }>): void {
    const text = JSON.stringify(entry)
    if (text !== this.#decisions.get(entry.logger_id)) this.note(entry)
    this.#decisions.set(entry.logger_id, text)
  }

  /** Each minute, and sooner where something changed. `round_at` null: no round was polled. */
  round({ round_at, plants, batteries }: Omit<RoundEntry, 'is' | 'at'>): void {
    const now_ms = this.#needs.stopwatch.elapsedMs()
    const powers =
      round_at === null ? null : [...plants, ...batteries].map(({ power_w }) => power_w)
    const is_first = this.#noted === null && powers !== null
    this.#noted ??= { powers: [], at_ms: now_ms }
    const last = this.#noted
    const is_other = powers !== null && hasChanged(powers, last.powers)
    const pace_ms = powers === null ? unmeasured_ms : is_other ? again_ms : every_ms
    if (!is_first && now_ms - last.at_ms < pace_ms) return
    this.#noted = { powers: powers ?? last.powers, at_ms: now_ms }
    this.note({ is: 'round', round_at, plants, batteries })
  }
}

const entriesOf = (of_plant: ReadonlyMap<number, number> = new Map()) =>
  [...of_plant].map(([logger_id, permit_w]) => ({ logger_id, permit_w }))

const hasChanged = (powers: readonly (number | null)[], before: readonly (number | null)[]) =>
  powers.some((power_w, nth) => {
    const last_w = before[nth] ?? 0
    return Math.abs((power_w ?? 0) - last_w) > change_ratio * Math.abs(last_w)
  })
