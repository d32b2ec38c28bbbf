/** Texts about stations. */
import type { RelaySwitching, SensorFan, SensorNode } from '@heliograph/sdk'
import type { Quantity } from '../../../ui/quantities.ts'

const switchers: Record<RelaySwitching['source'], string> = {
  automation: 'Automation',
  manual: 'Manual',
  command: 'Remote command',
  unknown: 'Unknown',
}

export const whoSwitched = (source: RelaySwitching['source'] | null) =>
  source === null ? '–' : switchers[source]

export function fanWords({ running, fault, commanded }: SensorFan): string {
  if (fault) return 'Fault: does not follow its relay'
  if (running === null) return 'Unknown'
  if (running) return 'Running'
  return commanded === false ? 'Off' : 'Stopped'
}

const switched: Partial<Record<string, string>> = { door: '1 = open', relay: '1 = on' }

/** Channels of a node as quantities of a chart. */
export const nodeQuantities = ({ channels }: SensorNode): readonly Quantity[] =>
  channels.map(({ label, unit, kind }, nth) => ({
    name: `channel_values:${nth}`,
    label,
    unit: unit ?? switched[kind] ?? '',
    digits: unit === null ? 0 : 1,
  }))
