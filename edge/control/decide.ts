/**
 * The decision of a tick: which limits to set now, so that what all devices may deliver at worst
 * never exceeds what their plant, and the common connection, may. Power in whole watts.
 *
 * Lowers go at once. A raise goes only when everything that has to come down for it has been read
 * back, and only as far as the sum of worst cases allows. There is no "unlimited": the end of a
 * curtailment is the same sum with another ceiling.
 */
import type { Ceiling } from './ceiling.ts'
import type { DeviceLimits } from './device-limits.ts'
import { sharePlants, waterFill } from './share.ts'

export interface Controlled {
  inverter_id: number
  limits: DeviceLimits
  /** The highest limit at or below this that its registers hold; null while it has no control. */
  settable: ((limit_w: number) => number) | null
  /** A write is under way. */
  is_busy: boolean
  /** The site has it no more: it only counts, and nothing waits for it. */
  is_removed?: boolean
  /** That was set again and again to no effect, and is left alone for a while. */
  isVain?(limit_w: number): boolean
}

export interface PlantNow extends Ceiling {
  logger_id: number
  rated_w: number
  /** False until each device was read or has been waited for. */
  is_known: boolean
  devices: readonly Controlled[]
  /** The most that each is to be set to, by inverter_id, where less than its own most. */
  most_w?: ReadonlyMap<number, number> | null
}

export interface SiteNow {
  plants: readonly PlantNow[]
  /** What the common connection may carry, less its guard and what else feeds into it. */
  site_w: number | null
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
  /** What each device that can be reached is to come to, by inverter_id. */
  targets_w: ReadonlyMap<number, number>
  /** How long until a raise is due that only its device's interval keeps back; infinite: none. */
  raise_in_ms: number
}

interface PlantDecision {
  /** Of all its devices, and of those that cannot be commanded now. */
  worst_w: number
  fixed_w: number
  /** What it is held to, its part of the common connection included. */
  ceiling_w: number
  /** Each device stands, proven, at what it is to be set to, or was never set below that. */
  is_settled: boolean
}

/** @throws {Error} where its own sums do not hold: then nothing may be set */
export function decide(site: SiteNow): Decision {
  const { plants, now_ms } = site
  const parts = plants.map((plant) => partOf(plant, isCommandable, now_ms))
  const ceilings = sharePlants(site.site_w, parts)
  // What each plant would have if those that can be reached but do not obey did.
  const if_obeying = sharePlants(
    site.site_w,
    plants.map((plant) => partOf(plant, isReachable, now_ms)),
  )
  // What each would have if all did: what is silent may still be held below that.
  const if_all = sharePlants(
    site.site_w,
    plants.map((plant) => partOf(plant, ({ is_removed }) => !is_removed, now_ms)),
  )
  const site_left_w = (site.site_w ?? Number.POSITIVE_INFINITY) - sumFixed(parts)
  const worst = plants.map((plant) => worstOf(plant, now_ms))
  const orders: Order[] = []
  let site_worst_w = worst.reduce((sum, plant_w) => sum + plant_w, 0)
  // What is not known of one plant may be using what is left of the common connection.
  const is_site_known = site.site_w === null || plants.every(({ is_known }) => is_known)
  const of_plant = new Map<number, PlantDecision>()
  const targets_w = new Map<number, number>()
  let raise_in_ms = Number.POSITIVE_INFINITY
  plants.forEach((plant, nth) => {
    const ceiling_w = ceilings[nth]!
    const { fixed_w } = parts[nth]!
    const short_w = Math.min(site_left_w, ceiling_w - fixed_w)
    const targets = targetsOf(plant, { ceiling_w, if_obeying_w: if_obeying[nth]!, short_w }, now_ms)
    for (const { device, target_w } of targets) targets_w.set(device.inverter_id, target_w)
    const is_settled = targets.every(isReached) && isReleased(plant, if_all[nth]!, now_ms)
    of_plant.set(plant.logger_id, { worst_w: worst[nth]!, fixed_w, ceiling_w, is_settled })
    const may_raise = plant.may_raise && plant.is_known && is_site_known
    orders.push(...lowers(plant.is_kept ? targets.map(kept) : targets, now_ms))
    if (!may_raise) return
    let plant_worst_w = worst[nth]!
    let rise_w = site.rise_w?.(plant) ?? Number.POSITIVE_INFINITY
    for (const { device, target_w, stands_w } of raisable(targets, now_ms)) {
      const rests_ms = device.limits.restsFor(now_ms)
      if (rests_ms > 0) {
        raise_in_ms = Math.min(raise_in_ms, rests_ms)
        continue
      }
      const worst_w = device.limits.worst_w(now_ms)
      const site_room_w = (site.site_w ?? Number.POSITIVE_INFINITY) - site_worst_w
      const room_w = Math.max(0, Math.min(ceiling_w - plant_worst_w, site_room_w))
      // The others may have the share of one that failed: it is asked for what is left.
      const most_w = device.limits.is_failing ? worst_w + room_w : target_w
      // A target is what it is told already, to hold no more than its share.
      const from_w = Math.max(stands_w, device.limits.told_w!)
      const told_w = Math.min(target_w, most_w, from_w + rise_w)
      const wanted_w = told_w === target_w ? target_w : device.settable!(told_w)
      const more_w = Math.max(0, device.limits.comesTo_w(wanted_w) - worst_w)
      if (wanted_w <= from_w || device.isVain?.(wanted_w)) continue
      if (plant_worst_w + more_w > ceiling_w) continue
      if (site.site_w !== null && site_worst_w + more_w > site.site_w) continue
      plant_worst_w += more_w
      site_worst_w += more_w
      rise_w -= wanted_w - from_w
      orders.push({ inverter_id: device.inverter_id, limit_w: wanted_w, is_raise: true })
    }
  })
  check(site, orders)
  return { orders, plants: of_plant, targets_w, raise_in_ms }
}

