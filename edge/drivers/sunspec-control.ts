/** Reads and writes the SunSpec models by which the power of a device is set. */
import { type ModelId, models } from '@heliograph/domain/sunspec/models'
import type { Model } from '@heliograph/domain/sunspec/point'
import { BusError, isRefusal } from '../bus/bus-error.ts'
import { withUrgentReads } from '../bus/urgent-reads.ts'
import type { Bus } from './driver.ts'
import { createReader, type FoundModel, type Parts, type Snapshot } from './sunspec-snapshot.ts'

export interface ControlledUnit {
  bus: Bus
  unit_id: number
  models: readonly FoundModel[]
}

/** Value of LocRemCtl (model 715): the device only accepts commands on site. */
export const local_control = 1

/** Neighbouring registers, written from the first register of `point` on. */
export interface PointWrite {
  point: string
  words: readonly number[]
  /** Order of the words for a device that writes one register per request; absent: not allowed. */
  singly?: readonly number[]
}

export interface SunspecControl<State, Control> {
  /** The models of the control, to be read at each poll. */
  models: readonly FoundModel[]
  /** Null while the registers show no valid state. */
  readonly control: Control | null
  /** State of the control in a reading of the device; null if it is not valid. */
  onRead(snapshot: Snapshot): State | null
  /** Reads the registers once, so that `control` is known. Rejects if the device is offline. */
  open(): Promise<void>
}

export const firstOf = ({ models: found }: Pick<ControlledUnit, 'models'>, id: number) =>
  found.find(({ model_id }) => model_id === id)

/** The registers of a control with their newest content; `read` gives a reason if not valid. */
export function createRegisters<Known extends object>(
  { bus, unit_id, ...device }: ControlledUnit,
  ids: readonly ModelId[],
  { parts, read }: { parts: Parts; read: (snapshot: Snapshot) => Known | string },
) {
  const wanted = ids.flatMap((id) => firstOf(device, id) ?? [])
  const readModels = createReader(withUrgentReads(bus), unit_id, { wanted, parts })
  const registers = {
    wanted,
    known: null as Known | null,
    latest: null as Known | null,
    take(snapshot: Snapshot): Known | string {
      const found = read(snapshot)
      registers.known = typeof found === 'string' ? null : found
      registers.latest = registers.known ?? registers.latest
      return found
    },
    async readNow(): Promise<Known> {
      const found = registers.take(await readModels())
      if (typeof found === 'string') throw new Error(`unit ${unit_id}: ${found}`)
      return found
    },
    control<State, Control>(
      control: Control,
      stateOf: (known: Known) => State,
    ): SunspecControl<State, Control> {
      return {
        models: wanted,
        get control() {
          return registers.known ? control : null
        },
        onRead(snapshot) {
          const found = registers.take(snapshot)
          return typeof found === 'string' ? null : stateOf(found)
        },
        async open() {
          try {
            registers.take(await readModels())
          } catch (error) {
            if (!isRefusal(error)) throw error
          }
        },
      }
    },
  }
  return registers
}

/** Writes points in the given order by function 16, or by function 6 if that is all there is. */
export function createWriter(device: ControlledUnit) {
  const { bus, unit_id } = device
  let only_singly = false

  async function put(address: number, one: PointWrite, how: { mayStill?: () => boolean }) {
    const { words, singly = words.length === 1 ? [0] : null } = one
    if (!only_singly || !singly) {
      try {
        return await bus.writeRegisters(unit_id, address, words, how)
      } catch (error) {
        if (!singly || !isUnknownFunction(error)) throw error
      }
    }
    for (const nth of singly) {
      await bus.writeRegisters(unit_id, address + nth, [words[nth]!], { ...how, single: true })
    }
    only_singly = true
  }

  return async (model_id: ModelId, writes: readonly PointWrite[], mayStill?: () => boolean) => {
    const found = firstOf(device, model_id)
    if (!found) throw new Error(`there is no model ${model_id}`)
    const { points }: Model = models[model_id]
    for (const one of writes) {
      const [, offset] = points.find(([name]) => name === one.point)!
      try {
        await put(found.address + offset, one, mayStill ? { mayStill } : {})
      } catch (error) {
        if (!(error instanceof BusError)) throw error
        const message = `${model_id}.${one.point}: ${error.message}`
        throw new BusError(error.kind, message, error.exception_code)
      }
    }
  }
}

/** A device without function 16 answers "illegal function", or "illegal data address". */
function isUnknownFunction(error: unknown): boolean {
  return error instanceof BusError && [1, 2].includes(error.exception_code ?? 0)
}
