import type { Inverter, Logger, SensorNode, StringHealth, StringNow } from '@heliograph/sdk'
import { Badge } from '@mantine/core'
import { inWords, none } from './format.ts'
import { healthNames } from './health-names.ts'

/** A badge that is never truncated. */
export const whole = (text: string, color: string) => (
  <Badge color={color} miw="max-content">
    {text}
  </Badge>
)

export type Words = Readonly<Record<string, readonly [words: string, color: string]>>

/** Badge with the words of a code; a dash without a code. */
export function wordBadge(words: Words, code: string | null | undefined) {
  if (!code) return none
  const [text, color] = words[code] ?? [code.replaceAll('_', ' '), 'gray']
  return whole(text, color)
}

const inverterStates: Words = {
  mppt: ['Producing', 'teal'],
  throttled: ['Limited', 'yellow'],
  starting: ['Starting', 'blue'],
  shutting_down: ['Shutting down', 'blue'],
  sleeping: ['Asleep', 'gray'],
  standby: ['Standby', 'gray'],
  off: ['Off', 'gray'],
  fault: ['Fault', 'red'],
  test: ['Test', 'violet'],
  unknown: ['Unknown', 'gray'],
}

/** A disconnected inverter has no present state. */
export const InverterState = ({ inverter: { comm_state, state } }: { inverter: Inverter }) =>
  comm_state === 'disconnected'
    ? whole('Communication lost', 'red')
    : wordBadge(inverterStates, comm_state === 'unknown' ? 'unknown' : state)

const plantStates: Words = {
  online: ['Online', 'teal'],
  degraded: ['Degraded', 'orange'],
  asleep: ['Asleep', 'gray'],
  offline: ['Offline', 'red'],
  unknown: ['Unknown', 'gray'],
}

export const PlantState = ({ plant }: { plant: Logger }) => wordBadge(plantStates, plant.status)

export const NodeState = ({ node: { status, retired_at } }: { node: SensorNode }) =>
  retired_at === null ? wordBadge(plantStates, status) : whole('Out of service', 'gray')

const stringStates: Words = {
  ok: ['OK', 'teal'],
  zero_current: ['No current', 'red'],
  reverse_current: ['Reverse current', 'red'],
  disconnected: ['Not connected', 'gray'],
  asleep: ['Asleep', 'gray'],
  no_data: ['No data', 'orange'],
}

export const StringState = ({ status }: { status: StringNow['status'] }) =>
  wordBadge(stringStates, status)

const healthColors: Record<StringHealth['status'], string> = {
  healthy: 'teal',
  watch: 'yellow',
  underperforming: 'orange',
  critical: 'red',
  dead: 'red',
  no_data: 'gray',
}

export const StringHealthBadge = ({ status }: { status: StringHealth['status'] }) =>
  whole(healthNames[status], healthColors[status])

const tones = {
  healthy: 'teal',
  degraded: 'orange',
  offline: 'red',
  unknown: 'gray',
} as const

export const HealthBadge = ({ status }: { status: keyof typeof tones }) => (
  <Badge color={tones[status]}>{inWords(status)}</Badge>
)

const severities: Record<string, string> = {
  critical: 'red',
  major: 'orange',
  warning: 'yellow',
  info: 'blue',
  urgent: 'red',
  high: 'orange',
  normal: 'blue',
  medium: 'yellow',
  low: 'gray',
}

/** Severity of an alert or a defect, or priority of a work order. */
export const SeverityBadge = ({ severity }: { severity: string }) =>
  whole(inWords(severity), severities[severity] ?? 'gray')

const states: Record<string, string> = {
  active: 'red',
  acknowledged: 'yellow',
  resolved: 'teal',
  open: 'red',
  assigned: 'orange',
  in_progress: 'blue',
  on_hold: 'yellow',
  completed: 'teal',
  approved: 'green',
  verified: 'green',
  running: 'blue',
  succeeded: 'teal',
  failed: 'red',
  backfilling: 'blue',
  backfilled: 'teal',
  passed: 'teal',
}

export const StateBadge = ({ state }: { state: string }) =>
  whole(inWords(state), states[state] ?? 'gray')

const limits: Record<string, string> = {
  none: 'None',
  curtailment: 'Curtailment',
  permit: 'Grid permit',
  external: 'External limit',
  unknown: 'Unknown cause',
}

export const limitWords = (limited_by: Inverter['limited_by']) =>
  limited_by === null ? none : (limits[limited_by] ?? limited_by)

interface Facing {
  orientation: string | null
  azimuth_deg: number | null
  tilt_deg: number | null
}

export function facing({ orientation, azimuth_deg, tilt_deg }: Facing): string {
  if (!orientation) return none
  const tilt = tilt_deg === null ? '' : `, tilt ${tilt_deg}°`
  const azimuth = azimuth_deg === null ? '' : ` (${azimuth_deg}°)`
  return `${orientation}${azimuth}${tilt}`
}
