/** Set alarms of batteries: open conditions reported by edges, and alarms derived from readings. */
import { fireAlarms, heartbeatAlarm, type ReadAlarm } from '@heliograph/domain/battery-alarms'
import type { Severity } from '@heliograph/domain/link'
import type { BessReading } from '@heliograph/domain/readings'
import { type Condition, unitOf } from './conditions.ts'

export const batterySeverities = ['info', 'warning', 'major', 'critical'] as const
export type BatterySeverity = (typeof batterySeverities)[number]

/** Batteries have no severity `minor`; it maps to `warning`. */
export const batterySeverity = (severity: Severity): BatterySeverity =>
  severity === 'minor' ? 'warning' : severity

export interface ActiveAlarm {
  code: string
  severity: BatterySeverity
}

type AlarmingValues = Partial<Pick<BessReading, 'heartbeat_ok' | 'fire_system_state'>>

/** Set alarms of a unit, including those that its edge has not reported yet. */
export function activeAlarms(
  unit: AlarmingValues & { bess_id: number },
  conditions: readonly Condition[],
): ActiveAlarm[] {
  const open = conditions.filter((one) => one.edge === 'rising' && unitOf(one) === unit.bess_id)
  const measured = measuredAlarms(unit, open)
  return [
    ...open.filter((one) => !measured.some(({ condition }) => condition === one)),
    ...measured.filter(({ is_set }) => is_set).map(({ alarm }) => alarm),
  ].map(({ code, severity }) => ({ code, severity: batterySeverity(severity) }))
}

interface MeasuredAlarm {
  alarm: ReadAlarm
  is_set: boolean
  condition: Condition | undefined
}

/**
 * Alarms derived from readings of the whole unit. For a value that was not read, the last report of
 * the edge decides; without one, the alarm is left out.
 *
 * @param conditions of the unit
 */
export function measuredAlarms(
  { heartbeat_ok = null, fire_system_state: fire = null }: AlarmingValues,
  conditions: readonly Condition[],
): MeasuredAlarm[] {
  const alarms = [
    { alarm: heartbeatAlarm, is_read_set: heartbeat_ok === null ? null : heartbeat_ok === 0 },
    ...fireAlarms.map((alarm) => ({
      alarm,
      is_read_set: fire === null ? null : fire === alarm.state,
    })),
  ]
  return alarms.flatMap(({ alarm, is_read_set }) => {
    const condition = conditions.find((one) => one.code === alarm.code && isOfWhole(one))
    if (is_read_set === null && condition === undefined) return []
    return [{ alarm, is_set: is_read_set ?? condition?.edge === 'rising', condition }]
  })
}

const isOfWhole = ({ source_kind, source_id }: Condition) =>
  source_kind === 'bess' && !source_id.includes('.')
