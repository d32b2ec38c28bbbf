/**
 * The application layer of one connection (IEC 60870-5-101, 7.2 and 60870-5-5): which answers an
 * ASDU of the control centre gets, and what it asks for. Commands are carried out elsewhere.
 */
import {
  type Asdu,
  answerTo,
  causes,
  decodeAsdu,
  encodeAsdu,
  type InformationObject,
  objectsOf,
  objectsPerAsdu,
} from './asdu.ts'
import {
  type AsduType,
  asduType,
  bareOf,
  type Element,
  namedType,
  select_bit,
} from './asdu-types.ts'
import { isCommand, isCounter, type Point } from './point-list.ts'

export interface StationView {
  common_address: number
  points: readonly Point[]
  /** What a monitored point is worth now. */
  elementOf(point: Point): Element
  /** Whether the value of a command can be carried out. */
  isInRange(point: Point, value: number): boolean
  select_ms: number
  /** Oldest time tag of a command; null: no bound. */
  command_age_ms: number | null
  /** Commands that are selected, of all connections of the station. */
  selections: Map<number, Selection>
}

interface Selection {
  session: Session
  value: number
  /** By the stopwatch. */
  until_ms: number
}

interface Moment {
  /** Unix ms. */
  now: number
  /** By the stopwatch. */
  now_ms: number
}

export interface Reaction {
  /** To be sent in this order. */
  answers?: Uint8Array[]
  /** To be carried out, and then answered with `executed`. */
  command?: { point: Point; value: number; asdu: Asdu }
  /** Parts of an interrogation that are not sent yet are dropped. */
  ends_interrogation?: boolean
  /** The answers are those to an interrogation. */
  is_interrogation?: boolean
  /** Events that wait are dropped. */
  clears_events?: boolean
  /** Unix ms, of the control centre. */
  clock_at?: number | null
  /** The octets make no ASDU: nothing after them can be trusted. */
  fault?: string
}

const broadcast = 0xffff
const command_types = /^C_(SC|DC|RC|SE)_/
const system_types = /^C_(IC|CI|CS|RP|TS)_/
const interrogation = { station: 20, last_group: 36 }
const counters = { general: 5, frozen: 0x40, resets: 0x80 }
const reset = { process: 1, events: 2 }
/** Causes of an initialisation (`COI`). */
const initialized = { power_on: 0, remote_reset: 2 }

export class Session {
  readonly #view: StationView
  /** Counters by point, as they were frozen; null: they are read as they are. */
  #frozen: Map<Point, Element> | null = null
  /** An interrogation is under way. */
  is_interrogated = false

  constructor(view: StationView) {
    this.#view = view
  }

  receive(bytes: Uint8Array, moment: Moment): Reaction {
    const asdu = decodeAsdu(bytes)
    if (!asdu) return { fault: `an ASDU of ${bytes.length} octets` }
    const type = asduType(asdu.type_id)
    const is_command = type !== null && command_types.test(type.name)
    const is_system = type !== null && system_types.test(type.name)
    if (!type || !(is_command || is_system)) return rejected(asdu, causes.unknown_type)
    const objects = objectsOf(asdu)
    if (!objects) return { fault: `an ASDU that is no ${type.name}` }
    if (!this.#isAddressed(asdu, type)) return rejected(asdu, causes.unknown_common_address)
    const { activation, deactivation } = causes
    const may_end = is_command || type.name === 'C_IC_NA_1'
    if (asdu.cause !== activation && !(may_end && asdu.cause === deactivation)) {
      return rejected(asdu, causes.unknown_cause)
    }
    const [object, ...more] = objects
    if (more.length > 0) return refused(asdu)
    return is_command
      ? this.#command(asdu, type, object!, moment)
      : this.#system(asdu, type, object!, moment)
  }

  /** The first ASDU after a start: the station was switched on. */
  initialized(coi = initialized.power_on): Uint8Array {
    const header = this.#header(causes.initialized)
    const object = { address: 0, value: coi, descriptor: 0, at: null }
    return encodeAsdu(namedType('M_EI_NA_1'), header, [object])
  }

  /** Confirms a command that was carried out, or was not. */
  executed(asdu: Asdu, is_done: boolean): Uint8Array[] {
    if (!is_done) return refused(asdu).answers!
    const { activation_con, activation_termination } = causes
    return [
      answerTo(asdu, { cause: activation_con }),
      answerTo(asdu, { cause: activation_termination }),
    ]
  }

  /** All measured values, changed or not. */
  background(): Uint8Array[] {
    const points = this.#view.points.filter((point) => !isCommand(point) && !isCounter(point))
    return this.#asdusOf(points, causes.background)
  }

  end(): void {
    const { selections } = this.#view
    for (const [address, { session }] of selections) {
      if (session === this) selections.delete(address)
    }
  }

  #isAddressed({ common_address }: Asdu, { name }: AsduType): boolean {
    const is_for_all = common_address === broadcast && system_types.test(name)
    return is_for_all || common_address === this.#view.common_address
  }

