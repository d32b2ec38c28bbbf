/** `heliograph-edge scan`: finds devices and writes a `site.yaml`. */
import { existsSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Clock, systemStopwatch, systemTimers } from '@heliograph/domain/clock'
import type { Profile } from '@heliograph/domain/profile'
import type { Connection } from '@heliograph/domain/site'
import { describeProblems } from '@heliograph/domain/yaml-file'
import { allProfiles } from '../drivers/drivers.ts'
import { openProfiles } from '../drivers/own-profiles.ts'
import { parseDrivenSite } from '../drivers/site-drivers.ts'
import { polledDevices } from './polled-devices.ts'
import { type RunningEdge, runningEdge } from './running-edge.ts'
import { connectingMs, type Progress, place_ms_max, scan } from './scan.ts'
import { hostsOf, numbersOf } from './scan-targets.ts'
import { leftDevice, siteDraft } from './site-draft.ts'

export interface ScanOptions {
  ports: string
  units: string
  serial?: string[]
  baud: string
  parity: string
  out?: string
  force?: true
}

interface Needs {
  clock: Clock
  data_dir: string
  /** For the operator; the file itself goes to `say` without `--out`. */
  note(text: string): void
  say(text: string): Promise<void>
}

const progress_ms = 2000
const parities = ['none', 'even', 'odd'] as const
const baud_rates = { min: 1200, max: 921_600 }

export async function scanCommand(
  targets: readonly string[],
  options: ScanOptions,
  needs: Needs,
): Promise<void> {
  const { clock, note, say } = needs
  const { out, force } = options
  const ports = numbersOf(options.ports, { min: 1, max: 65_535 })
  const unit_ids = numbersOf(options.units, { min: 0, max: 255 })
  const asked = [...new Set(targets.flatMap(hostsOf))]
  if (asked.length === 0 && !options.serial) throw new Error('name a network, a host or --serial')
  if (out && !force && existsSync(out)) throw new Error(`${out} is there: --force replaces it`)
  const edge = await runningEdge(needs.data_dir)
  const { hosts, serial, polled } = await withoutPolled(asked, options.serial ?? [], edge)
  for (const { name } of polled) {
    note(`${name}: only what the edge that runs here polls is read, through that edge`)
  }
  const profiles = profilesAt(dirname(out ?? 'site.yaml'), note)

  const connecting_s = Math.ceil(connectingMs({ hosts, ports }) / 1000)
  const minutes = place_ms_max / 60_000
  const count = `${hosts.length} ${hosts.length === 1 ? 'host' : 'hosts'}`
  note(
    `${count}, ports ${ports.join(', ')}: up to ${connecting_s} s to find those that answer; then ` +
      'about 60 s for devices with addresses of their own, and at most ' +
      `${minutes} minutes for each gateway with silent unit ids. Nothing is written to a device.`,
  )
  const lines = serial.map((path) => serialConnections(path, options))
  const progress = followed(note)
  const plan = { hosts, ports, unit_ids, serial: lines, profiles }
  const began_ms = systemStopwatch.elapsedMs()
  const found = await scan(plan, {
    timers: systemTimers,
    now_ms: () => systemStopwatch.elapsedMs(),
    onProgress: progress.set,
  }).finally(progress.end)
  const connections = polled.flatMap((one) => one.connections)
  const of_edge = edge ? await polledDevices({ edge, connections, profiles }) : []
  const result = { ...found, devices: [...of_edge, ...found.devices] }
  const took_s = Math.round((systemStopwatch.elapsedMs() - began_ms) / 1000)
  for (const device of result.devices) note(leftDevice(device))
  for (const text of result.notes) note(text)
  note(`${result.devices.length} devices in ${took_s} s`)

  const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions()
  const text = siteDraft(result, { at: clock.now(), timezone })
  for (const problem of problemsOf(text, out ?? 'site.yaml')) note(problem)
  if (!out) return await say(text)
  await writeFile(out, text, { flag: force ? 'w' : 'wx' })
  note(`${out} is written: go through each "fill in" in it`)
}

/** What a running edge polls gets no second connection: most devices accept one client. */
async function withoutPolled(
  hosts: readonly string[],
  paths: readonly string[],
  edge: RunningEdge | null,
) {
  const reached = (places: readonly string[]) =>
    Promise.all(
      places.map(async (name) => {
        return { name, connections: (await edge?.connectionsTo(name)) ?? [] }
      }),
    )
  const [by_host, by_path] = await Promise.all([reached(hosts), reached(paths)])
  const isFree = ({ connections }: { connections: readonly Connection[] }) =>
    connections.length === 0
  return {
    hosts: by_host.filter(isFree).map(({ name }) => name),
    serial: by_path.filter(isFree).map(({ name }) => name),
    polled: [...by_host, ...by_path].filter((one) => !isFree(one)),
  }
}

/** Those of the program, and those in `profiles/` beside the site file. */
function profilesAt(folder: string, note: (text: string) => void): Map<string, Profile> {
  const all = allProfiles()
  const own = join(folder, 'profiles')
  const files = existsSync(own) ? readdirSync(own).filter((name) => name.endsWith('.yaml')) : []
  const opened = openProfiles(folder)
  for (const file of files) {
    const path = `./profiles/${file}`
    const found = opened.find(path)
    if (typeof found !== 'string' && found.profile) all.set(path, found.profile)
  }
  opened.problems.forEach(note)
  return all
}

function serialConnections(path: string, { baud, parity }: ScanOptions): Connection[] {
  const chosen = parities.find((one) => one === parity)
  if (!chosen) throw new Error(`--parity is one of ${parities.join(', ')}`)
  return numbersOf(baud, baud_rates).map((baud_rate) => ({
    connection_id: basename(path),
    protocol: 'modbus_rtu',
    path,
    baud_rate,
    parity: chosen,
  }))
}

/** Notes the progress now and then, while it changes. */
function followed(note: (text: string) => void) {
  let last: Progress | null = null
  let noted = ''
  let cancel = () => {}
  const tick = () => {
    if (last) {
      const { done, places, devices } = last
      const text = `${done} of ${places} ports and lines done, ${devices} devices found`
      if (text !== noted) note(text)
      noted = text
    }
    cancel = systemTimers.after(progress_ms, tick)
  }
  tick()
  return {
    set(progress: Progress) {
      last = progress
    },
    end: () => cancel(),
  }
}

/** What the edge would say of the file. */
function problemsOf(text: string, path: string): string[] {
  const profiles = openProfiles(dirname(path))
  const parsed = parseDrivenSite(text, profiles)
  return 'problems' in parsed ? describeProblems(basename(path), parsed.problems) : []
}
