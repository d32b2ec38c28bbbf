/**
 * The controller itself among the simulated plants: on virtual time, with a disk that may be slow
 * or full, and with polls as the edge's loop does them. Here a poll takes its time, may overlap a
 * write, and gives a device up after three misses; a program that is killed never hears of what
 * was under way, but the device may.
 */

import {
  type CurtailmentRow,
  isInForce,
  mergeRow,
  type RowReport,
  rowKey,
} from '@heliograph/domain/curtailment'
import type { LinkEvent } from '@heliograph/domain/link'
import { idleDispatcher } from '../../battery/fixtures/idle-dispatcher.ts'
import { BusError } from '../../bus/bus-error.ts'
import { Conditions } from '../../conditions.ts'
import type { LimitControl } from '../../drivers/limit-control.ts'
import { type VirtualClock, virtualClock } from '../../fixtures/virtual-clock.ts'
import type { Noted } from '../control-entry.ts'
import { isSound } from '../controlled-device.ts'
import { Controller } from '../controller.ts'
import { type Chance, chanceOf, seedOf } from './chance.ts'
import { ContactPolls } from './contact-polls.ts'
import type { SimulatedDevice } from './device.ts'
import { readLimit, settable, traitsOf, writeLimit } from './device-driver.ts'
import { Broken } from './judge.ts'
import { LabelJudge, type LabelMoment } from './label-judge.ts'
import type { Machine, MachineNeeds } from './machine.ts'
import { OutsideSources } from './outside-sources.ts'
import { RandomTrials } from './random-trials.ts'
import { siteOf } from './simulated-site.ts'
import { DiskError, SlowDisk } from './slow-disk.ts'
import { poll_ms, tick_ms } from './world.ts'

const timeout_ms = 1000
/** Clocks that are closer together are taken for the same. */
const apart_ms_min = 10_000

export async function controllerMachine(needs: MachineNeeds): Promise<Machine> {
  return new ControllerMachine(needs, await noConditions(), false)
}

/** The same, with sources outside the platform that order limits too. */
export async function outsideMachine(needs: MachineNeeds): Promise<Machine> {
  return new ControllerMachine(needs, await noConditions(), true)
}

const noConditions = () => Conditions.open('/nonexistent/conditions.json')

class ControllerMachine implements Machine {
  readonly #needs: MachineNeeds
  readonly #conditions: Conditions
  readonly #clock: VirtualClock
  readonly #chance: Chance
  readonly #disk: SlowDisk
  readonly #labels = new LabelJudge()
  /** In one world of four; null: nobody tries a limit. */
  readonly #trials: RandomTrials | null
  /** null: nobody but the server orders anything. */
  readonly #outside: OutsideSources | null
  /** What each plant was last said to be held to, in W. */
  readonly #ceilings_w = new Map<number, number>()
  readonly #devices: ReadonlyMap<number, SimulatedDevice>
  #controller: Controller | null = null
  /** Of the server's time over the stopwatch, as this program was told at its last contact. */
  #server_offset_ms: number | null = null
  #was_linked = false
  /** Counts the programs: what an earlier one began tells nobody any more. */
  #run = 0
  /** Rows as this program heard of them, and as all programs did together. */
  #heard = new Map<string, CurtailmentRow>()
  readonly #known = new Map<string, CurtailmentRow>()
  /** Rows of which the newest report says that the devices were read to hold them. */
  readonly #applied = new Map<string, { row: CurtailmentRow; applied_at: number }>()
  /** When those that have ended were applied: told again, that is no news. */
  readonly #ended = new Map<string, number>()
  /** What the program took in last of each device. */
  readonly #found = new Map<number, string>()
  /** A file was once accepted; one that it gives way to may have no entries. */
  #has_permit = false
  #broken: Error | null = null

