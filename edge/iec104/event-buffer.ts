/**
 * The events of a control centre, on disk before they are sent and until it has acknowledged them.
 * They are ASDUs in a journal of their own. Beside them stands the value of each point that was
 * reported last, so that a restart neither misses a change nor reports one twice.
 */
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { openSaved } from '../control/saved-file.ts'
import { writeDurably } from '../durable-file.ts'
import { type Journal, type JournalNeeds, openJournal } from '../journal.ts'
import { decodeAsdu, objectsOf } from './asdu.ts'
import type { Element } from './asdu-types.ts'

interface EventBufferNeeds
  extends Pick<JournalNeeds, 'dir' | 'bytes_max' | 'clock' | 'timers' | 'newEpoch' | 'onNotice'> {
  onFault(error: Error): void
}

export interface BufferedEvents {
  seq: number
  asdu: Uint8Array
}

/** What is in a journal segment is newer than this. */
const save_ms = 60_000
/** Read from disk at once. */
const read_max = { frames: 64, bytes: 65_536 }

const Reported = Type.Object({
  seq: Type.Integer(),
  values: Type.Array(Type.Tuple([Type.Integer(), Type.Number(), Type.Integer()])),
})

export class EventBuffer {
  readonly #needs: EventBufferNeeds
  readonly #journal: Journal
  readonly #reported: Map<number, Element>
  /** The newest that was taken to be sent. */
  #taken_seq = 0
  #rewinds = 0
  #cancelSave = () => {}

  private constructor(needs: EventBufferNeeds, journal: Journal, reported: Map<number, Element>) {
    this.#needs = needs
    this.#journal = journal
    this.#reported = reported
    this.#saveLater()
  }

  static async open(needs: EventBufferNeeds): Promise<EventBuffer> {
    const recovered: { seq: number; payload: string }[] = []
    const journal = await openJournal({
      ...needs,
      acks_saved_after_ms: 0,
      onRecovered: (record) => void recovered.push(record),
    })
    const saved = await openSaved(join(needs.dir, 'reported.json'), Reported, needs.onFault)
    const { seq: saved_seq, values }: Static<typeof Reported> =
      typeof saved === 'string' ? { seq: 0, values: [] } : saved
    const reported = new Map<number, Element>()
    for (const [address, value, descriptor] of values) {
      reported.set(address, { value, descriptor })
    }
    for (const { seq, payload } of recovered) {
      if (seq > saved_seq) noteReported(reported, bytesOf(payload))
    }
    return new EventBuffer(needs, journal, reported)
  }

  /** The value of a point that was reported last; null: never. */
  reported(address: number): Element | null {
    return this.#reported.get(address) ?? null
  }

  /** A value that needs no event: the first of a point. */
  begin(address: number, element: Element): void {
    this.#reported.set(address, element)
  }

  /** Resolves when these events are on disk. */
  async append(asdus: readonly Uint8Array[]): Promise<void> {
    if (asdus.length === 0) return
    const entries = asdus.map((asdu) => ({
      kind: 'iec104',
      payload: Buffer.from(asdu).toString('base64'),
      readings: 0,
    }))
    await this.#journal.append(entries)
    for (const asdu of asdus) noteReported(this.#reported, asdu)
  }

  /** The oldest events that were neither taken nor acknowledged. */
  async take(): Promise<BufferedEvents[]> {
    const rewinds = this.#rewinds
    const records = await this.#journal.read(this.#taken_seq, read_max)
    if (rewinds !== this.#rewinds) return []
    this.#taken_seq = records.at(-1)?.seq ?? this.#taken_seq
    return records.map(({ seq, payload }) => ({ seq, asdu: bytesOf(payload) }))
  }

  /** Events that were taken and not acknowledged are to be sent again. */
  rewind(): void {
    this.#rewinds += 1
    this.#taken_seq = 0
  }

  acknowledge(seqs: readonly number[]): void {
    this.#journal.ack(seqs)
  }

  /** Drops all events. */
  async clear(): Promise<void> {
    this.rewind()
    for (let events = await this.take(); events.length > 0; events = await this.take()) {
      this.acknowledge(events.map(({ seq }) => seq))
    }
  }

  async close(): Promise<void> {
    this.#cancelSave()
    await this.#save().catch(this.#needs.onFault)
    await this.#journal.close()
  }

  #saveLater(): void {
    this.#cancelSave = this.#needs.timers.after(save_ms, () => {
      this.#saveLater()
      this.#save().catch(this.#needs.onFault)
    })
  }

  async #save(): Promise<void> {
    const values = [...this.#reported].map(([address, { value, descriptor }]) => [
      address,
      value,
      descriptor,
    ])
    const text = JSON.stringify({ seq: this.#journal.last_seq, values })
    await writeDurably(join(this.#needs.dir, 'reported.json'), text)
  }
}

const bytesOf = (payload: string): Uint8Array => Uint8Array.from(Buffer.from(payload, 'base64'))

function noteReported(reported: Map<number, Element>, bytes: Uint8Array): void {
  const asdu = decodeAsdu(bytes)
  for (const { address, value, descriptor } of (asdu && objectsOf(asdu)) ?? []) {
    reported.set(address, { value, descriptor })
  }
}