/** The coarsest registers count in percent: a limit is set to that below a share at most. */
const step_ratio = 0.01

/** By how much a limit has to rise at most so that a device is told another. */
export const coarsestStep = ({ facts, rounding }: DeviceLimits): number =>
  Math.ceil(step_ratio * facts.rated_w) + rounding.tolerance_w + rounding.step_w

interface Target {
  device: Controlled
  target_w: number
  /** The limit that it stands at. */
  stands_w: number
}

function isReachable({ limits, settable }: Controlled, now_ms: number): boolean {
  return settable !== null && limits.isFresh(now_ms)
}

/** Obeys now, as far as is known. */
function isCommandable(device: Controlled, now_ms: number): boolean {
  return device.settable !== null && device.limits.obeys(now_ms)
}

function partOf(
  { rated_w, ceiling_w, devices }: PlantNow,
  isFree: (device: Controlled, now_ms: number) => boolean,
  now_ms: number,
) {
  const fixed = devices.filter((device) => !isFree(device, now_ms))
  const free = devices.filter((device) => isFree(device, now_ms))
  const least_w = free.reduce((sum, { limits }) => sum + limits.least_held_w, 0)
  return { rated_w, ceiling_w, fixed_w: sumWorst(fixed, now_ms) + least_w }
}

function worstOf({ devices }: PlantNow, now_ms: number): number {
  return sumWorst(devices, now_ms)
}

function sumWorst(devices: readonly Controlled[], now_ms: number): number {
  return devices.reduce((sum, { limits }) => sum + limits.worst_w(now_ms), 0)
}

const sumFixed = (parts: readonly { fixed_w: number }[]) =>
  parts.reduce((sum, { fixed_w }) => sum + fixed_w, 0)

interface Room {
  ceiling_w: number
  /** The ceiling if those that can be reached but do not obey did. */
  if_obeying_w: number
  /** What is left beside those that do not obey; negative: they are too many by themselves. */
  short_w: number
}

/** What each device that can be reached is to be set to. */
function targetsOf({ devices, most_w }: PlantNow, room: Room, now_ms: number): Target[] {
  const obeying = devices.filter((device) => isCommandable(device, now_ms))
  const others = devices.filter((device) => !isCommandable(device, now_ms))
  const targets = sharedBesideLeast(obeying, room.ceiling_w - sumWorst(others, now_ms), most_w)
  // One that does not obey is told on what it would have if it did, or if it alone did.
  const told = others.filter((device) => isReachable(device, now_ms))
  if (told.length === 0) return targets
  const silent_w = sumWorst(others, now_ms) - sumWorst(told, now_ms)
  const asked = shared([...obeying, ...told], room.if_obeying_w - silent_w).slice(obeying.length)
  if (room.short_w >= 0) return [...targets, ...asked]
  return [
    ...targets,
    ...asked.map((target) => {
      const alone_w = Math.max(0, target.device.limits.worst_w(now_ms) + room.short_w)
      if (target.target_w <= alone_w) return target
      return { ...target, target_w: target.device.settable!(alone_w) }
    }),
  ]
}

/** What devices go on with that were told 0, the others leave to them. */
function sharedBesideLeast(
  devices: readonly Controlled[],
  total_w: number,
  most_w: PlantNow['most_w'],
): Target[] {
  const targets = shared(devices, total_w, most_w)
  const least = targets.filter(({ device, target_w }) => {
    return target_w === 0 && device.limits.least_held_w > 0
  })
  if (least.length === 0) return targets
  const least_w = least.reduce((sum, { device }) => sum + device.limits.least_held_w, 0)
  const others = devices.filter((device) => !least.some((one) => one.device === device))
  return [...least, ...sharedBesideLeast(others, total_w - least_w, most_w)]
}

