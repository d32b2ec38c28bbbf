/**
 * Random octets, frames and ASDUs at connections of a station, from one seed. Judges by rules of
 * its own what the standard answers to a violation, and that a connection stays up without one.
 */
import type { Timers } from '@heliograph/domain/clock'
import { type Chance, chanceOf } from '../../control/simulation/chance.ts'
import { type Apdu, encodeApdu, splitApdus } from '../apci.ts'
import { causes } from '../asdu.ts'
import { asduTypes } from '../asdu-types.ts'
import { Connection } from '../connection.ts'
import { randomAsdu } from '../fixtures/random-asdu.ts'
import { parsePointList } from '../point-list.ts'

const own_address = 7
const k = 12
const list = `address,type,meaning,select
1,M_ME_TF_1,active_power_kw,
2,M_SP_TB_1,is_reduced,
200,C_SE_NC_1,setpoint_pct,
201,C_SE_NA_1,setpoint_pct,yes
202,C_SC_NA_1,setpoint_step_pct,
203,C_DC_NA_1,setpoint_step_pct,yes
204,C_RC_NA_1,setpoint_step_pct,
`
const { points } = parsePointList(list)

interface FuzzResult {
  apdus: number
  /** How often each violation was answered, by its answer. */
  answers: Map<string, number>
  closings: number
  /** What was not answered as the standard says; null: nothing. */
  fault: string | null
}

/** What has to follow; null: nothing in particular. */
type Expected = { cause: number } | 'closed' | 'open' | null

export class Fuzz {
  readonly #chance: Chance
  readonly #timers = new FuzzTimers()
  readonly #result: FuzzResult = { apdus: 0, answers: new Map(), closings: 0, fault: null }
  #connection: Connection
  #is_closed = false
  #written: Apdu[] = []
  /** `stopping`: a stop was sent, and is not confirmed. */
  #data: 'stopped' | 'started' | 'stopping' = 'stopped'
  #send_seq = 0
  #receive_seq = 0
  #unacknowledged = 0

  constructor(seed: number) {
    this.#chance = chanceOf(seed)
    this.#connection = this.#connect()
  }

  /** Sends so many more; whatever is under way is settled between them. */
  async run(apdus: number): Promise<FuzzResult> {
    const until = this.#result.apdus + apdus
    while (this.#result.apdus < until && this.#result.fault === null) {
      this.#result.apdus += 1
      this.#send()
      this.#timers.pass(this.#chance.between(0, 300))
      // Commands that are carried out are answered by then.
      if (this.#result.apdus % 16 === 0) await new Promise(setImmediate)
      if (this.#is_closed) this.#begin()
    }
    return this.#result
  }

  #begin(): void {
    this.#result.closings += 1
    this.#connection = this.#connect()
    this.#is_closed = false
    this.#data = 'stopped'
    this.#send_seq = 0
    this.#receive_seq = 0
    if (this.#chance.yes(0.95)) this.#expect({ format: 'u', function: 'start_act' }, 'open')
  }

  #send(): void {
    const chance = this.#chance
    const kind = chance.between(0, 19)
    if (kind === 0) this.#octets()
    else if (kind === 1) this.#wrongApdu()
    else if (kind === 2) {
      const is_stopped = this.#data === 'stopped'
      this.#expect({ format: 's', receive_seq: this.#receive_seq }, is_stopped ? 'closed' : 'open')
    } else if (kind === 3) {
      const named = chance.pick(['test_act', 'test_con'] as const)
      this.#expect({ format: 'u', function: named }, 'open')
    } else if (kind === 4) {
      if (chance.yes(0.5) && this.#data === 'started') this.#data = 'stopping'
      const named = this.#data === 'stopping' ? 'stop_act' : 'start_act'
      this.#expect({ format: 'u', function: named }, 'open')
    } else {
      const [asdu, expected] = this.#asdu()
      this.#frame(asdu, this.#data === 'started' ? expected : 'closed')
    }
  }

  /** An I frame in its turn. */
  #frame(asdu: Uint8Array, expected: Expected): void {
    const send_seq = this.#send_seq
    this.#send_seq = (send_seq + 1) % 32_768
    this.#expect({ format: 'i', send_seq, receive_seq: this.#receive_seq, asdu }, expected)
  }

  #expect(apdu: Apdu, expected: Expected): void {
    this.#write(encodeApdu(apdu), expected)
  }

