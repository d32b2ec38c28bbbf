/** The inverters of a controlled site, served by pymodbus, which writes down what is written. */
import { spawn, spawnSync } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const python = '/usr/bin/python3'
const hasPymodbus = spawnSync(python, ['-c', 'import pymodbus.server.async_io']).status === 0
/** For tests: why they cannot run, or false. */
export const missing = hasPymodbus
  ? false
  : `no pymodbus for ${python}: apt-get install python3-pymodbus`

/** A register write as a device did it; the first of each is as it was found. */
export interface Write {
  /** Unix ms. */
  at: number
  inverter_id: number
  /** null: as it was found. */
  address: number | null
  words: number[]
  /** What it may deliver from then on under any sun, W. */
  allowed_w: number
}

export interface InverterPeer {
  /** All so far. */
  writes(): Write[]
  /** Resolves with true at the `count`th write from now on, with false after `bound_ms`. */
  untilWrites(count: number, bound_ms: number): Promise<boolean>
  /** What each may deliver now. */
  allowed(): Map<number, number>
  /** Resolves with whether the devices came to what is wanted within `bound_ms`. */
  until(isTrue: (allowed: Map<number, number>) => boolean, bound_ms: number): Promise<boolean>
  close(): Promise<void>
}

export async function serveInverters(log: string, gateways: unknown): Promise<InverterPeer> {
  const script = fileURLToPath(new URL('serve-inverters.py', import.meta.url))
  const child = spawn(python, [script, JSON.stringify({ log, gateways })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  const said = new EventEmitter()
  createInterface(child.stdout).on('line', (line) => said.emit(line === 'ready' ? line : 'write'))
  await Promise.race([
    once(said, 'ready'),
    exit.then(([code]) => Promise.reject(new Error(`the inverters ended: ${code}`))),
  ])
  const writes = () =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Write)
  const allowed = () => new Map(writes().map(({ inverter_id, allowed_w: w }) => [inverter_id, w]))
  /** Looks now and after each write. */
  async function until(isTrue: () => boolean, bound_ms: number): Promise<boolean> {
    const signal = AbortSignal.timeout(bound_ms)
    while (!isTrue()) {
      try {
        await once(said, 'write', { signal })
      } catch {
        return isTrue()
      }
    }
    return true
  }
  return {
    writes,
    untilWrites(count, bound_ms) {
      const before = writes().length
      return until(() => writes().length >= before + count, bound_ms)
    },
    allowed,
    until: (isTrue, bound_ms) => until(() => isTrue(allowed()), bound_ms),
    async close() {
      child.stdin.end()
      child.kill()
      await exit
    },
  }
}