  #header(cause: number) {
    const { common_address } = this.#view
    return { cause, is_negative: false, is_test: false, originator: 0, common_address }
  }

  #command(asdu: Asdu, type: AsduType, object: InformationObject, moment: Moment): Reaction {
    const { points, selections, command_age_ms, select_ms } = this.#view
    const { address, value, descriptor, at } = object
    const { now, now_ms } = moment
    const point = points.find((one) => one.address === address)
    if (!point || point.bare_type !== bareOf(type)) {
      return rejected(asdu, causes.unknown_object_address)
    }
    const known = selections.get(address)
    const selection = known && known.until_ms > now_ms ? known : null
    const is_own = selection?.session === this
    if (asdu.cause === causes.deactivation) {
      if (is_own) selections.delete(address)
      return confirmed(asdu, causes.deactivation_con, is_own)
    }
    const is_select = (descriptor & select_bit) !== 0
    const is_late = command_age_ms !== null && type.is_tagged && !isRecent(at, now, command_age_ms)
    const is_free = selection === null || is_own
    if (is_late || !is_free || !this.#view.isInRange(point, value)) return refused(asdu)
    if (is_select) {
      if (!asdu.is_test) {
        selections.set(address, { session: this, value, until_ms: now_ms + select_ms })
      }
      return confirmed(asdu, causes.activation_con, true)
    }
    if (point.has_select && !(is_own && selection.value === value)) return refused(asdu)
    // A test is answered, and moves nothing.
    if (asdu.is_test) return { answers: this.executed(asdu, true) }
    selections.delete(address)
    return { command: { point, value, asdu } }
  }

  #system(asdu: Asdu, { name }: AsduType, object: InformationObject, moment: Moment): Reaction {
    if (object.address !== 0) return rejected(asdu, causes.unknown_object_address)
    const { common_address } = this.#view
    const own = { ...asdu, common_address }
    switch (name) {
      case 'C_IC_NA_1':
        return this.#interrogate(own, object.value)
      case 'C_CI_NA_1':
        return this.#interrogateCounters(own, object)
      case 'C_CS_NA_1': {
        const time = { address: 0, value: 0, descriptor: 0, at: moment.now }
        const { is_test, originator } = asdu
        const header = { ...this.#header(causes.activation_con), is_test, originator }
        const answers = [encodeAsdu(namedType('C_CS_NA_1'), header, [time])]
        return { answers, ...(!is_test && { clock_at: object.at }) }
      }
      case 'C_TS_TA_1':
        return confirmed(own, causes.activation_con, true)
      default:
        return this.#reset(own, object.value)
    }
  }

  #interrogate(asdu: Asdu, qualifier: number): Reaction {
    if (asdu.cause === causes.deactivation) {
      const { is_interrogated } = this
      this.is_interrogated = false
      const ended = confirmed(asdu, causes.deactivation_con, is_interrogated)
      return { ...ended, ends_interrogation: true }
    }
    const { station, last_group } = interrogation
    const is_known = qualifier >= station && qualifier <= last_group
    if (!is_known || this.is_interrogated) return refused(asdu)
    this.is_interrogated = true
    const group = qualifier === station ? null : qualifier - station
    const points = this.#view.points.filter(
      (point) =>
        !isCommand(point) && !isCounter(point) && (group === null || point.group === group),
    )
    return { ...this.#enclosed(asdu, this.#asdusOf(points, qualifier)), is_interrogation: true }
  }

  #interrogateCounters(asdu: Asdu, { value: request, descriptor: freeze }: Element): Reaction {
    const { general, frozen, resets } = counters
    // Counters of a meter are nobody's to reset.
    if (request < 1 || request > general || freeze >= resets) return refused(asdu)
    const points = this.#view.points.filter(
      (point) => isCounter(point) && (request === general || point.group === request),
    )
    if (freeze === frozen) {
      this.#frozen ??= new Map()
      for (const point of points) this.#frozen.set(point, this.#view.elementOf(point))
      return confirmed(asdu, causes.activation_con, true)
    }
    const cause = causes.counters_requested + (request === general ? 0 : request)
    return this.#enclosed(asdu, this.#asdusOf(points, cause))
  }

  #reset(asdu: Asdu, qualifier: number): Reaction {
    if (qualifier !== reset.process && qualifier !== reset.events) return refused(asdu)
    const answers = [answerTo(asdu, { cause: causes.activation_con })]
    if (asdu.is_test) return { answers }
    if (qualifier === reset.events) return { answers, clears_events: true }
    // The orders that are in force stay: they are no part of this station.
    this.end()
    this.#frozen = null
    return { answers: [...answers, this.initialized(initialized.remote_reset)] }
  }

  #enclosed(asdu: Asdu, asdus: readonly Uint8Array[]): Reaction {
    const { activation_con, activation_termination } = causes
    return {
      answers: [
        answerTo(asdu, { cause: activation_con }),
        ...asdus,
        answerTo(asdu, { cause: activation_termination }),
      ],
    }
  }

  /** Without time tags, as answers to an interrogation are. */
  #asdusOf(points: readonly Point[], cause: number): Uint8Array[] {
    const elements = points.map((point) => ({
      type: point.bare_type,
      object: {
        address: point.address,
        ...(this.#frozen?.get(point) ?? this.#view.elementOf(point)),
        at: null,
      },
    }))
    return packed(elements, this.#header(cause))
  }
}