  constructor(needs: MachineNeeds, conditions: Conditions, has_outside: boolean) {
    const { world, seed } = needs
    this.#needs = needs
    this.#conditions = conditions
    this.#clock = virtualClock(new Date(world.wall_ms).toISOString())
    this.#chance = chanceOf(seedOf(seed, 1))
    this.#disk = new SlowDisk(this.#clock, this.#chance)
    const trial_chance = chanceOf(seedOf(seed, 4))
    this.#trials = trial_chance.yes(0.25) ? new RandomTrials(trial_chance) : null
    const outside_chance = chanceOf(seedOf(seed, 5))
    this.#outside = has_outside
      ? new OutsideSources(outside_chance, world, (error) => this.#break(error))
      : null
    this.#devices = new Map(world.devices.map((device) => [device.build.inverter_id, device]))
  }

  start(): void {
    const { world } = this.#needs
    this.#labels.started({ now: this.#clock.now().getTime(), now_ms: this.#clock.elapsedMs() })
    const isAlive = this.#alive()
    const guarded = (callback: () => void) => () => {
      if (isAlive()) callback()
    }
    const controller = new Controller({
      clock: this.#clock,
      stopwatch: this.#clock,
      timers: { after: (ms, callback) => this.#clock.after(ms, guarded(callback)) },
      store: this.#disk.open(),
      permit: () => this.#permit(),
      serverNow: () => {
        const at = this.#serverAt()
        return at === null ? null : { at, error_ms: 0 }
      },
      log: { write: (entry) => (isAlive() ? this.#log(entry) : undefined) },
      conditions: this.#conditions,
      source: { source_kind: 'edge', source_id: 'simulated' },
      batteries: idleDispatcher({
        clock: this.#clock,
        stopwatch: this.#clock,
        conditions: this.#conditions,
        permit: () => this.#permit(),
      }),
      onEvent: (event) => {
        if (event) this.#lookForAccused(event)
        this.#judgeAlarm(event)
      },
      onReport: (reports) => {
        for (const report of reports) this.#takeReport(report)
        this.#tellApplied()
      },
      onFault: (error) => {
        if (!(error instanceof DiskError)) this.#break(error)
      },
    })
    this.#controller = controller
    controller.apply(siteOf(world))
    controller.start()
    this.#outside?.start(controller, this.#clock, this.#clock.elapsedMs())
    for (const device of world.devices) this.#poll(device, controller)
    if (world.is_looped) for (const plant of world.plants) this.#meter(plant.logger_id, controller)
  }

  kill(): void {
    this.#run += 1
    this.#controller = null
    this.#outside?.kill()
    this.#ceilings_w.clear()
    this.#disk.kill()
    this.#heard = new Map()
    this.#found.clear()
    this.#server_offset_ms = null
    this.#was_linked = false
  }

  tick(): Promise<void> {
    return this.#tick()
  }

  async #tick(): Promise<void> {
    const { world } = this.#needs
    this.#clock.step(world.jumped_ms)
    const is_linked = this.#controller !== null && world.is_linked
    if (is_linked && !this.#was_linked && world.has_server_time) {
      this.#server_offset_ms = world.server_ms - world.now_ms
    }
    this.#was_linked = is_linked
    this.#labels.passed(this.#rowsLately(), this.#moment())
    if (this.#controller && is_linked) this.#hear(this.#controller)
    if (this.#controller) this.#outside?.pass(this.#clock.elapsedMs())
    if (this.#controller) this.#try(this.#controller)
    this.#tellApplied()
    // The last millisecond of a second is the first of the next, after what befalls then.
    await this.#clock.advance(world.now_ms + tick_ms - 1 - this.#clock.elapsedMs())
    const ceilingOf = (logger_id: number) => this.#ceilings_w.get(logger_id) ?? null
    this.#outside?.check(ceilingOf, this.#clock.elapsedMs())
    if (this.#broken) throw this.#broken
  }

  #try({ trials }: Controller): void {
    const { is_calm, devices } = this.#needs.world
    if (is_calm) this.#trials?.end()
    else
      this.#trials?.pass(
        trials,
        devices.map(({ build }) => build),
      )
  }

  #serverAt(): number | null {
    if (this.#server_offset_ms === null) return null
    return this.#server_offset_ms + this.#clock.elapsedMs()
  }

  #moment(): LabelMoment {
    const now = this.#clock.now().getTime()
    return { now, now_ms: this.#clock.elapsedMs(), server_at: this.#serverAt() }
  }

  #rowsLately(): CurtailmentRow[] {
    return [...this.#known.values(), ...(this.#outside?.lately ?? [])]
  }

  #alive(): () => boolean {
    const run = this.#run
    return () => run === this.#run
  }

  /** What is not news to this program is told again now and then, also as it was before. */
  #hear(controller: Controller): void {
    const rows = this.#needs.world.rows.filter((row) => this.#heard.get(rowKey(row)) !== row)
    if (rows.length === 0) return
    for (const row of rows) {
      const key = rowKey(row)
      this.#heard.set(key, row)
      const known = this.#known.get(key)
      this.#known.set(key, known ? mergeRow(known, row) : row)
    }
    const older = rows.map((row) => ({ ...row, released_at: null }))
    const is_repeated = this.#chance.yes(0.2)
    for (const told of [rows, ...(is_repeated ? [older, rows] : [])]) {
      controller.hear(told).catch((error: unknown) => {
        if (!(error instanceof DiskError)) this.#break(error as Error)
      })
    }
  }

  #permit() {
    const { permit_w, site_w } = this.#needs.world
    this.#has_permit ||= permit_w.size > 0 || site_w !== null
    return this.#has_permit ? { plant_w: permit_w, site_w } : null
  }

  #log(entry: Noted): void {
    if (entry.is === 'order') {
      const device = this.#devices.get(entry.inverter_id)!
      device.mean(entry.limit_w)
      const permit_w = this.#permit()?.plant_w.get(Math.floor(entry.inverter_id / 100))
      this.#labels.ordered(device, entry.limit_w, this.#rowsLately(), {
        ...this.#moment(),
        permit_w,
      })
    }
    if (entry.is === 'decision') this.#ceilings_w.set(entry.logger_id, entry.ceiling_w)
    if (entry.is === 'limit' || (entry.is === 'answer' && entry.found)) {
      this.#found.set(entry.inverter_id, textOf(entry.found!))
    }
    const is_told = entry.is === 'order' || entry.is === 'answer' || entry.is === 'limit'
    if (is_told || entry.is === 'gone') this.#needs.note(() => JSON.stringify(entry))
  }

  /** Coming down as fast as it can is obeying. */
  #lookForAccused({ code, edge, source_id }: LinkEvent): void {
    if (code !== 'curtailment_not_effective' || edge !== 'rising') return
    const device = this.#devices.get(Number(source_id))!
    const is_odd = device.has_ignored || device.quirks.beyond_ratio > 0
    if (is_odd || !this.#needs.judge.isUntouched(device)) return
    this.#break(new Broken(`inverter ${source_id} obeys, and is said not to`))
  }

  /** Inverters that sleep are no danger to the permit. */
  #judgeAlarm(event: LinkEvent | null): void {
    const { world } = this.#needs
    if (event?.code !== 'permit_unenforceable' || event.edge !== 'rising' || !world.is_dark) return
    const plant = world.plants.find(({ logger_id }) => String(logger_id) === event.source_id)
    const is_site = event.source_kind === 'edge'
    const permit_w = is_site ? world.site_w : world.permit_w.get(plant!.logger_id)
    // One that is awake, and acts later than it declares, counts in full after its latency.
    const late = (is_site ? world.devices : plant!.devices).filter((device) => {
      const is_late = device.build.delay_ms_max > 0 && traitsOf(device).applies_within_ms === 0
      return is_late && !device.is('silent')
    })
    const late_w = late.reduce((sum, { build }) => sum + build.static_w, 0)
    if (late_w > permit_w!) return
    this.#break(new Broken(`at night ${event.source_id} says ${event.code}`))
  }

  #takeReport({ row, applied_at }: RowReport): void {
    if (applied_at === null || applied_at === this.#ended.get(rowKey(row))) return
    this.#applied.set(rowKey(row), { row, applied_at })
  }

  #tellApplied(): void {
    const { world, judge } = this.#needs
    const offset_ms = this.#server_offset_ms
    // As the wall clock of the world, which is a millisecond ahead at the begin of a second.
    const server_at = offset_ms === null ? null : offset_ms + world.now_ms
    const is_apart = server_at !== null && Math.abs(world.wall_ms - server_at) > apart_ms_min
    const times = is_apart ? [world.wall_ms, server_at] : [world.wall_ms]
    const applied_w = new Map<number, number>()
    for (const [key, { row: reported, applied_at }] of this.#applied) {
      const row = this.#known.get(key) ?? reported
      const is_replaced = row.source !== undefined && !this.#outside!.holds(row)
      if (is_replaced || !times.some((at) => isInForce(row, at))) {
        this.#applied.delete(key)
        this.#ended.set(key, applied_at)
        continue
      }
      const lowest_w = applied_w.get(row.logger_id) ?? Number.POSITIVE_INFINITY
      applied_w.set(row.logger_id, Math.min(lowest_w, row.max_power_kw * 1000))
    }
    judge.applied_w = applied_w
  }

  #break(error: Error): void {
    this.#broken ??= error
  }

  /** Nobody hears of it where the program is another by then. */
  #after<Of>(ms: number, job: () => Of, orElse = () => {}): Promise<Of> {
    const isAlive = this.#alive()
    const { promise, resolve } = Promise.withResolvers<Of>()
    this.#clock.after(ms, () => {
      try {
        this.#needs.world.reach(this.#clock.elapsedMs())
        if (isAlive()) resolve(job())
        else orElse()
      } catch (error) {
        this.#break(error as Error)
      }
    })
    return promise
  }

  #poll(device: SimulatedDevice, controller: Controller): void {
    const { inverter_id } = device.build
    const { world, judge } = this.#needs
    const polls = new ContactPolls({
      open: () => this.#controlOf(device),
      /** Its registers are read at one time, and what they held is known at a later. */
      read: async () => {
        const began_ms = this.#clock.elapsedMs()
        const read = await this.#after(this.#chance.between(10, 400), () => {
          const limit = readLimit(device)
          return { limit, power_w: world.powerOf(device), changes: device.changes }
        })
        const { limit } = read
        if (!limit) return await this.#after(timeout_ms, () => null)
        return await this.#after(this.#chance.between(0, 2000), () => ({
          ...read,
          limit,
          began_ms,
        }))
      },
      onRead: (control, { limit, power_w, changes, began_ms }) => {
        const known = this.#found.get(inverter_id)
        this.#found.delete(inverter_id)
        const poll = { round_at: this.#roundAt(), took_ms: this.#clock.elapsedMs() - began_ms }
        controller.onRead(inverter_id, { control, limit, power_w, poll })
        this.#labels.look(device, limit, {
          limited_by: controller.limitedBy(inverter_id),
          forgot: this.#disk.forgot,
        })
        // Where it was not noted, it was as known before, or not believed.
        const found = this.#found.get(inverter_id)
        if (found === undefined && known !== undefined) this.#found.set(inverter_id, known)
        if (device.changes !== changes || (found ?? known) !== textOf(limit)) return
        judge.wasRead(device)
      },
      onGone: () => controller.onGone(inverter_id),
      onFault: (error) => this.#break(error),
    })
    const isAlive = this.#alive()
    const next = () => {
      if (!isAlive()) return
      this.#clock.after(poll_ms, next)
      polls.poll()
    }
    this.#clock.after(this.#chance.between(0, poll_ms - 1), next)
  }

  #meter(logger_id: number, controller: Controller): void {
    const { world } = this.#needs
    const { devices } = world.plants.find((plant) => plant.logger_id === logger_id)!
    const isAlive = this.#alive()
    const next = () => {
      if (!isAlive()) return
      this.#clock.after(poll_ms, next)
      controller.onMeter(
        logger_id,
        devices.reduce((sum, device) => sum + world.powerOf(device), 0),
        this.#roundAt(),
      )
    }
    this.#clock.after(this.#chance.between(0, poll_ms - 1), next)
  }

  #roundAt(): number {
    const now = this.#clock.now().getTime()
    return now - (now % poll_ms)
  }

  /** Of one contact with the device. */
  #controlOf(device: SimulatedDevice): LimitControl {
    const { judge } = this.#needs
    const chance = this.#chance
    const silence = () => this.#after(timeout_ms, () => Promise.reject(lost()))
    return {
      // As drivers do that read them: steps of a register are in percent of the present ceiling.
      get traits() {
        return traitsOf(device)
      },
      settable: (limit_w) => settable(device, limit_w),
      readLimit: async () => {
        const state = await this.#after(chance.between(10, 300), () => {
          const limit = readLimit(device)
          if (limit && isSound(limit)) judge.wasRead(device)
          return limit
        })
        return state ?? (await silence())
      },
      writeLimit: async (limit_w, mayStill) => {
        // Its turn on the bus comes, and then it is on the wire.
        const may = await this.#after(chance.between(0, 900), () => mayStill?.() ?? true)
        if (!may) throw new BusError('overtaken', 'something newer says less')
        const { meant_ms } = device
        const write = () => writeLimit(device, limit_w, meant_ms)
        // What is on the wire when the program is killed may arrive all the same.
        const isDelivered = chance.yes(0.5)
        const answer = await this.#after(chance.between(10, 100), write, () => {
          if (isDelivered) write()
        })
        if (answer === 'lost') return await silence()
        await this.#after(chance.between(0, 500), () => {})
        if (answer === 'refused') throw new BusError('exception', 'it refuses', 4)
      },
      arm: async () => {
        const is_lost = await this.#after(chance.between(10, 300), () => device.is('silent'))
        return is_lost ? await silence() : []
      },
    }
  }
}

const lost = () => new BusError('timeout', 'no answer')

const textOf = ({ limit_w, static_max_w }: { limit_w: number | null; static_max_w: number }) =>
  `${limit_w} of ${static_max_w}`
