/**
 * The decision of a tick: the terms of the plants go to the core, its commands come back as orders.
 * Power in whole watts.
 */
import { type Command, decide as decideOn, isControllable, settable } from './core/core.ts'
import { fill, type Part } from './core/share.ts'
import type { Source } from './core/source.ts'
import { isAt, obeys, type State } from './core/worst.ts'
import { type DeviceLimits, restOf, toldOf } from './device-limits.ts'
import type { Ceiling } from './plant-ceilings.ts'
import { groupOf, type SourceBook, site_group } from './source-book.ts'
import { sum } from './sum.ts'

export interface Controlled {
  inverter_id: number
  limits: DeviceLimits
  /** False while nothing can be written to it. */
  has_control: boolean
  /** A write is under way. */
  is_busy: boolean
  /** The site has it no more: it only counts, and nothing waits for it. */
  is_removed?: boolean
}

export interface PlantNow extends Ceiling {
  logger_id: number
  rated_w: number
  /** False until each device was read or has been waited for. */
  is_known: boolean
  devices: readonly Controlled[]
  /** The most that each is to be set to, by inverter_id, where less than its own most. */
  most_w?: ReadonlyMap<number, number> | null
  /** What it may deliver together with its batteries: by its permit, and by all else. */
  joint?: { permit_w: number; asked_w: number }
}

/** Watts by the id of a PCS; see `decide` of the core. */
export interface BatteryWishes {
  requested: ReadonlyMap<string, number>
  kept: ReadonlyMap<string, number>
  /** Of the common connection, what is kept for all of them. */
  site_kept_w: number
  /** Each was read, or has been waited for. */
  is_known: boolean
}

export interface SiteNow {
  plants: readonly PlantNow[]
  /** What the common connection may carry, less its guard. */
  site_w: number | null
  /** Batteries beside the plants. */
  batteries?: BatteryWishes | undefined
  now_ms: number
  /** The most by which the limits of a plant may rise in this tick; null: no ramp. */
  rise_w: ((plant: PlantNow) => number) | null
}

export interface Order {
  inverter_id: number
  limit_w: number
  is_raise: boolean
}

export interface Decision {
  orders: Order[]
  /** By plant. */
  plants: ReadonlyMap<number, PlantDecision>
  /** What each device that can be reached is to come to, by source. */
  targets_w: ReadonlyMap<string, number>
  /** By source: its command, where one is needed. */
  commands: ReadonlyMap<string, Command>
  /** How long until a raise is due that only its device's interval keeps back; infinite: none. */
  raise_in_ms: number
  /** The decision failed its own check: nothing is raised. */
  fault: string | null
}

interface PlantDecision {
  /** The worst case of those of its devices that cannot be commanded now, or do not obey. */
  fixed_w: number
  /** What it is held to, its part of the common connection included. */
  ceiling_w: number
  /** As of now: each device stands, proven, at its target, or was never set below that. */
  readonly is_settled: boolean
}

export function decide(book: SourceBook, site: SiteNow): Decision {
  const { plants, now_ms } = site
  for (const { devices } of plants) {
    for (const { limits, has_control, is_removed } of devices) {
      if (!is_removed) limits.look(has_control, now_ms)
    }
  }
  book.step({ is: 'permits', permits: permitsOf(site), curtailments: curtailmentsOf(site) })
  const requested = new Map(site.batteries?.requested)
  for (const { most_w } of plants) {
    for (const [inverter_id, w] of most_w ?? []) requested.set(String(inverter_id), w)
  }
  const { state } = book
  const { commands, targets_w, fault } = decideOn(state, now_ms, requested, site.batteries?.kept)
  const by_id = new Map<string, Command>()
  for (const command of commands) by_id.set(command.id, command)
  let if_all: ReadonlyMap<number, number> | null = null
  const ifAllObey = (inverter_id: number) => {
    if_all ??= sharesIfAllObey(site, now_ms)
    return if_all.get(inverter_id) ?? 0
  }
  const is_held_jointly = isHeldJointly(site)
  const orders: Order[] = []
  const of_plant = new Map<number, PlantDecision>()
  let raise_in_ms = Number.POSITIVE_INFINITY
  for (const plant of plants) {
    const { logger_id, may_raise, devices } = plant
    let rise_w = site.rise_w?.(plant) ?? Number.POSITIVE_INFINITY
    let fixed_w = 0
    let shares_w = 0
    for (const device of devices) {
      const { inverter_id, has_control, is_busy, is_removed, limits } = device
      const { source } = limits
      const target_w = targets_w.get(source.id)
      if (!isControllable(source, now_ms) || !obeys(source, now_ms)) {
        fixed_w += limits.worst_w(now_ms)
      }
      shares_w += target_w ?? 0
      if (is_removed || !has_control || is_busy) continue
      if (target_w !== undefined && source.was_read && target_w > source.read!.w) {
        const rests_ms = restOf(source, now_ms)
        if (rests_ms > 0) raise_in_ms = Math.min(raise_in_ms, rests_ms)
      }
      const command = by_id.get(source.id)
      if (!command) continue
      const from_w = toldOf(source) ?? 0
      const limit_w = command.w > from_w ? risenTo(source, command.w, from_w + rise_w) : command.w
      if (command.w > from_w && limit_w <= from_w) continue
      rise_w -= Math.max(0, limit_w - from_w)
      orders.push({ inverter_id, limit_w, is_raise: command.is_raise })
    }
    const isSettled = ({ inverter_id, is_removed, limits }: Controlled) => {
      const target_w = targets_w.get(limits.source.id)
      if (is_removed) return true
      if (target_w === undefined) return isReleased(limits, ifAllObey(inverter_id))
      return isReached(limits.source, may_raise ? target_w : ifAllObey(inverter_id))
    }
    of_plant.set(logger_id, {
      fixed_w,
      ceiling_w: is_held_jointly ? heldTo(plant, shares_w + fixed_w) : plant.ceiling_w,
      // Only a plant with an order that ended is asked for that.
      get is_settled() {
        return devices.every(isSettled)
      },
    })
  }
  return { orders, plants: of_plant, targets_w, commands: by_id, raise_in_ms, fault }
}

