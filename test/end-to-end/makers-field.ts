/** The makers' simulated devices as the test sees them, a tap for the edge before them, the API. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemTimers } from '@heliograph/domain/clock'
import type { Connection } from '@heliograph/domain/site'
import { openBus } from '@heliograph/edge/bus/bus'
import { type Device, devices, type Registers } from './makers-site.ts'
import { type TappedWrite, tapModbus } from './modbus-tap.ts'
import type { Programs } from './programs.ts'
import type { LoggedWrite } from './write-log.ts'

export type Item = Record<string, unknown>

/** What a device could deliver from an instant on, by its registers. */
export interface Step {
  name: string
  allowed_w: number
}

const illegal_data_address = 2
const write_multiple = 16
/** No device of a busy machine is lost to the test. */
const timeout_ms = 10_000

/**
 * Looks at the registers of a device after each write of the edge, before that has its answer, and
 * whenever asked: `steps` is all that was seen. The edge comes with `settings`, through the taps.
 */
export async function openField({ site, dir }: Programs) {
  const steps: Step[] = []
  const writes: (TappedWrite & { logger_id: number })[] = []
  const log: LoggedWrite[] = []
  const buses = new Map(
    site.connections.map((connection, nth) => {
      const needs = { timers: systemTimers, random: () => 0.5 }
      return [nth + 1, openBus({ ...connection, timeout_ms }, needs)] as const
    }),
  )
  const registersOf = ({ logger_id, unit_id }: Device): Registers => {
    const bus = buses.get(logger_id)!
    const single = { single: true }
    return {
      read: async (address, count) => [
        ...(await bus.readHoldingRegisters(unit_id, address, count)),
      ],
      write: (address, words) =>
        bus.writeRegisters(unit_id, address, words, words.length === 1 ? single : {}),
    }
  }
  const allowedOf = async (device: Device) => {
    const allowed_w = await device.allowed_w(registersOf(device))
    steps.push({ name: device.name, allowed_w })
    return allowed_w
  }
  const deviceAt = (logger_id: number, unit_id: number) =>
    devices.find((one) => one.logger_id === logger_id && one.unit_id === unit_id)
  const taps = await Promise.all(
    site.connections.map((connection, nth) =>
      tapModbus({
        to_port: (connection as { port: number }).port,
        refusalOf: (unit_id, function_code) =>
          function_code === write_multiple && deviceAt(nth + 1, unit_id)?.wants_single
            ? illegal_data_address
            : null,
        async onWritten(write) {
          const device = deviceAt(nth + 1, write.unit_id)
          writes.push({ ...write, logger_id: nth + 1 })
          const at = Date.now()
          const allowed_w = device ? await allowedOf(device) : null
          const { address, words } = write
          log.push({ at, device: device?.name ?? 'behind it', address, words, allowed_w })
        },
      }),
    ),
  )
  const tapped = site.connections.map(
    (one, nth) => ({ ...one, port: taps[nth]!.port }) as Connection,
  )
  const site_file = join(dir, 'tapped-site.yaml')
  writeFileSync(site_file, JSON.stringify({ ...site, connections: tapped }))
  return {
    steps,
    writes,
    log,
    registersOf,
    allowedOf,
    settings: { SITE_FILE: site_file },
    writesTo: ({ logger_id, unit_id }: Device) =>
      writes.filter((one) => one.logger_id === logger_id && one.unit_id === unit_id),
    async isThere() {
      try {
        for (const one of devices) await one.allowed_w(registersOf(one))
        return true
      } catch {
        return false
      }
    },
    async close() {
      await Promise.all(taps.map(({ close }) => close()))
      await Promise.all([...buses.values()].map((bus) => bus.close()))
    },
  }
}

export function clientOf({ api, site }: Programs, key: string) {
  const ask = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(`${api}/v1/sites/${site.site_id}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }
  return {
    get: (path: string): Promise<{ data: Item[] }> => ask('GET', path),
    post: (path: string, body: unknown): Promise<Item> => ask('POST', path, body),
    release: (id: string): Promise<Item> => ask('DELETE', `/curtailment/group/${id}`),
  }
}