/** As few ASDUs as hold these objects, by type. */
export function packed(
  elements: readonly { type: AsduType; object: InformationObject }[],
  header: Parameters<typeof encodeAsdu>[1],
): Uint8Array[] {
  const by_type = Map.groupBy(elements, ({ type }) => type)
  return [...by_type].flatMap(([type, of_type]) => {
    const most = objectsPerAsdu(type)
    const count = Math.ceil(of_type.length / most)
    return Array.from({ length: count }, (_, nth) => {
      const objects = of_type.slice(nth * most, (nth + 1) * most).map(({ object }) => object)
      return encodeAsdu(type, header, objects)
    })
  })
}

const isRecent = (at: number | null, now: number, age_ms: number) =>
  at !== null && Math.abs(now - at) <= age_ms

const rejected = (asdu: Asdu, cause: number): Reaction => ({
  answers: [answerTo(asdu, { cause, is_negative: true })],
})

const confirmed = (asdu: Asdu, cause: number, is_positive: boolean): Reaction => ({
  answers: [answerTo(asdu, { cause, is_negative: !is_positive })],
})

/** Not carried out: the confirmation of its activation or deactivation is negative. */
const refused = (asdu: Asdu): Reaction =>
  confirmed(
    asdu,
    asdu.cause === causes.deactivation ? causes.deactivation_con : causes.activation_con,
    false,
  )
