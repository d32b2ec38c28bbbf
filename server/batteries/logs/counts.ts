/** Numbers of set alarms of a unit. */
import type { Severity } from '@heliograph/domain/link'
import { type BatterySeverity, batterySeverity } from '../active-alarms.ts'
import { type AlarmSource, alarmSources } from '../alarms.ts'
import type { AlarmCounts } from './schemas.ts'
import type { UnitAlarms } from './store.ts'

/** `raised`: number of times that alarms were set in the last 24 hours. */
export function alarmCounts(
  { measured_at, states, unacknowledged }: UnitAlarms,
  raised: readonly { severity: Severity; count: number }[],
): AlarmCounts {
  const set = states.filter(({ is_set }) => is_set)
  return {
    measured_at: measured_at?.toISOString() ?? null,
    active: bySeverity(set.map(({ severity }) => ({ severity, count: 1 }))),
    total_active: set.length,
    last_24h: bySeverity(
      raised.map(({ severity, count }) => ({ severity: batterySeverity(severity), count })),
    ),
    by_source: Object.fromEntries(
      alarmSources.map((source) => [source, set.filter((one) => one.source === source).length]),
    ) as Record<AlarmSource, number>,
    unacknowledged,
  }
}

function bySeverity(counts: readonly { severity: BatterySeverity; count: number }[]) {
  const sums = { info: 0, warning: 0, major: 0, critical: 0 }
  for (const { severity, count } of counts) sums[severity] += count
  return sums
}
