/** The trial of limits on the devices of a site, one after the other, each after a person's yes. */
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

/** Devices whose power the edge limits, by their names in the site file. */
export function limitedDevices(site: Site): Map<string, number> {
  const controlled = new Set(
    site.loggers.flatMap(({ controller, inverters }) => (controller ? inverters : [])),
  )
  return new Map(
    devicesOf(site).flatMap(({ kind, name, device }): [string, number][] => {
      if (kind === 'controller') return [[name, controllerKey(device.logger_id)]]
      if (kind !== 'inverter' || controlled.has(device)) return []
      return [[name, device.inverter_id]]
    }),
  )
}

export async function tryLimits(needs: Needs): Promise<TriedLimit[]> {
  const { site, edge, signal, named, agree, onDevice, ...rest } = needs
  const tried: TriedLimit[] = []
  for (const [device, inverter_id] of limitedDevices(site)) {
    const trial = signal.aborted
      ? notTried(device, 'the trial was ended')
      : named && !named.includes(device)
        ? notTried(device, 'nobody agreed to it')
        : !isSame(edge.site, site, device)
          ? notTried(device, 'the site file of the running edge has another device of this name')
          : await tryLimit(
              { device, inverter_id },
              {
                ...rest,
                data_dir: edge.data_dir,
                signal,
                agree: async (limit_kw) => named !== null || (await agree(device, limit_kw)),
              },
            )
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
  for (const inverter_id of limitedDevices(site).values()) {
    await untilReady(inverter_id, needs, end_ms - needs.stopwatch.elapsedMs())
  }
}

/** The edge has the device at the same address. */
function isSame(of_edge: Site, site: Site, name: string): boolean {
  const [there, here] = [of_edge, site].map((one) => {
    const device = devicesOf(one).find((found) => found.name === name)
    return device && JSON.stringify([addressOf(device, one), idOf(device)])
  })
  return there === here
}

function addressOf({ connection, unit_id }: SiteDevice, { connections }: Site) {
  const { connection_id: _, ...place } = connections.find(
    ({ connection_id }) => connection_id === connection,
  )!
  return [Object.entries(place).toSorted(), unit_id]
}

const idOf = ({ device }: SiteDevice) =>
  'inverter_id' in device ? device.inverter_id : 'logger_id' in device ? device.logger_id : null
