/**
 * The disk that a controller finds again after a restart: exactly what a save that was waited for
 * made durable. Of a save that a kill interrupts, either state may be there.
 */
import type { Timers } from '@heliograph/domain/clock'
import type { ControlStore, HeldRow } from '../control-store.ts'
import type { DeviceRecord } from '../device-record.ts'
import type { Chance } from './chance.ts'

export class DiskError extends Error {}

/** One of the files: what is durable, and what is just being written. */
interface File {
  text: string
  writing: string | null
  last: Promise<void>
}

export class SlowDisk {
  readonly #timers: Timers
  readonly #chance: Chance
  readonly #latency_ms_max: number
  /** Of its saves, so many fail. */
  readonly #failing: number
  readonly #rows: File = fileOf()
  readonly #devices: File = fileOf()
  #runs = 0
  #is_behind = false
  #forgot = false

  constructor(timers: Timers, chance: Chance) {
    this.#timers = timers
    this.#chance = chance
    this.#latency_ms_max = chance.pick([1, 50, 50, 1000])
    this.#failing = chance.pick([0, 0, 0, 0, 0.2])
  }

  /** For the run that begins now. */
  open(): ControlStore {
    return {
      rows: JSON.parse(this.#rows.text) as HeldRow[],
      devices: new Map(JSON.parse(this.#devices.text) as [number, DeviceRecord][]),
      saveRows: (rows) => this.#save(this.#rows, JSON.stringify(rows)),
      saveDevices: (devices) => this.#save(this.#devices, JSON.stringify([...devices])),
    }
  }

  /** The edge was killed after a failed save of its device records: they lack the last limits. */
  get forgot(): boolean {
    return this.#forgot
  }

  /** What is under way is done, or not; nobody hears of it. */
  kill(): void {
    this.#runs += 1
    this.#forgot ||= this.#is_behind
    for (const file of [this.#rows, this.#devices]) {
      if (file.writing !== null && this.#chance.yes(0.5)) file.text = file.writing
      file.writing = null
      file.last = Promise.resolve()
    }
  }

  /** One after the other, as the real files are. */
  #save(file: File, text: string): Promise<void> {
    const next = file.last.catch(() => {}).then(() => this.#write(file, text))
    file.last = next
    return next
  }

  #write(file: File, text: string): Promise<void> {
    const run = this.#runs
    file.writing = text
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#timers.after(this.#chance.between(0, this.#latency_ms_max), () => {
      if (run !== this.#runs) return
      file.writing = null
      const fails = this.#chance.yes(this.#failing)
      if (file === this.#devices) this.#is_behind = fails
      if (fails) return reject(new DiskError('no space is left'))
      file.text = text
      resolve()
    })
    return promise
  }
}

function fileOf(): File {
  return { text: '[]', writing: null, last: Promise.resolve() }
}