function shared(
  devices: readonly Controlled[],
  total_w: number,
  most_w: PlantNow['most_w'] = null,
): Target[] {
  const shares = waterFill(
    total_w,
    devices.map((device) => {
      const { weight, max_w } = partOfDevice(device)
      return { weight, max_w: Math.min(max_w, most_w?.get(device.inverter_id) ?? max_w) }
    }),
  )
  return devices.map((device, nth) => {
    const share_w = shares[nth]!
    const told_w = device.settable!(share_w)
    if (!(told_w >= 0 && told_w <= share_w)) {
      throw new Error(`inverter ${device.inverter_id}: its registers do not round its limit down`)
    }
    const { limits } = device
    const stands_w = limits.stands_w!
    // It is not lowered further to leave room for rounding.
    const target_w = limits.isHeldWithin(share_w) ? Math.max(told_w, stands_w) : told_w
    return { device, target_w, stands_w }
  })
}

/** How it takes part in the ceiling of its plant. */
export const partOfDevice = ({
  limits: { facts, settable_max_w },
}: Pick<Controlled, 'limits'>) => ({
  weight: facts.rated_w,
  max_w: settable_max_w,
})

const isReached = ({ device: { limits }, target_w }: Target) => limits.standsAt(target_w)

/** None of its silent devices may still hold what we once set it to below its share. */
function isReleased({ devices }: PlantNow, all_w: number, now_ms: number): boolean {
  const there = devices.filter(({ is_removed }) => !is_removed)
  const removed = devices.filter(({ is_removed }) => is_removed)
  const shares = waterFill(all_w - sumWorst(removed, now_ms), there.map(partOfDevice))
  return there.every((device, nth) => {
    if (isReachable(device, now_ms)) return true
    const { is_proven, record, rounding } = device.limits
    const least_w = shares[nth]! - coarsestStep(device.limits) - rounding.tolerance_w
    return is_proven && (record.written_w === null || record.written_w >= least_w)
  })
}

/** The most that it held when it was read last, by what we know of it: our limit, or another's. */
export function heldAt({ is_proven, record, external_max_w }: DeviceLimits): number {
  const { written_w } = record
  return is_proven && written_w !== null ? Math.min(written_w, external_max_w) : external_max_w
}

const kept = (target: Target): Target => ({
  ...target,
  target_w: Math.min(target.target_w, heldAt(target.device.limits)),
})

function lowers(targets: readonly Target[], now_ms: number): Order[] {
  return targets.flatMap(({ device, target_w, stands_w }) => {
    const { limits, inverter_id, is_busy, settable } = device
    // What was begun and not read back may be done yet, and a timer may run out: both end with a
    // write, which is never above what it may hold now.
    const most_w = limits.comesTo_w(target_w)
    const is_open = !limits.isSettled(now_ms) && limits.held_w(now_ms) > most_w
    // What was begun in vain, and is not wanted any more, would keep it in doubt for ever.
    const is_in_doubt = !limits.is_proven && stands_w === target_w
    if (is_busy || !(stands_w > target_w || is_open || is_in_doubt)) return []
    const limit_w = target_w <= limits.least_w! ? target_w : settable!(limits.least_w!)
    if (limits.waitsWith(limit_w, now_ms)) return []
    if (stands_w <= target_w && limits.is_sinking) return []
    if (device.isVain?.(limit_w)) return []
    return [{ inverter_id, limit_w, is_raise: false }]
  })
}

function raisable(targets: readonly Target[], now_ms: number): Target[] {
  return targets.filter(
    ({ device: { limits, is_busy }, target_w, stands_w }) =>
      target_w > stands_w &&
      !limits.standsAt(target_w) &&
      !is_busy &&
      !limits.isApplying(now_ms) &&
      !(limits.held_w(now_ms) > limits.comesTo_w(target_w)),
  )
}

/** The invariant itself, summed up anew from the orders. */
function check({ plants, site_w, now_ms }: SiteNow, orders: readonly Order[]): void {
  const raised = new Map(
    orders
      .filter(({ is_raise }) => is_raise)
      .map(({ inverter_id, limit_w }) => [inverter_id, limit_w]),
  )
  let all_w = 0
  let is_any = false
  for (const { logger_id, ceiling_w, devices } of plants) {
    let sum_w = 0
    let is_raised = false
    for (const { inverter_id, limits } of devices) {
      const limit_w = raised.get(inverter_id)
      sum_w += Math.max(
        limits.worst_w(now_ms),
        limit_w === undefined ? 0 : limits.comesTo_w(limit_w),
      )
      is_raised ||= limit_w !== undefined
      if (limit_w !== undefined && !(limit_w <= limits.settable_max_w)) {
        throw new Error(`inverter ${inverter_id} would be raised above what is not ours to lift`)
      }
    }
    all_w += sum_w
    is_any ||= is_raised
    if (is_raised && !(sum_w <= ceiling_w))
      throw new Error(`plant ${logger_id} would be raised too far`)
  }
  if (is_any && site_w !== null && !(all_w <= site_w))
    throw new Error('the site would be raised too far')
}
