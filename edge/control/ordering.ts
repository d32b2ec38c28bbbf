/**
 * Orders on their way: made durable all together, then each carried out by its device. A disk that
 * fails or hangs keeps back what raises, and never what lowers. A raise that waits for its bus is
 * held back where something newer says less.
 */
import type { Stopwatch, Timers } from '@heliograph/domain/clock'
import { inTime } from '../in-time.ts'
import type { ControlNotes } from './control-notes.ts'
import type { ControlStore } from './control-store.ts'
import type { ControlledPlants } from './controlled-plants.ts'
import type { Decision, Order } from './decide.ts'
import type { DeviceRecord } from './device-record.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { isSamePermit, type Permit } from './permit-terms.ts'

interface OrderingNeeds {
  stopwatch: Stopwatch
  timers: Timers
  store: Pick<ControlStore, 'saveDevices'>
  notes: Pick<ControlNotes, 'write'>
  plants: ControlledPlants
  /** The permit as it is now. */
  permit(): Permit | null
  /** Whether it succeeded; never rejects. */
  attempt(job: Promise<unknown>): Promise<boolean>
  /** Goes on beside everything else; never throws. */
  work(job: Promise<unknown>): void
}

/** The disk may take so long; what lowers goes then. */
const disk_ms_max = 1000

export class Ordering {
  readonly #needs: OrderingNeeds
  /** What is known of the devices, and not durable yet. */
  readonly save = oneAtATime(() => this.#save())
  #saved: ReadonlyMap<number, DeviceRecord> = new Map()
  /** Saves that took too long and are not over. */
  #hanging = 0
  #is_unsaved = false
  /** By source, as decided last; null: something newer is not decided on yet. */
  #targets_w: ReadonlyMap<string, number> | null = null

  constructor(needs: OrderingNeeds) {
    this.#needs = needs
  }

  /** Nothing could be written down when that was tried last, or not in time. */
  get is_unsaved(): boolean {
    return this.#is_unsaved
  }

  /** A save that took too long is not over. */
  get is_hanging(): boolean {
    return this.#hanging > 0
  }

  /** null: nothing could be decided, or something was heard since. */
  onDecision(decision: Decision | null): void {
    this.#targets_w = decision?.targets_w ?? null
  }

  /** Resolves when the orders are on their way. `permit` is what they were decided on. */
  async carryOut(orders: readonly Order[], permit: Permit | null): Promise<void> {
    const { plants, notes, work } = this.#needs
    if (this.#hanging > 0 && orders.length === 0) return
    const begun = orders.map((order) => ({ order, device: plants.device(order.inverter_id)! }))
    plants.onOrders(orders)
    for (const { device, order } of begun) device.begin(order)
    const noted = orders.map((order) => notes.write({ is: 'order', ...order }))
    const is_durable = await this.#inTime(Promise.all([this.save(), ...noted]))
    this.#is_unsaved = !is_durable
    for (const { device, order } of begun) {
      const mayStill = () => !order.is_raise || this.#isWanted(order, permit)
      // What only lowers goes even so: at worst it is taken for another's limit after a restart.
      if (!order.is_raise || (is_durable && mayStill())) work(device.carryOut(order, mayStill))
      else device.abandon(order)
    }
  }

  #isWanted({ inverter_id, limit_w }: Order, permit: Permit | null): boolean {
    const target_w = this.#targets_w?.get(String(inverter_id))
    const is_wanted = target_w !== undefined && limit_w <= target_w
    if (!is_wanted || !isSamePermit(permit, this.#needs.permit())) return false
    const { plants, stopwatch } = this.#needs
    return plants.exceededBeside(inverter_id, stopwatch.elapsedMs()) === null
  }

  /** Whether it was done before what lowers cannot wait any longer. */
  async #inTime(job: Promise<unknown>): Promise<boolean> {
    const done = this.#needs.attempt(job)
    if (this.#hanging > 0) return false
    const is_done = await inTime(done, disk_ms_max, this.#needs.timers)
    if (is_done !== 'late') return is_done
    this.#hanging += 1
    void done.then(() => {
      this.#hanging -= 1
    })
    return false
  }

  async #save(): Promise<void> {
    const records = this.#needs.plants.records()
    if (isSame(records, this.#saved)) return
    const saving = new Map(records)
    await this.#needs.store.saveDevices(saving)
    this.#saved = saving
  }
}

function isSame(
  records: ReadonlyMap<number, DeviceRecord>,
  saved: ReadonlyMap<number, DeviceRecord>,
): boolean {
  for (const [id, record] of records) if (saved.get(id) !== record) return false
  return true
}
