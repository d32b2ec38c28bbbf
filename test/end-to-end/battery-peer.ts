/** A battery that pymodbus serves: its life, what its registers hold, and what others set there. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { systemTimers } from '@heliograph/domain/clock'
import { openBus } from '@heliograph/edge/bus/bus'

const python = '/usr/bin/python3'
const hasPymodbus = spawnSync(python, ['-c', 'import pymodbus.server.async_io']).status === 0
/** For tests: why they cannot run, or false. */
export const missing = hasPymodbus
  ? false
  : `no pymodbus for ${python}: apt-get install python3-pymodbus`

export const units = { bms: 1, pcs: 2 } as const

/** By model and offset, and where the chains of models of this peer put them. */
const measured = {
  /** 802.SoC, tenths of a percent. */
  soc: { unit_id: units.bms, place: '802 11', address: 40_080 },
  /** 701.W, hundreds of watts. */
  power: { unit_id: units.pcs, place: '701 10', address: 40_079 },
} as const

const beat_ms = 250

/** What stands in the registers of the PCS that set its power, models 704 and 715. */
export interface PcsRegisters {
  /** null: none is in force. */
  setpoint_kw: number | null
  /** What it falls back to without its controller, and after how long; null: to nothing. */
  fallback: { to_kw: number; after_s: number } | null
  /** Of whoever controls it. */
  beats: number
}

export interface BatteryPeer {
  port: number
  pcs(): Promise<PcsRegisters>
  /** Every setpoint that was ever in force, looked for at each beat of the battery. */
  setpoints: ReadonlySet<number>
  /** Resolves with the registers once they are as wanted; rejects after `bound_ms`. */
  untilPcs(isThere: (pcs: PcsRegisters) => boolean, bound_ms: number): Promise<PcsRegisters>
  /** Sets what it measures. */
  measure(what: keyof typeof measured, word: number): Promise<void>
  /** Its heartbeats stand still from now on; it answers all the same. */
  freeze(): void
  close(): Promise<void>
}

export async function serveBattery(): Promise<BatteryPeer> {
  const name = '../../edge/drivers/fixtures/serve-battery.py'
  const child = spawn(python, [fileURLToPath(new URL(name, import.meta.url))], {
    // It writes there of every connection that ends.
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const exit = once(child, 'exit')
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const port = Number((await lines.next()).value)
  if (!port) throw new Error(`the battery ended: ${(await exit)[0]}`)
  const ask = async (line: string): Promise<number[]> => {
    child.stdin.write(`${line}\n`)
    return JSON.parse(String((await lines.next()).value))
  }
  const bus = openBus(
    { connection_id: 'peer', protocol: 'modbus_tcp', host: '127.0.0.1', port },
    { timers: systemTimers, random: Math.random },
  )
  const setpoints = new Set<number>()
  async function pcs(): Promise<PcsRegisters> {
    const found = pcsRegisters(
      await ask(`dump ${units.pcs} 704 22 11`),
      await ask(`dump ${units.pcs} 715 5 2`),
    )
    if (found.setpoint_kw !== null) setpoints.add(found.setpoint_kw)
    return found
  }
  let is_frozen = false
  let is_closed = false
  async function live() {
    while (!is_closed) {
      if (!is_frozen) await ask('tick')
      await pcs()
      await wait(beat_ms)
    }
  }
  const living = live()
  return {
    port,
    pcs,
    setpoints,
    async untilPcs(isThere, bound_ms) {
      const late = Date.now() + bound_ms
      for (;;) {
        const now = await pcs()
        if (isThere(now)) return now
        if (Date.now() > late) throw new Error(`the PCS holds ${JSON.stringify(now)}`)
        await wait(beat_ms / 2)
      }
    },
    async measure(what, word) {
      const { unit_id, place, address } = measured[what]
      await bus.writeRegisters(unit_id, address, [word])
      const [stands] = await ask(`dump ${unit_id} ${place} 1`)
      if (stands !== word) throw new Error(`${place} stands at ${stands}, not at ${word}`)
    },
    freeze() {
      is_frozen = true
    },
    async close() {
      is_closed = true
      await living
      await bus.close()
      child.kill('SIGKILL')
      await exit
    },
  }
}

const long = ([high = 0, low = 0]: readonly number[]) => high * 0x1_0000 + low

/** From 704.WSetEna to WSetRvrtTms, and 715.ControllerHb. WSet counts hundreds of watts. */
function pcsRegisters(power: readonly number[], beats: readonly number[]): PcsRegisters {
  const [enabled, , ...rest] = power
  const kw = (words: readonly number[]) => (long(words) | 0) / 10
  return {
    setpoint_kw: enabled === 1 ? kw(rest.slice(0, 2)) : null,
    fallback:
      power[8] === 1 ? { to_kw: kw(rest.slice(2, 4)), after_s: long(power.slice(9, 11)) } : null,
    beats: long(beats),
  }
}
