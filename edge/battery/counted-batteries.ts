/**
 * What batteries count with beside the plants, those included that left site.yaml: nobody can
 * command these. Whole watts; by plant, or null: at the common connection, and so all of them.
 */
import type { Stopwatch } from '@heliograph/domain/clock'
import { isControllable, worstIn } from '../control/core/core.ts'
import type { Source } from '../control/core/source.ts'
import { type Kind, obeys, worst } from '../control/core/worst.ts'
import { type ListedPcs, pcsId } from '../control/device-name.ts'
import type { Places } from '../control/places.ts'
import {
  type BatteryInRound,
  type BatteryPower,
  measuredPower,
  type PowerRound,
  type PowerSource,
} from '../control/power-rounds.ts'
import { groupOf, type SourceBook, site_group } from '../control/source-book.ts'
import { sum } from '../control/sum.ts'
import type { ControlledPcs } from './controlled-pcs.ts'
import type { ControlledUnit } from './controlled-unit.ts'
import type { PcsRecord } from './dispatch-store.ts'
import { sourceIdOf } from './pcs-source.ts'

/** A battery of which a PCS has no timer. */
export interface StandingUnit {
  bess_id: number
  /** null: it feeds in at the common connection alone. */
  logger_id: number | null
  /** The most that it is ever told; what its plant falls back to leaves that. */
  reserve_w: number
}

interface CountedNeeds {
  stopwatch: Stopwatch
  book: SourceBook
  /** By `pcsId`. */
  records: ReadonlyMap<string, PcsRecord>
  removed: Places<string, { logger_id: number | null }>
  units(): readonly ControlledUnit[]
  /** Where nobody asked for control of batteries none counts. */
  isAskedFor(): boolean
}

