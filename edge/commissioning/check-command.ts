/** `heliograph-edge check`: the commissioning test of a site, as far as it only reads. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '@heliograph/domain/clock'
import { openProfiles } from '../drivers/own-profiles.ts'
import { readSite } from './checked-device.ts'
import { protocolOf, protocolText } from './protocol.ts'
import { runningEdge } from './running-edge.ts'
import { siteIn } from './target-device.ts'

export interface CheckOptions {
  out?: string
  force?: true
}

interface Needs {
  clock: Clock
  data_dir: string
  site_file: string
  software: string
  run_by: string
  note(text: string): void
  say(text: string): Promise<void>
}

/** Whether no test failed. */
export async function checkCommand({ out, force }: CheckOptions, needs: Needs): Promise<boolean> {
  const { clock, data_dir, site_file, software, run_by, note, say } = needs
  const site = await siteIn(site_file)
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
  const protocol = protocolOf({ site, devices, now, software, run_by })
  await say(protocolText(protocol))
  const { protocolPdf } = await import('./protocol-pdf.ts')
  const flag = force ? 'w' : 'wx'
  await writeFile(files.json, `${JSON.stringify(protocol, null, 2)}\n`, { flag })
  await writeFile(files.pdf, await protocolPdf(protocol), { flag })
  note(`${files.json} and ${files.pdf} are written`)
  return protocol.result === 'passed'
}
