/**
 * A control centre (redundancy group): its event buffer, the one connection that carries data, its
 * orders, and what happens when it falls silent.
 */
import { BlockList, isIPv6 } from 'node:net'
import type { Clock, Stopwatch } from '@heliograph/domain/clock'
import type { OutsideSource } from '@heliograph/domain/curtailment'
import type { ControlCentre } from '@heliograph/domain/iec104'
import type { RequestedLimit } from '@heliograph/domain/limit-shares'
import type { OutsideOrders } from '../control/outside-orders.ts'
import { causes, type InformationObject } from './asdu.ts'
import type { AsduType, Element } from './asdu-types.ts'
import type { ConnectedCentre, Connection } from './connection.ts'
import type { EventBuffer } from './event-buffer.ts'
import type { Owner } from './meanings.ts'
import { isCommand, isCounter, isState, type Point } from './point-list.ts'
import { elementOf, mirrored, plantsOf, type ValueSource } from './point-values.ts'
import { packed } from './session.ts'

interface CentreNeeds {
  centre: ControlCentre
  common_address: number
  points: readonly Point[]
  buffer: EventBuffer
  orders: OutsideOrders
  values(): ValueSource
  clock: Clock
  stopwatch: Stopwatch
  /** Its clock differs by so much from ours, ms. */
  onClockOffset(offset_ms: number): void
  /** It carries no data, and its orders fell back. */
  onFallback(): void
}

/** Of a double command and a regulating step. */
const states = { off_or_lower: 1, on_or_higher: 2 } as const

export class Centre implements ConnectedCentre {
  readonly buffer: EventBuffer
  readonly group: string
  readonly #needs: CentreNeeds
  readonly #monitored: readonly Point[]
  readonly #allowed = new BlockList()
  #active: Connection | null = null
  #was_initialized = false
  /** By the stopwatch: since when it carries no data; null: it does. */
  #silent_since_ms: number | null
  #has_fallen_back = false
  #sampling: Promise<void> | null = null

  constructor(needs: CentreNeeds) {
    this.#needs = needs
    this.buffer = needs.buffer
    this.group = needs.centre.group
    // Counters are asked for, and make no events.
    this.#monitored = needs.points.filter((point) => !isCommand(point) && !isCounter(point))
    this.#silent_since_ms = needs.stopwatch.elapsedMs()
    for (const allowed of needs.centre.allowed_addresses) {
      const [address = '', bits] = allowed.split('/')
      const family = isIPv6(address) ? 'ipv6' : 'ipv4'
      if (bits === undefined) this.#allowed.addAddress(address, family)
      else this.#allowed.addSubnet(address, Number(bits), family)
    }
  }

  get source(): OutsideSource {
    return this.#needs.centre.source ?? 'grid_operator'
  }

  get is_connected(): boolean {
    return this.#active !== null
  }

