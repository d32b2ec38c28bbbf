/**
 * Alarms of batteries that are set: conditions of which an edge told the beginning and no end, and
 * what values of a unit say themselves.
 */
import { fireAlarms, heartbeatAlarm, type ReadAlarm } from '@heliograph/domain/battery-alarms'
import type { Severity } from '@heliograph/domain/link'
import type { BessReading } from '@heliograph/domain/readings'
import { type Condition, unitOf } from './conditions.ts'

export const batterySeverities = ['info', 'warning', 'major', 'critical'] as const
export type BatterySeverity = (typeof batterySeverities)[number]

/** Batteries know no `minor`: what devices in general call so is a warning. */
export const batterySeverity = (severity: Severity): BatterySeverity =>
  severity === 'minor' ? 'warning' : severity

export interface ActiveAlarm {
  code: string
  severity: BatterySeverity
}

type AlarmingValues = Partial<Pick<BessReading, 'heartbeat_ok' | 'fire_system_state'>>

/** Of a unit: those that its edge told of, and those that it did not tell of yet. */
export function activeAlarms(
  unit: AlarmingValues & { bess_id: number },
  conditions: readonly Condition[],
): ActiveAlarm[] {
  const told = conditions.filter((one) => one.edge === 'rising' && unitOf(one) === unit.bess_id)
  const measured = measuredAlarms(unit, told)
  return [
    ...told.filter((one) => !measured.some(({ condition }) => condition === one)),
    ...measured.filter(({ is_set }) => is_set).map(({ alarm }) => alarm),
  ].map(({ code, severity }) => ({ code, severity: batterySeverity(severity) }))
}

interface MeasuredAlarm {
  alarm: ReadAlarm
  is_set: boolean
  /** What the edge told of it last. */
  condition: Condition | undefined
}

/**
 * Alarms that values of a unit as a whole tell. Of values that were not read the edge's last word
 * counts; where there is none, there is no such alarm.
 *
 * @param conditions of the unit
 */
export function measuredAlarms(
  { heartbeat_ok = null, fire_system_state: fire = null }: AlarmingValues,
  conditions: readonly Condition[],
): MeasuredAlarm[] {
  const alarms = [
    { alarm: heartbeatAlarm, says: heartbeat_ok === null ? null : heartbeat_ok === 0 },
    ...fireAlarms.map((alarm) => ({ alarm, says: fire === null ? null : fire === alarm.state })),
  ]
  return alarms.flatMap(({ alarm, says }) => {
    const condition = conditions.find((one) => one.code === alarm.code && isOfWhole(one))
    if (says === null && condition === undefined) return []
    return [{ alarm, is_set: says ?? condition?.edge === 'rising', condition }]
  })
}

const isOfWhole = ({ source_kind, source_id }: Condition) =>
  source_kind === 'bess' && !source_id.includes('.')