  #write(bytes: Uint8Array, expected: Expected): void {
    this.#written = []
    // In pieces, as a network may.
    const cut = this.#chance.between(0, bytes.length)
    this.#connection.receive(bytes.subarray(0, cut))
    this.#connection.receive(bytes.subarray(cut))
    this.#judge(bytes, expected)
    if (!this.#is_closed && this.#chance.yes(0.9)) this.#acknowledge()
  }

  #judge(bytes: Uint8Array, expected: Expected): void {
    const what = this.#faultOf(bytes, expected)
    const sent = Buffer.from(bytes).toString('hex')
    if (what !== null) this.#result.fault ??= `APDU ${this.#result.apdus}: ${sent} is ${what}`
    if (expected === null || typeof expected === 'string') return
    const key = `cause ${expected.cause}`
    this.#result.answers.set(key, (this.#result.answers.get(key) ?? 0) + 1)
  }

  /** What is wrong with the answer; null: nothing. */
  #faultOf(bytes: Uint8Array, expected: Expected): string | null {
    if (expected === null) return null
    if (expected === 'closed') return this.#is_closed ? null : 'not answered by closing'
    if (this.#is_closed) return 'answered by closing'
    // With k frames on their way an answer waits.
    if (expected === 'open' || this.#unacknowledged >= k) return null
    const is_answered = this.#written.some((apdu) => {
      if (apdu.format !== 'i' || apdu.asdu[0] !== bytes[6]) return false
      const cause = apdu.asdu[2] ?? 0
      return (cause & 0x3f) === expected.cause && (cause & 0x40) !== 0
    })
    return is_answered ? null : `not answered with cause ${expected.cause}`
  }

  #acknowledge(): void {
    if (this.#data === 'stopped') return
    this.#unacknowledged = 0
    this.#connection.receive(encodeApdu({ format: 's', receive_seq: this.#receive_seq }))
  }

  /** Octets that are no APDU, or one by chance. */
  #octets(): void {
    const chance = this.#chance
    const length = chance.between(1, 300)
    const bytes = Uint8Array.from({ length }, () => chance.between(0, 255))
    if (bytes[0] === 0x68) bytes[0] = 0x69
    this.#write(bytes, 'closed')
  }

  #wrongApdu(): void {
    const chance = this.#chance
    const [asdu] = this.#asdu()
    const next = this.#send_seq
    const wrong: Apdu[] = [
      { format: 'i', send_seq: (next + 1) % 32_768, receive_seq: this.#receive_seq, asdu },
      { format: 'i', send_seq: next, receive_seq: (this.#receive_seq + 5) % 32_768, asdu },
      { format: 's', receive_seq: (this.#receive_seq + 1) % 32_768 },
      { format: 'u', function: 'start_con' },
      { format: 'u', function: 'stop_con' },
    ]
    this.#expect(chance.pick(wrong), 'closed')
  }

  /** An ASDU, and what the standard answers. */
  #asdu(): [asdu: Uint8Array, expected: Expected] {
    const chance = this.#chance
    const { bytes } = randomAsdu(chance, chance.yes(0.9) ? 1 : 127)
    if (chance.yes(0.05)) {
      const cut = bytes.subarray(0, chance.between(0, bytes.length - 1))
      return [
        cut,
        this.#isControl(cut[0]) || cut.length < 6 ? 'closed' : { cause: causes.unknown_type },
      ]
    }
    if (chance.yes(0.05)) bytes[0] = chance.between(0, 255)
    // Most of what comes is nearly right.
    if (chance.yes(0.9)) bytes.set([own_address, 0], 4)
    if (chance.yes(0.8)) bytes[2] = causes.activation
    if (chance.yes(0.6)) bytes.set([chance.pick([0, 0, 1, 200, 201, 202, 203, 204]), 0, 0], 6)
    return [bytes, this.#answerTo(bytes)]
  }

  #isControl(id: number | undefined): boolean {
    const type = asduTypes.find((one) => one.id === id)
    return type?.name.startsWith('C_') ?? false
  }

  #answerTo(bytes: Uint8Array): Expected {
    const [id, qualifier, cause, , low, high] = bytes as unknown as number[]
    const type = asduTypes.find((one) => one.id === id)
    if (!this.#isControl(id)) return { cause: causes.unknown_type }
    const { layout, is_tagged, name } = type!
    const element = layout.bytes + (is_tagged ? 7 : 0)
    const count = qualifier! & 0x7f
    const fits =
      bytes.length === 6 + (qualifier! & 0x80 ? 3 + count * element : count * (3 + element))
    if (count === 0 || !fits) return 'closed'
    const is_system = /^C_(IC|CI|CS|RP|TS)/.test(name)
    const address = low! | (high! << 8)
    const is_for_us = address === own_address || (is_system && address === 65_535)
    if (!is_for_us) return { cause: causes.unknown_common_address }
    const of_cause = cause! & 0x3f
    const may_end = !is_system || name === 'C_IC_NA_1'
    if (of_cause !== 6 && !(of_cause === 8 && may_end)) return { cause: causes.unknown_cause }
    if (count > 1) return { cause: of_cause === 8 ? 9 : 7 }
    const object = bytes[6]! | (bytes[7]! << 8) | (bytes[8]! << 16)
    if (is_system) return object === 0 ? 'open' : { cause: causes.unknown_object_address }
    const point = points.find((one) => one.address === object)
    const is_same =
      point?.type.name.slice(0, 4) === name.slice(0, 4) && point.type.layout === layout
    return is_same ? 'open' : { cause: causes.unknown_object_address }
  }

  #connect(): Connection {
    const fuzz = this
    const isCurrent = () => this.#connection === connection || this.#connection === undefined
    const connection: Connection = new Connection({
      clock: { now: () => new Date(this.#timers.now_ms) },
      stopwatch: { elapsedMs: () => this.#timers.now_ms },
      timers: this.#timers,
      parameters: { k, w: 8, t1_ms: 15_000, t2_ms: 10_000, t3_ms: 20_000 },
      centre: {
        buffer: { take: async () => [], acknowledge() {}, clear: async () => {} },
        activate: () => true,
        deactivate() {},
        execute: async () => {},
        onClock() {},
      },
      view: {
        common_address: own_address,
        points,
        elementOf: () => ({ value: 1, descriptor: 0 }),
        isInRange: (_, value) => value >= 0 && value <= 100,
        select_ms: 10_000,
        command_age_ms: null,
        selections: new Map(),
      },
      wire: {
        write: (bytes) => {
          if (!isCurrent()) return
          const { apdus, fault } = splitApdus(bytes)
          if (fault !== null) fuzz.#result.fault ??= `the station wrote ${fault}`
          for (const apdu of apdus) fuzz.#take(apdu)
        },
        unsent_bytes: 0,
        pause() {},
        resume() {},
        close() {
          if (isCurrent()) fuzz.#is_closed = true
        },
      },
      onError(error) {
        fuzz.#result.fault ??= error.message
      },
    })
    return connection
  }

  #take(apdu: Apdu): void {
    this.#written.push(apdu)
    if (apdu.format === 'i') {
      this.#receive_seq = (apdu.send_seq + 1) % 32_768
      this.#unacknowledged += 1
    }
    if (apdu.format !== 'u') return
    if (apdu.function === 'start_con') this.#data = 'started'
    if (apdu.function === 'stop_con') this.#data = 'stopped'
    if (apdu.function === 'test_act') {
      const connection = this.#connection
      queueMicrotask(() => connection.receive(encodeApdu({ format: 'u', function: 'test_con' })))
    }
  }
}

/** Time that passes when the fuzz says so. */
class FuzzTimers implements Timers {
  now_ms = 0
  readonly #due = new Map<() => void, number>()

  after(delay_ms: number, callback: () => void): () => void {
    this.#due.set(callback, this.now_ms + delay_ms)
    return () => this.#due.delete(callback)
  }

  pass(ms: number): void {
    this.now_ms += ms
    for (const [callback, due_ms] of this.#due) {
      if (due_ms > this.now_ms) continue
      this.#due.delete(callback)
      callback()
    }
  }
}
