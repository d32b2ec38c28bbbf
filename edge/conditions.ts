/**
 * The conditions that hold at present: what rose and did not fall. A condition rises once however
 * often it is seen, and falls only after it rose, also over restarts: the events in the journal
 * are the truth, and a file beside it carries what they add up to, up to a frame of the journal.
 */
import type { DeviceKind, LinkEvent, Severity } from '@heliograph/domain/link'
import { relayCodePrefix } from '@heliograph/domain/node'
import type { DeviceIdentity } from './drivers/driver.ts'
import { readIfThere, writeDurably } from './durable-file.ts'

export interface Source {
  source_kind: DeviceKind
  source_id: string
}

interface Condition extends Source {
  /** `device_offline`, `alarm:sunspec-inverter:1:3`: with the source it names the condition. */
  code: string
  severity: Severity
}

export interface Said {
  at: number
  message: string
  details?: Record<string, unknown>
}

/** How a relay of a node stood last, and since when that is known. */
interface RelayState {
  on: boolean
  at: number
}

export interface ConditionsSnapshot {
  active: Condition[]
  identities: Record<string, DeviceIdentity>
  /** By node and channel. */
  relays: Record<string, RelayState>
}

interface Stored extends ConditionsSnapshot {
  epoch: string
  /** The frame of the journal up to which the rest is true. */
  seq: number
}

export class Conditions {
  readonly #path: string
  readonly #upto: { epoch: string; seq: number }
  readonly #active = new Map<string, Condition>()
  readonly #identities: Record<string, DeviceIdentity>
  readonly #relays: Record<string, RelayState>
  #changed = false

  private constructor(path: string, stored: Stored) {
    this.#path = path
    this.#upto = stored
    this.#identities = stored.identities
    this.#relays = stored.relays
    for (const condition of stored.active) this.#active.set(keyOf(condition), condition)
  }

  /** A file that cannot be understood, which only a fault of the disk can bring about, is empty. */
  static async open(path: string): Promise<Conditions> {
    const text = await readIfThere(path)
    const none: Stored = { epoch: '', seq: 0, active: [], identities: {}, relays: {} }
    try {
      return new Conditions(path, text === null ? none : { ...none, ...JSON.parse(text) })
    } catch {
      return new Conditions(path, none)
    }
  }

  /** Takes events out of the journal that are newer than the file. */
  replay(frame: { epoch: string; seq: number }, events: readonly LinkEvent[]): void {
    const known = this.#upto.epoch === frame.epoch && frame.seq <= this.#upto.seq
    if (known) return
    this.#changed = true
    for (const event of events) {
      const { source_kind, source_id, code, severity } = event
      if (event.edge === 'rising') {
        this.#active.set(keyOf(event), { source_kind, source_id, code, severity })
      } else if (event.edge === 'falling') this.#active.delete(keyOf(event))
      else this.#replayRelay(event)
    }
  }

  /** The event of a condition that begins; null when it held already. */
  rise(condition: Condition, said: Said): LinkEvent | null {
    const { source_kind, source_id, code, severity } = condition
    if (this.#active.has(keyOf(condition))) return null
    const active = { source_kind, source_id, code, severity }
    this.#active.set(keyOf(condition), active)
    this.#changed = true
    return eventOf(active, 'rising', said)
  }

  /** The event of a condition that ends; null when it did not hold. */
  fall(source: Source, code: string, said: Said): LinkEvent | null {
    const condition = this.#active.get(keyOf({ ...source, code }))
    if (!condition) return null
    this.#active.delete(keyOf(condition))
    this.#changed = true
    return eventOf(condition, 'falling', said)
  }

  /** The event of a condition that begins or ends; null when it held, or did not, already. */
  set(condition: Condition, { holds, ...said }: Said & { holds: boolean }): LinkEvent | null {
    return holds ? this.rise(condition, said) : this.fall(condition, condition.code, said)
  }

  activeOf({ source_kind, source_id }: Source): Condition[] {
    return this.all().filter((c) => c.source_kind === source_kind && c.source_id === source_id)
  }

  all(): Condition[] {
    return [...this.#active.values()]
  }

  identityOf(source: Source): DeviceIdentity | null {
    return this.#identities[sourceKey(source)] ?? null
  }

  rememberIdentity(source: Source, identity: DeviceIdentity): void {
    this.#identities[sourceKey(source)] = identity
    this.#changed = true
  }

  relayOf(node_id: string, channel: string): RelayState | null {
    return this.#relays[`${node_id} ${channel}`] ?? null
  }

  rememberRelay(node_id: string, channel: string, state: RelayState): void {
    this.#relays[`${node_id} ${channel}`] = state
    this.#changed = true
  }

  #replayRelay({ source_kind, source_id, code, at, details }: LinkEvent): void {
    if (source_kind !== 'node' || !code.startsWith(relayCodePrefix)) return
    const channel = code.slice(relayCodePrefix.length)
    const known = this.relayOf(source_id, channel)
    // Switchings are told late where the messages of a node came out of order.
    if (known && known.at > at) return
    this.rememberRelay(source_id, channel, { on: details?.['to'] === true, at })
  }

  /** What holds now, to be written down once the events so far are in the journal. */
  snapshot(): ConditionsSnapshot | null {
    if (!this.#changed) return null
    this.#changed = false
    return { active: this.all(), identities: { ...this.#identities }, relays: { ...this.#relays } }
  }

  /** Writes down what held when everything up to this frame of the journal had happened. */
  async save(snapshot: ConditionsSnapshot, frame: { epoch: string; seq: number }): Promise<void> {
    await writeDurably(this.#path, `${JSON.stringify({ ...frame, ...snapshot })}\n`)
  }
}

/** Something that happened and has no end. */
export function onceEvent(condition: Condition, said: Said): LinkEvent {
  return eventOf(condition, 'once', said)
}

function eventOf(
  { source_kind, source_id, code, severity }: Condition,
  edge: LinkEvent['edge'],
  { at, message, details }: Said,
): LinkEvent {
  return {
    at,
    source_kind,
    source_id,
    code,
    edge,
    severity,
    message: message.slice(0, 1000),
    details: details ?? null,
  }
}

function sourceKey({ source_kind, source_id }: Source): string {
  return `${source_kind} ${source_id}`
}

function keyOf(condition: Source & { code: string }): string {
  return `${sourceKey(condition)} ${condition.code}`
}
