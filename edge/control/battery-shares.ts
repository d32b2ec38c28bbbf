/**
 * Batteries beside the plants: their PCS are sources of the core as the inverters are. What is kept
 * for them the plants leave to them. Whole watts. Batteries that charge make no room for anybody.
 */
import type { CurtailmentRow } from '@heliograph/domain/curtailment'
import type { WallTime } from './clock-watch.ts'
import type { ControlledPlants, Plant } from './controlled-plants.ts'
import type { BatteryWishes, Decision } from './decide.ts'
import type { PcsKey } from './pcs-name.ts'
import type { Permit } from './permit-terms.ts'
import { jointCeilingUnder } from './plant-ceilings.ts'
import type { MeasuredPower, PowerRound, PowerRounds, PowerSource } from './power-rounds.ts'
import type { PlantPower } from './row-watch.ts'
import type { SourceBook } from './source-book.ts'

/** What a plant may deliver together with its batteries, and the common connection with all. */
export interface JointCeilings extends WallTime {
  permit: Permit | null
  /** By the stopwatch. */
  now_ms: number
  /** False: the clock jumped, and is not trusted yet. */
  is_settled: boolean
  plants: readonly JointCeiling[]
  /** Of the common connection; null: there is none. */
  site_w: number | null
}

export interface JointCeiling {
  logger_id: number
  /** The least of its permit and rows; infinite: there is neither. */
  ceiling_w: number
  /** By its permit alone. */
  permit_w: number
  /** The least of its rows; infinite: none is in force. */
  row_w: number
  /** What its devices deliver; of those that do not obey, all that they may. */
  power_w: number
  /** The most that its devices could deliver, whatever they are told. */
  most_w: number
  /** Each of its devices was read, or has been waited for. */
  is_known: boolean
}

export interface ListedPcs extends PcsKey {
  /** Where it counts; null: at the common connection alone. */
  logger_id: number | null
  /** The most that it may discharge. */
  max_w: number
}

/** PCS that site.yaml does not have any more, or not there, and that count all the same. */
export interface RemovedPcs {
  counting(): readonly ListedPcs[]
  /** By this request it was said before that it is disconnected. */
  isFreedBy(pcs: PcsKey, request_id: string): boolean
  /** Why nobody can say that it is disconnected; null: it counts, and need not. */
  refusalOf(pcs: PcsKey): string | null
  free(pcs: PcsKey, request_id: string): void
}

export interface Batteries {
  /** What the core knows of all devices. */
  readonly book: SourceBook
  readonly removed: RemovedPcs
  /** Makes durable what is known of them. */
  save(): Promise<void>
  /** What the site has of them, those that left it and count on included. */
  listed(): readonly ListedPcs[]
  /** At each tick, before limits are decided on. */
  plan(ceilings: JointCeilings): BatteryWishes
  /** After that. */
  act(decision: Decision | null): void
  /** Something newer is not decided on yet: what was to be raised waits for that. */
  onNews(): void
  /** What comes off a ceiling for them. null: of the common connection, those of plants too. */
  share_w(logger_id: number | null): number
  /** What they may discharge by their setpoints, without what is measured beyond these. */
  held_w(logger_id: number | null): number
  /** What those may discharge at worst that do not obey. */
  fixed_w(logger_id: number | null): number
  /** What they deliver: positive when they discharge; those not measured, all that they may. */
  net_w(logger_id: number | null): number
  /** The longest time that one of them needs to come down. */
  readonly comes_down_ms: number
  /** What they may go on discharging with where the edge falls silent. */
  readonly standing_w: (logger_id: number | null) => number
  /** What is measured of their discharge, and what those may discharge that are not measured. */
  powerOf(logger_id: number): BatteryPower
  /** Where measurements are gathered by poll round, those of plants too. */
  readonly rounds: PowerRounds
  readonly powerSources: () => readonly PowerSource[]
  /** Of each battery, those included that left site.yaml and count on. */
  readonly measuredIn: (round: PowerRound) => readonly BatteryInRound[]
}

/** Positive when it discharges. */
export interface BatteryInRound extends MeasuredPower {
  bess_id: number
  /** Where it counts; null: at the common connection alone. */
  logger_id: number | null
}

export type BatteryPower = Pick<PlantPower, 'measured_w' | 'unmeasured_w'>

interface Under {
  permit: Permit | null
  /** In force, by plant. */
  rows: ReadonlyMap<number, readonly CurtailmentRow[]>
  now_ms: number
}

/** @param cutOf what comes off the permit of a plant */
export function jointCeilings(
  known: ControlledPlants,
  { permit, rows, now_ms }: Under,
  cutOf: (logger_id: number) => number,
): Pick<JointCeilings, 'permit' | 'now_ms' | 'plants'> {
  const plants = known.counted.map((plant) => {
    const { logger_id } = plant
    const terms = { permit, rows: rows.get(logger_id) ?? [] }
    const joint = jointCeilingUnder(plant, terms, cutOf(logger_id))
    const is_known = known.isKnown(plant, now_ms)
    const { devices, removed } = plant
    const removed_w = sum(removed.map(({ limits }) => limits.ceiling_w))
    const asleep = known.is_night ? known.silentOf(plant, now_ms) : []
    const asleep_most_w = sum(asleep.map(({ limits }) => limits.ceiling_w))
    return {
      ...joint,
      is_known,
      power_w: pressingPower(plant, now_ms),
      most_w: removed_w + sum(devices.map(({ limits }) => limits.ceiling_w)) - asleep_most_w,
    }
  })
  return { permit, now_ms, plants }
}

/** What a plant is about to deliver: one that does not obey counts with all that it may. */
function pressingPower({ devices, removed }: Plant, now_ms: number): number {
  const of_devices = devices.map(({ limits, power }) => {
    const power_w = limits.obeys(now_ms) ? (power?.power_w ?? null) : null
    return power_w === null ? limits.worst_w(now_ms) : Math.max(0, power_w)
  })
  const of_removed = removed.map(({ limits }) => limits.worst_w(now_ms))
  return sum([...of_devices, ...of_removed])
}

const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0)