const keyOf = (logger_id: number | null) => (logger_id === null ? site_group : groupOf(logger_id))

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

  /** All that count there. */
  #sources(logger_id: number | null): readonly Source[] {
    const { units, book } = this.#needs
    const here = units().flatMap(({ pcs }) => pcs.map(({ power }) => power.id))
    const ids = new Set([...here, ...this.left().map(sourceIdOf)])
    const group = keyOf(logger_id)
    return [...ids].flatMap((id) => {
      const source = book.source(id)
      return source?.groups.includes(group) ? source : []
    })
  }

  /** Those that cannot be commanded, or do not obey. */
  fixed_w(logger_id: number | null): number {
    const now_ms = this.#now()
    const isFixed = (source: Source) => !isControllable(source, now_ms) || !obeys(source, now_ms)
    return sum(this.#sources(logger_id).filter(isFixed), (source) => this.#worst_w(source))
  }

  /** Without what is measured beyond that. */
  held_w(logger_id: number | null): number {
    const now_ms = this.#now()
    const held_w = sum(this.within(logger_id), (unit) => unit.held_w(now_ms))
    return held_w + this.#left_w(logger_id)
  }

  /** Of those that left it, or moved. */
  #left_w(logger_id: number | null): number {
    const here = new Set(
      this.within(logger_id).flatMap(({ pcs }) => pcs.map(({ power }) => power.id)),
    )
    const left = this.#sources(logger_id).filter(({ id }) => !here.has(id))
    return sum(left, (source) => this.#worst_w(source))
  }

  /** Of plants and batteries together. */
  worstBeside_w(logger_id: number | null, kind: Kind = 'export'): number {
    return worstIn(this.#needs.book.state, keyOf(logger_id), kind, this.#now())
  }

  /** Those of which a PCS goes on with its setpoint where nobody writes any more. */
  standing(): StandingUnit[] {
    return this.within(null)
      .filter(({ bess_id, pcs }) => pcs.some((one) => this.#isStanding(bess_id, one)))
      .map(({ bess_id, logger_id, facts, pcs }) => {
        const rated_w = sum(pcs, (one) => one.rated_w)
        return { bess_id, logger_id, reserve_w: Math.min(facts.rated_discharge_w, rated_w) }
      })
  }

  #isStanding(bess_id: number, { stands, pcs_idx }: ControlledPcs): boolean {
    return stands ?? this.#needs.records.get(pcsId({ bess_id, pcs_idx }))?.stands ?? false
  }

  /** What these, and those that left site.yaml, may go on with. One that moved stands in both. */
  readonly standing_w = (logger_id: number | null): number => {
    const left = this.left().filter((one) => one.logger_id === logger_id)
    const left_ids = new Set(left.map(({ bess_id }) => bess_id))
    const within = this.standing().filter(
      (one) => logger_id === null || one.logger_id === logger_id || left_ids.has(one.bess_id),
    )
    const nowhere = this.#sources(logger_id).filter(({ is_uncontrolled }) => is_uncontrolled)
    return (
      sum(within, ({ reserve_w }) => reserve_w) + sum(nowhere, (source) => this.#worst_w(source))
    )
  }

  /** Where the edge falls silent: all but the standing units that can still be told less. */
  taken_w(logger_id: number | null): number {
    const now_ms = this.#now()
    const standing = new Set(this.standing().map(({ bess_id }) => bess_id))
    const own = this.within(logger_id)
      .filter(({ bess_id }) => standing.has(bess_id))
      .flatMap(({ pcs }) => pcs.map(({ power }) => power.source))
      .filter((source) => isControllable(source, now_ms))
    return (
      this.worstBeside_w(logger_id, 'fallback') - sum(own, (one) => this.#worst_w(one, 'fallback'))
    )
  }

  powerOf(logger_id: number): BatteryPower {
    const now_ms = this.#now()
    const within = this.within(logger_id)
    const unmeasured = within.filter(({ measured_w }) => measured_w === null)
    return {
      measured_w: sum(within, ({ measured_w }) => Math.max(0, measured_w ?? 0)),
      unmeasured_w: sum(unmeasured, (unit) => unit.worst_w(now_ms)) + this.#left_w(logger_id),
    }
  }

  powerSources(): PowerSource[] {
    return this.within(null).flatMap(sourcesOf)
  }

  measuredIn({ power_w }: PowerRound): BatteryInRound[] {
    const now_ms = this.#now()
    const here = this.within(null).map((unit): BatteryInRound => {
      const { bess_id, logger_id, pcs } = unit
      const measured = sourcesOf(unit).map((source) => power_w.get(source) ?? null)
      const missing = pcs.filter((_, nth) => measured[nth] === null)
      const known = measured.filter((one_w) => one_w !== null)
      const sum_w = known.length === 0 ? null : sum(known)
      const missing_w = sum(missing, ({ power }) => power.worst_w(now_ms))
      return { bess_id, logger_id, ...measuredPower(sum_w, missing.length > 0 ? missing_w : null) }
    })
    const { isAskedFor } = this.#needs
    const left = (isAskedFor() ? this.nowhere() : []).map(({ bess_id, logger_id, max_w }) => {
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
    const now_ms = this.#now()
    const within = this.within(logger_id)
    return sum(within, (unit) => unit.measured_w ?? unit.worst_w(now_ms)) + this.#left_w(logger_id)
  }

  /** Each was read, or has been waited for. */
  get is_known(): boolean {
    const now_ms = this.#now()
    return this.within(null).every((unit) => unit.isKnown(now_ms))
  }

  /** Each in one place. */
  listed(): ListedPcs[] {
    return [...this.#here(), ...this.nowhere()]
  }

  /** Each wherever it counts: one that moved, also in the plant that it left. */
  counting(): ListedPcs[] {
    return [...this.#here(), ...this.left()]
  }

  #here(): ListedPcs[] {
    return this.#needs
      .units()
      .flatMap(({ bess_id, logger_id, pcs }) =>
        pcs.map(({ pcs_idx, rated_w: max_w }) => ({ bess_id, pcs_idx, logger_id, max_w })),
      )
  }

  /** Those that site.yaml does not have any more, or not there. */
  left(): ListedPcs[] {
    const { removed, records } = this.#needs
    return [...removed.counting()].flatMap(([logger_id, ids]) =>
      ids.map((id) => {
        const { bess_id, pcs_idx, max_w } = records.get(id)!
        return { bess_id, pcs_idx, logger_id, max_w }
      }),
    )
  }

  /** Those of them that site.yaml has nowhere: the log has each in one place otherwise. */
  nowhere(): ListedPcs[] {
    return this.left().filter((one) => !this.#needs.removed.isHere(pcsId(one)))
  }

  #worst_w(source: Source, kind: Kind = 'export'): number {
    return Math.ceil(worst(this.#needs.book.state, source, kind, this.#now()))
  }

  #now(): number {
    return this.#needs.stopwatch.elapsedMs()
  }
}

const sourcesOf = ({ bess_id, pcs }: ControlledUnit) =>
  pcs.map(({ pcs_idx }): PowerSource => `pcs ${pcsId({ bess_id, pcs_idx })}`)
