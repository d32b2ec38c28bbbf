/** `heliograph-edge record`: a recording of one device, to prove its profile by. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { recordingOf, recordingText } from './recording.ts'
import { openReadingBus, runningEdge } from './running-edge.ts'
import { profileNamed, type TargetOptions, targetOf } from './target-device.ts'

export interface RecordOptions extends TargetOptions {
  out: string
  force?: true
}

interface Needs {
  data_dir: string
  site_file: string
  note(text: string): void
}

export async function recordCommand(
  target: string,
  options: RecordOptions,
  { data_dir, site_file, note }: Needs,
): Promise<void> {
  const { out, force } = options
  if (!force && existsSync(out)) throw new Error(`${out} is there: --force replaces it`)
  const { connection, unit_id, driver } = await targetOf(target, options, site_file)
  const profile = profileNamed(driver, site_file)
  const bus = await openReadingBus(connection, unit_id, await runningEdge(data_dir))
  try {
    const { recording, complaints } = await recordingOf(bus, unit_id, profile)
    for (const { point, reason } of complaints) {
      if (point !== 'limit') note(`${point}: ${reason}`)
    }
    await writeFile(out, recordingText(recording), { flag: force ? 'w' : 'wx' })
  } finally {
    await bus.close()
  }
  note(`${out} is written: compare its values with the display of the device`)
}
