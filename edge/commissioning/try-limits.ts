/** The trial of limits on the devices of a site, one after the other, each after a person's yes. */
import { isDeepStrictEqual } from 'node:util'
import type { Stopwatch, Timers } from '@heliograph/domain/clock'
import type { Site } from '@heliograph/domain/site'
import { controllerKey } from '../control/device-name.ts'
import type { RunningEdge } from './running-edge.ts'
import { devicesOf, type SiteDevice } from './site-devices.ts'
import { notTried, type TriedLimit, tryLimit, untilReady } from './try-limit.ts'

interface Needs {
  site: Site
  edge: RunningEdge
  stopwatch: Stopwatch
  timers: Timers
  asked_by: string
  signal: AbortSignal
  /** Null: those at which a person agrees when asked. */
  named: readonly string[] | null
  agree(device: string, limit_kw: number): Promise<boolean>
  onDevice(tried: TriedLimit): void
}

interface LimitedDevice {
  /** Its name in the site file. */
  device: string
  inverter_id: number
  /** Connection and unit. */
  address: string
}

/** Devices whose power the edge limits. */
export function limitedDevices(site: Site): LimitedDevice[] {
  const controlled = new Set(
    site.loggers.flatMap(({ controller, inverters }) => (controller ? inverters : [])),
  )
  return devicesOf(site).flatMap((of): LimitedDevice[] => {
    const at = { device: of.name, address: addressOf(of, site) }
    if (of.kind === 'controller') {
      return [{ ...at, inverter_id: controllerKey(of.device.logger_id) }]
    }
    if (of.kind !== 'inverter' || controlled.has(of.device)) return []
    return [{ ...at, inverter_id: of.device.inverter_id }]
  })
}

export async function tryLimits(needs: Needs): Promise<TriedLimit[]> {
  const { site, edge, signal, named, agree, onDevice, ...rest } = needs
  const tried: TriedLimit[] = []
  const here = limitedDevices(site)
  const there = limitedDevices(edge.site)
  for (const one of here) {
    const { device } = one
    const refusal = signal.aborted
      ? 'the trial was ended'
      : here.some((other) => other !== one && other.device === device)
        ? 'another device has the same name'
        : named && !named.includes(device)
          ? 'nobody agreed to it'
          : there.some((other) => isDeepStrictEqual(other, one))
            ? null
            : 'the site file of the running edge has another device of this name'
    const trial =
      refusal !== null
        ? notTried(device, refusal)
        : await tryLimit(one, {
            ...rest,
            data_dir: edge.data_dir,
            signal,
            agree: async (limit_kw) => named !== null || (await agree(device, limit_kw)),
          })
    onDevice(trial)
    tried.push(trial)
  }
  return tried
}

const ready_ms_max = 60_000

/** Waits for a minute at most until each device holds what it is to have. */
export async function untilAllReady(
  site: Site,
  needs: Parameters<typeof untilReady>[1],
): Promise<void> {
  const end_ms = needs.stopwatch.elapsedMs() + ready_ms_max
  for (const { inverter_id } of limitedDevices(site)) {
    await untilReady(inverter_id, needs, { ms_max: end_ms - needs.stopwatch.elapsedMs() })
  }
}

function addressOf({ connection, unit_id }: SiteDevice, { connections }: Site): string {
  const { connection_id: _, ...place } = connections.find(
    ({ connection_id }) => connection_id === connection,
  )!
  return JSON.stringify([Object.entries(place).toSorted(), unit_id])
}