function permitsOf({ plants, site_w, batteries }: SiteNow): State['permits'] {
  const unbounded = { most_w: Number.POSITIVE_INFINITY, may_raise: true }
  // What is not known of one plant may be using what is left of the common connection.
  const is_all_known = plants.every(({ is_known }) => is_known) && batteries?.is_known !== false
  const is_site_known = site_w === null || is_all_known
  const site = { most_w: site_w ?? Number.POSITIVE_INFINITY, may_raise: is_site_known }
  return new Map([
    [site_group, { export: site, import: unbounded }],
    ...plants.map(({ logger_id, ceiling_w, may_raise, is_known, joint }) => {
      const limit = { most_w: joint?.permit_w ?? ceiling_w, may_raise: may_raise && is_known }
      return [groupOf(logger_id), { export: limit, import: unbounded }] as const
    }),
  ])
}

const curtailmentsOf = ({ plants }: SiteNow): State['curtailments'] =>
  plants.flatMap(({ logger_id, joint }) =>
    joint ? { group: groupOf(logger_id), most_w: joint.asked_w } : [],
  )

/** A step of a ramp: a whole step of the register, or nothing. */
const risenTo = (source: Source, wanted_w: number, most_w: number) =>
  wanted_w <= most_w ? wanted_w : settable(source, Math.floor(most_w))

/** What the common connection leaves to the plants. */
export const leftOf = ({ site_w, batteries }: Pick<SiteNow, 'site_w' | 'batteries'>) =>
  Math.max(0, (site_w ?? Number.POSITIVE_INFINITY) - (batteries?.site_kept_w ?? 0))

function isHeldJointly(site: SiteNow): boolean {
  if (site.site_w === null) return false
  const most_w = sum(site.plants, ({ ceiling_w, devices }) => {
    const of_devices_w = sum(devices, ({ limits }) => limits.static_max_w)
    return Math.min(ceiling_w, of_devices_w)
  })
  return most_w > leftOf(site)
}

/** Each share is rounded down. */
const heldTo = ({ ceiling_w, devices }: PlantNow, part_w: number): number =>
  part_w + devices.length < ceiling_w ? part_w : ceiling_w

/** What each device of site.yaml would have if all obeyed. */
function sharesIfAllObey(site: SiteNow, now_ms: number): Map<number, number> {
  const room_w = [leftOf(site)]
  const ids: number[] = []
  const parts: Part[] = []
  for (const { ceiling_w, devices } of site.plants) {
    const rooms = [0, room_w.push(ceiling_w) - 1]
    for (const { inverter_id, is_removed, limits } of devices) {
      if (is_removed) {
        const worst_w = limits.worst_w(now_ms)
        for (const room of rooms) room_w[room]! -= worst_w
        continue
      }
      const nth = ids.push(inverter_id) - 1
      const want_w = limits.settable_max_w
      if (want_w > 0) parts.push({ nth, rooms, weight: limits.facts.rated_w, want_w })
    }
  }
  const shares_w = new Map(ids.map((inverter_id) => [inverter_id, 0]))
  fill(room_w, parts, (nth, share_w) => shares_w.set(ids[nth]!, share_w))
  return shares_w
}

/** It stands at what it is to be told, or as near as its registers come to that. */
function isReached(source: Source, target_w: number): boolean {
  const { command, read, was_read, tolerance_w } = source
  if (command !== null && !isAt(source, command.w)) return false
  const bound_w = was_read ? read!.w : 0
  return bound_w >= settable(source, target_w) - tolerance_w - 1
}

/** The coarsest registers count in percent: a limit is set to that below a share at most. */
const step_ratio = 0.01

/** By how much a limit has to rise at most so that a device is told another. */
export const coarsestStep = ({ facts, source }: DeviceLimits): number =>
  Math.ceil(step_ratio * facts.rated_w) + source.tolerance_w

/** A silent device may hold nothing that it was once set to below its share. */
function isReleased(limits: DeviceLimits, share_w: number): boolean {
  const { command, under_way, tolerance_w } = limits.source
  const least_w = share_w - coarsestStep(limits) - tolerance_w
  return under_way.every(({ w }) => w >= least_w) && (command === null || command.w >= least_w)
}
