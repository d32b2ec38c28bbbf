/** State badges of inverters, plants and strings. */

import type { Inverter, Logger, SensorNode, StringHealth, StringNow } from '@heliograph/sdk'
import { Badge } from '@mantine/core'
import { healthNames } from './health-names.ts'

type Words = Record<string, [words: string, color: string]>

const shown = (words: Words, code: string | null | undefined) => {
  if (!code) return <>–</>
  const [text, color] = words[code] ?? [code.replaceAll('_', ' '), 'gray']
  return (
    <Badge color={color} miw="max-content">
      {text}
    </Badge>
  )
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
export const InverterState = ({ inverter }: { inverter: Inverter }) =>
  inverter.comm_state === 'disconnected' ? (
    <Badge color="red" miw="max-content">
      Communication lost
    </Badge>
  ) : inverter.comm_state === 'unknown' ? (
    shown(inverterStates, 'unknown')
  ) : (
    shown(inverterStates, inverter.state)
  )

const plantStates: Words = {
  online: ['Online', 'teal'],
  degraded: ['Degraded', 'orange'],
  asleep: ['Asleep', 'gray'],
  offline: ['Offline', 'red'],
  unknown: ['Unknown', 'gray'],
}

export const PlantState = ({ plant }: { plant: Logger }) => shown(plantStates, plant.status)

export const NodeState = ({ node: { status, retired_at } }: { node: SensorNode }) =>
  retired_at === null ? (
    shown(plantStates, status)
  ) : (
    <Badge color="gray" miw="max-content">
      Out of service
    </Badge>
  )

const stringStates: Words = {
  ok: ['OK', 'teal'],
  zero_current: ['No current', 'red'],
  reverse_current: ['Reverse current', 'red'],
  disconnected: ['Not connected', 'gray'],
  asleep: ['Asleep', 'gray'],
  no_data: ['No data', 'orange'],
}

export const StringState = ({ status }: { status: StringNow['status'] }) =>
  shown(stringStates, status)

const healthColors: Words = {
  healthy: [healthNames.healthy, 'teal'],
  watch: [healthNames.watch, 'yellow'],
  underperforming: [healthNames.underperforming, 'orange'],
  critical: [healthNames.critical, 'red'],
  dead: [healthNames.dead, 'red'],
  no_data: [healthNames.no_data, 'gray'],
}

export const StringHealthBadge = ({ status }: { status: StringHealth['status'] }) =>
  shown(healthColors, status)

const limits: Record<string, string> = {
  none: 'None',
  curtailment: 'Curtailment',
  permit: 'Grid permit',
  external: 'External limit',
  unknown: 'Unknown cause',
}

/** Name of the limit of an inverter. */
export const limitWords = (limited_by: Inverter['limited_by']) =>
  limited_by === null ? '–' : (limits[limited_by] ?? limited_by)

const directions: Record<string, string> = {
  north: 'north',
  east: 'east',
  south: 'south',
  west: 'west',
  flat: 'flat',
  mixed: 'mixed',
}

export function facing(place: {
  orientation: string | null
  azimuth_deg: number | null
  tilt_deg: number | null
}): string {
  const { orientation, azimuth_deg, tilt_deg } = place
  if (!orientation) return '–'
  const tilt = tilt_deg === null ? '' : `, tilt ${tilt_deg}°`
  const azimuth = azimuth_deg === null ? '' : ` (${azimuth_deg}°)`
  return `${directions[orientation] ?? orientation}${azimuth}${tilt}`
}
