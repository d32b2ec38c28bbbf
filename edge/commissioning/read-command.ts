/** `heliograph-edge read`: every value of one device, with its registers. */
import { systemTimers } from '@heliograph/domain/clock'
import type { Bus } from '../drivers/driver.ts'
import { type DeviceValue, profileValues, sunspecValues } from './device-values.ts'
import { openReadingBus, runningEdge } from './running-edge.ts'
import { profileNamed, type TargetOptions, targetOf } from './target-device.ts'

export interface ReadOptions extends TargetOptions {
  json?: true
  watch?: true
}

interface Needs {
  data_dir: string
  site_file: string
  say(text: string): Promise<void>
}

const watch_ms = 1000

/** @param target a host with `--driver`, else the name of a device in the site file */
export async function readCommand(
  target: string,
  options: ReadOptions,
  { data_dir, site_file, say }: Needs,
): Promise<void> {
  const { connection, unit_id, driver } = await targetOf(target, options, site_file)
  const read = readerOf(driver, site_file)
  const bus = await openReadingBus(connection, unit_id, await runningEdge(data_dir))
  try {
    for (;;) {
      const values = await read(bus, unit_id)
      await say(options.json ? `${JSON.stringify(values)}\n` : tableOf(values))
      if (!options.watch) return
      await new Promise<void>((resolve) => systemTimers.after(watch_ms, resolve))
    }
  } finally {
    await bus.close()
  }
}

function readerOf(driver: string, site_file: string) {
  if (driver === 'sunspec') return sunspecValues
  const profile = profileNamed(driver, site_file)
  return (bus: Bus, unit_id: number) => profileValues(bus, unit_id, profile)
}

function tableOf(values: readonly DeviceValue[]): string {
  const head = ['field', 'register', 'name', 'raw', 'value', 'unit']
  const rows = values.map(({ field, table, address, register, words, value, unit }) => [
    field,
    `${table} ${address}`,
    register,
    words?.map((word) => word.toString(16).padStart(4, '0')).join(' ') ?? 'refused',
    value === null ? '-' : String(value),
    unit ?? '',
  ])
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]!.length)))
  return [head, ...rows]
    .map((row) => `${row.map((cell, at) => cell.padEnd(widths[at]!)).join('  ')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('')
}
