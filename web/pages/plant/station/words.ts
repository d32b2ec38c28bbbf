/** Stations in words. */
import type { RelaySwitching, SensorFan, SensorNode } from '@heliograph/sdk'
import type { Quantity } from '../../../ui/quantities.ts'

const switchers: Record<RelaySwitching['source'], string> = {
  automation: 'A rule of the station',
  manual: 'By hand',
  command: 'From afar',
  unknown: 'Not known',
}

export const whoSwitched = (source: RelaySwitching['source'] | null) =>
  source === null ? '–' : switchers[source]

export function fanWords({ running, fault, commanded }: SensorFan): string {
  if (fault) return 'Does not run as it is told'
  if (running === null) return 'Not known'
  if (running) return 'Runs'
  return commanded === false ? 'Stands, as it is told' : 'Stands'
}

const switched: Partial<Record<string, string>> = { door: '1 is open', relay: '1 is on' }

/** What can be drawn of it: its channels, in their order. */
export const nodeQuantities = ({ channels }: SensorNode): readonly Quantity[] =>
  channels.map(({ label, unit, kind }, nth) => ({
    name: `channel_values:${nth}`,
    label,
    unit: unit ?? switched[kind] ?? '',
    digits: unit === null ? 0 : 1,
  }))
