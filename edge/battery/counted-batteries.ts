/**
 * What batteries count with beside the plants, those included that left site.yaml: nobody can
 * command these. Whole watts; by plant, or null: at the common connection, and so all of them.
 */
import type { Stopwatch } from '@heliograph/domain/clock'
import type {
  BatteryInRound,
  BatteryPower,
  JointCeilings,
  ListedPcs,
} from '../control/battery-shares.ts'
import { pcsId } from '../control/pcs-name.ts'
import { measuredPower, type PowerRound, type PowerSource } from '../control/power-rounds.ts'
import type { ControlledUnit } from './controlled-unit.ts'
import type { PcsPlaces } from './removed-pcs.ts'
import type { StandingUnit } from './standing-room.ts'

interface CountedNeeds {
  stopwatch: Stopwatch
  removed: PcsPlaces
  units(): readonly ControlledUnit[]
  /** Where nobody asked for control of batteries none counts. */
  isAskedFor(): boolean
}

export class CountedBatteries {
  readonly #needs: CountedNeeds

  constructor(needs: CountedNeeds) {
    this.#needs = needs
  }

  /** Of site.yaml. */
  within(logger_id: number | null): readonly ControlledUnit[] {
    const { units, isAskedFor } = this.#needs
    const all = isAskedFor() ? units() : []
    return logger_id === null ? all : all.filter((unit) => unit.logger_id === logger_id)
  }

  worst_w(logger_id: number | null): number {
    return this.worstHere_w(logger_id) + this.left_w(logger_id)
  }

  /** Without what is measured beyond that. */
  held_w(logger_id: number | null): number {
    const now_ms = this.#needs.stopwatch.elapsedMs()
    const held_w = sum(this.within(logger_id), (unit) => unit.held_w(now_ms))
    return held_w + this.left_w(logger_id)
  }

  fixed_w(logger_id: number | null): number {
    return this.fixedHere_w(logger_id) + this.left_w(logger_id)
  }

  worstHere_w(logger_id: number | null): number {
    const now_ms = this.#needs.stopwatch.elapsedMs()
    return sum(this.within(logger_id), (unit) => unit.worst_w(now_ms))
  }

  fixedHere_w(logger_id: number | null): number {
    const now_ms = this.#needs.stopwatch.elapsedMs()
    return sum(this.within(logger_id), (unit) => unit.fixed_w(now_ms))
  }

  /** Of those that left it. */
  left_w(logger_id: number | null): number {
    const { removed, isAskedFor } = this.#needs
    return isAskedFor() ? removed.worst_w(logger_id) : 0
  }

  /** Those of which a PCS goes on with its setpoint where nobody writes any more. */
  standing(): StandingUnit[] {
    const { stopwatch, removed } = this.#needs
    const now_ms = stopwatch.elapsedMs()
    const isStanding = ({ bess_id, pcs }: ControlledUnit) =>
      pcs.some(({ pcs_idx, stands }) => stands ?? removed.stands({ bess_id, pcs_idx }))
    return this.within(null)
      .filter(isStanding)
      .map((unit) => {
        const { bess_id, logger_id, facts, pcs } = unit
        const rated_w = sum(pcs, (one) => one.rated_w)
        const reserve_w = Math.min(facts.rated_discharge_w, rated_w)
        return { bess_id, logger_id, reserve_w, fixed_w: unit.fixed_w(now_ms) }
      })
  }

  /** What these, and those that left site.yaml, may go on with. */
  standing_w(logger_id: number | null): number {
    const within = this.standing().filter(
      (one) => logger_id === null || one.logger_id === logger_id,
    )
    return sum(within, ({ reserve_w }) => reserve_w) + this.left_w(logger_id)
  }

  powerOf(logger_id: number): BatteryPower {
    const now_ms = this.#needs.stopwatch.elapsedMs()
    const within = this.within(logger_id)
    const unmeasured = within.filter(({ measured_w }) => measured_w === null)
    return {
      measured_w: sum(within, ({ measured_w }) => Math.max(0, measured_w ?? 0)),
      unmeasured_w: sum(unmeasured, (unit) => unit.worst_w(now_ms)) + this.left_w(logger_id),
    }
  }

  powerSources(): PowerSource[] {
    return this.within(null).flatMap(sourcesOf)
  }

  measuredIn({ power_w }: PowerRound): BatteryInRound[] {
    const now_ms = this.#needs.stopwatch.elapsedMs()
    const here = this.within(null).map((unit): BatteryInRound => {
      const { bess_id, logger_id, pcs } = unit
      const measured = sourcesOf(unit).map((source) => power_w.get(source) ?? null)
      const missing = pcs.filter((_, nth) => measured[nth] === null)
      const known = measured.filter((one_w) => one_w !== null)
      const sum_w = known.length === 0 ? null : sum(known, (one_w) => one_w)
      const missing_w = sum(missing, ({ power }) => power.worst_w(now_ms))
      return { bess_id, logger_id, ...measuredPower(sum_w, missing.length > 0 ? missing_w : null) }
    })
    const { removed, isAskedFor } = this.#needs
    const left = (isAskedFor() ? removed.nowhere() : []).map(({ bess_id, logger_id, max_w }) => {
      return { bess_id, logger_id, ...measuredPower(null, max_w) }
    })
    return [...here, ...left]
  }

  /** The longest time that a PCS needs to come down. */
  get comes_down_ms(): number {
    const all = this.within(null).flatMap(({ pcs }) => pcs)
    return Math.max(0, ...all.map(({ power }) => power.comes_down_ms))
  }

  /** Negative while they charge. */
  net_w(logger_id: number | null): number {
    const now_ms = this.#needs.stopwatch.elapsedMs()
    const within = this.within(logger_id)
    return sum(within, (unit) => unit.measured_w ?? unit.worst_w(now_ms)) + this.left_w(logger_id)
  }

  isKnown(logger_id: number | null): boolean {
    const now_ms = this.#needs.stopwatch.elapsedMs()
    return this.within(logger_id).every((unit) => unit.isKnown(now_ms))
  }

  listed(): ListedPcs[] {
    const { units, removed } = this.#needs
    const here = units().flatMap(({ bess_id, logger_id, pcs }) =>
      pcs.map(({ pcs_idx, rated_w: max_w }) => ({ bess_id, pcs_idx, logger_id, max_w })),
    )
    return [...here, ...removed.nowhere()]
  }

  /** What plants and batteries of site.yaml may have beside those that left it. */
  beside({ plants, site_w, ...joint }: JointCeilings): JointCeilings {
    const left = plants.map(({ ceiling_w, row_w, ...plant }) => {
      const left_w = this.left_w(plant.logger_id)
      return { ...plant, ceiling_w: ceiling_w - left_w, row_w: row_w - left_w }
    })
    return { ...joint, plants: left, site_w: site_w === null ? null : site_w - this.left_w(null) }
  }
}

const sourcesOf = ({ bess_id, pcs }: ControlledUnit) =>
  pcs.map(({ pcs_idx }): PowerSource => `pcs ${pcsId({ bess_id, pcs_idx })}`)

export const sum = <Of>(all: readonly Of[], of: (one: Of) => number) =>
  all.reduce((total, one) => total + of(one), 0)
