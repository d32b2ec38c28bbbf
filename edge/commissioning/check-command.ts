/** `heliograph-edge check`: the commissioning test of a site, with a trial of its limits. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock, Stopwatch, Timers } from '@heliograph/domain/clock'
import type { Site } from '@heliograph/domain/site'
import { readLocalConfig } from '../config.ts'
import { openProfiles } from '../drivers/own-profiles.ts'
import { readSite } from './checked-device.ts'
import { protocolOf, protocolText } from './protocol.ts'
import { runningEdge } from './running-edge.ts'
import { siteIn } from './target-device.ts'
import type { TriedLimit } from './try-limit.ts'
import { limitedDevices, tryLimits, untilAllReady } from './try-limits.ts'

export interface CheckOptions {
  out?: string
  force?: true
  /** Asks a person at each device. */
  tryLimits?: true
  /** Names of devices at which a limit is tried without a further question. */
  yes?: string[]
}

interface Needs {
  clock: Clock
  stopwatch: Stopwatch
  timers: Timers
  agent_version: string
  /** From now on, what ends a trial: its limit is given back, and no other is tried. */
  interrupted(): AbortSignal
  /** What a person answers to a question. */
  question(text: string): Promise<string>
  data_dir: string
  site_file: string
  software: string
  run_by: string
  note(text: string): void
  say(text: string): Promise<void>
}

/** Whether no test failed. */
export async function checkCommand(options: CheckOptions, needs: Needs): Promise<boolean> {
  const { out, force } = options
  const { clock, data_dir, site_file, software, run_by, note, say } = needs
  const site = await siteIn(site_file)
  refuseUnknown(options, site)
  const now = clock.now()
  const minute = now.toISOString().slice(0, 16).replaceAll(/[-:]/g, '').replace('T', '-')
  const name = out ?? `commissioning-${site.site_id}-${minute}`
  const files = { json: `${name}.json`, pdf: `${name}.pdf` }
  for (const file of Object.values(files)) {
    if (!force && existsSync(file)) throw new Error(`${file} is there: --force replaces it`)
  }
  const profiles = openProfiles(dirname(site_file))
  const devices = await readSite({
    site,
    edge: await runningEdge(data_dir),
    driverOf: profiles.driverOf,
    onDevice: ({ of, error }) => note(`${of.name}: ${error ?? 'read'}`),
  })
  const tried_limits = await triedLimits(site, options, needs)
  const protocol = protocolOf({ site, devices, tried_limits, now, software, run_by })
  await say(protocolText(protocol))
  const { protocolPdf } = await import('./protocol-pdf.ts')
  const flag = force ? 'w' : 'wx'
  await writeFile(files.json, `${JSON.stringify(protocol, null, 2)}\n`, { flag })
  await writeFile(files.pdf, await protocolPdf(protocol), { flag })
  note(`${files.json} and ${files.pdf} are written`)
  return protocol.result === 'passed'
}

function refuseUnknown({ yes = [] }: CheckOptions, site: Site): void {
  const names = limitedDevices(site).map(({ device }) => device)
  for (const name of yes) {
    const count = names.filter((one) => one === name).length
    if (count > 1) throw new Error(`${count} devices have the name ${name}: give each its own`)
    if (count === 0) {
      throw new Error(`no limit can be tried at ${name}; these have one: ${names.join(', ')}`)
    }
  }
}

/** Null where none is to be tried. */
async function triedLimits(
  site: Site,
  { tryLimits: is_asking, yes }: CheckOptions,
  needs: Needs,
): Promise<TriedLimit[] | null> {
  if (!is_asking && !yes) return null
  const { agent_version, data_dir, site_file, run_by, note, question, interrupted } = needs
  let stop = async () => true
  let edge = await runningEdge(data_dir)
  if (!edge) {
    const { startLocalEdge } = await import('./local-edge.ts')
    note('no edge runs: its control runs in this command, under the permit file')
    const files = { ...readLocalConfig(), data_dir, site_file }
    const stopEdge = await startLocalEdge(files, { agent_version, note })
    edge = await runningEdge(data_dir)
    stop = async () => {
      // What is below its share, perhaps by a command that was killed, is raised by control first.
      await untilAllReady(site, needs).catch((error: Error) => note(error.message))
      return await stopEdge()
    }
  }
  try {
    return await tryLimits({
      ...needs,
      site,
      edge: edge!,
      named: yes ?? null,
      signal: interrupted(),
      asked_by: run_by,
      async agree(device, limit_kw) {
        const what = `Limit ${device} to ${limit_kw} kW for at most 5 minutes?`
        return (await question(`${what} Type its name to agree, or Enter to skip it: `)) === device
      },
      onDevice: ({ device, not_tried }) =>
        note(`${device}: ${not_tried ? `no limit tried: ${not_tried}` : 'a limit was tried'}`),
    })
  } finally {
    await stop()
  }
}
