/** Simulated devices with proprietary registers: their content, and the effect of writes. */
import type { InverterSnapshot } from '../site.ts'
import { Refusal } from './unit.ts'

export interface InverterNow {
  measured: InverterSnapshot
  frequency_hz: number
  line_voltage_v: number
  energy_kwh: number
}

/** Words by their address on the wire. */
interface RegisterImage {
  holding: ReadonlyMap<number, number>
  input: ReadonlyMap<number, number>
}

interface RegisterWrite {
  address: number
  values: readonly number[]
  now_ms: number
}

/**
 * A device whose registers follow from its measurements (`now`) and its writes (`state`). The state
 * is a plain value, which tests can save and restore.
 */
export interface RegisterDevice<State, Now> {
  initial: State
  registers(now: Now, state: State, now_ms: number): RegisterImage
  /** The state after a write, or the reason of a refusal. */
  write(state: State, write: RegisterWrite): State | Refusal
  /** Highest power, W, by its writes; `null` without a limit. */
  limit_w(state: State, now_ms: number): number | null
}

/** A state after a write of a valid value; the refusal of any other. */
export const stateIf = <State>(is_valid: boolean, state: State): State | Refusal =>
  is_valid ? state : new Refusal('illegal data value')

type Order = 'high_first' | 'low_first'

export function createImage(order: Order) {
  const holding = new Map<number, number>()
  const input = new Map<number, number>()
  const filler = (table: Map<number, number>) => {
    const put = (address: number, words: readonly number[]) => {
      for (const [nth, word] of words.entries()) table.set(address + nth, word)
    }
    return {
      u16: (address: number, value: number) => put(address, [wordOf(value)]),
      /** Signed or unsigned: two's complement. */
      u32: (address: number, value: number) => put(address, pairOf(value, order)),
      u64: (address: number, value: number) => {
        const whole = Math.round(value)
        put(address, [...pairOf(Math.floor(whole / 2 ** 32), order), ...pairOf(whole, order)])
      },
      text(address: number, words: number, text: string) {
        const bytes = new TextEncoder().encode(text)
        const byte = (nth: number) => bytes[nth] ?? 0
        put(
          address,
          Array.from({ length: words }, (_, nth) => byte(2 * nth) * 256 + byte(2 * nth + 1)),
        )
      },
    }
  }
  return { image: { holding, input }, holding: filler(holding), input: filler(input) }
}

const wordOf = (value: number): number => Math.round(value) & 0xffff

function pairOf(value: number, order: Order): [number, number] {
  const bits = Math.round(value) >>> 0
  const [high, low] = [bits >>> 16, bits & 0xffff] as const
  return order === 'high_first' ? [high, low] : [low, high]
}

export function numberOf(values: readonly number[], order: Order): number {
  const words = order === 'high_first' ? values : [...values].reverse()
  return words.reduce((sum, word) => sum * 0x1_0000 + word, 0)
}