  allows(address: string): boolean {
    return this.#allowed.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  }

  elementOf(point: Point, values = this.#needs.values()): Element {
    return elementOf(point, values, this.source)
  }

  activate(connection: Connection): boolean {
    const former = this.#active
    this.#active = connection
    this.#silent_since_ms = null
    this.#has_fallen_back = false
    // One connection of a redundancy group carries data.
    if (former && former !== connection) former.close('another connection of its group was started')
    this.buffer.rewind()
    const is_first = !this.#was_initialized
    this.#was_initialized = true
    return is_first
  }

  deactivate(connection: Connection): void {
    if (this.#active !== connection) return
    this.#active = null
    this.#silent_since_ms = this.#needs.stopwatch.elapsedMs()
    this.buffer.rewind()
  }

  onClock(at: number | null): void {
    if (at !== null) this.#needs.onClockOffset(at - this.#needs.clock.now().getTime())
  }

  /** In the unit of its meaning, from the least to the most that its list names. */
  isInRange(point: Point, value: number): boolean {
    const { name } = point.bare_type
    if (name === 'C_DC_NA_1' || name === 'C_RC_NA_1') {
      return value === states.off_or_lower || value === states.on_or_higher
    }
    if (name === 'C_SC_NA_1') return true
    const { rated_kw } = mirrored(point.of, this.#needs.values(), this.source)
    const most = point.maximum ?? (point.meaning === 'setpoint_pct' ? 100 : rated_kw)
    const ordered = value * point.scale
    return ordered >= Math.max(0, point.minimum ?? 0) && ordered <= most
  }

  async execute(point: Point, value: number): Promise<void> {
    await this.#order([point.of], this.#orderOf(point, value))
    // The mirror of the setpoint is to follow at once.
    await this.sample()
  }

  /** Puts what has changed into the event buffer. */
  sample(): Promise<void> {
    this.#sampling ??= this.#sample().finally(() => {
      this.#sampling = null
    })
    return this.#sampling
  }

  sendBackground(): void {
    this.#active?.sendBackground()
  }

  async close(): Promise<void> {
    this.#active?.close('the station ends')
    await this.#sampling?.catch(() => {})
    await this.buffer.close()
  }

  /** At the rated power of a plant nothing is ordered of it. */
  #orderOf(point: Point, value: number): RequestedLimit {
    const { meaning, scale, of } = point
    const { name } = point.bare_type
    if (meaning === 'setpoint_pct') return { limit_mode: 'percent', limit_value: value * scale }
    if (meaning === 'setpoint_kw') return { limit_mode: 'kw', limit_value: value * scale }
    if (name === 'C_RC_NA_1') {
      const { limit_kw, rated_kw } = mirrored(of, this.#needs.values(), this.source)
      const by_pct = value === states.on_or_higher ? scale : -scale
      const limit_value = Math.min(100, Math.max(0, (100 * limit_kw) / rated_kw + by_pct))
      return { limit_mode: 'percent', limit_value }
    }
    const is_on = value === (name === 'C_SC_NA_1' ? 1 : states.on_or_higher)
    return { limit_mode: 'percent', limit_value: is_on ? scale : 100 }
  }

  #order(owners: readonly Owner[], limit: RequestedLimit): Promise<void> {
    const { orders, values } = this.#needs
    const { site } = values()
    const plants = [...new Set(owners.flatMap((of) => plantsOf(of, site)))]
    return orders.limit(this.source, limit, plants)
  }

  async #sample(): Promise<void> {
    await this.#fallBack()
    const at = this.#needs.clock.now().getTime()
    const values = this.#needs.values()
    const changed: { type: AsduType; object: InformationObject }[] = []
    for (const point of this.#monitored) {
      const { type, address } = point
      const element = onWire(type, this.elementOf(point, values))
      const reported = this.buffer.reported(address)
      if (reported === null) this.buffer.begin(address, element)
      else if (hasChanged(point, reported, element)) {
        changed.push({ type, object: { address, ...element, at: type.is_tagged ? at : null } })
      }
    }
    const { common_address } = this.#needs
    const header = { cause: causes.spontaneous, is_negative: false, is_test: false, originator: 0 }
    await this.buffer.append(packed(changed, { ...header, common_address }))
    this.#active?.pump()
  }

  async #fallBack(): Promise<void> {
    const { fallback } = this.#needs.centre
    if (!fallback || this.#silent_since_ms === null || this.#has_fallen_back) return
    const silent_ms = this.#needs.stopwatch.elapsedMs() - this.#silent_since_ms
    if (silent_ms < fallback.after_s * 1000) return
    const owners = this.#needs.points.filter(isCommand).map(({ of }) => of)
    await this.#order(owners, { limit_mode: 'percent', limit_value: fallback.limit_pct })
    this.#has_fallen_back = true
    this.#needs.onFallback()
  }
}

/** As the control centre reads it. */
function onWire({ layout }: AsduType, element: Element): Element {
  const view = new DataView(new ArrayBuffer(layout.bytes))
  layout.write(view, 0, element)
  return layout.read(view, 0)
}

const invalid = 0x80

function hasChanged(point: Point, reported: Element, now: Element): boolean {
  if (reported.descriptor !== now.descriptor) return true
  if ((now.descriptor & invalid) !== 0) return false
  if (isState(point)) return reported.value !== now.value
  return Math.abs(now.value - reported.value) * Math.abs(point.scale) > point.dead_band
}
