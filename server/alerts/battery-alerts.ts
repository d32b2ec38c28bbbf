/** Matches the alarms of a battery unit with its alerts. */
import { fireAlarms, heartbeatAlarm } from '@heliograph/domain/battery-alarms'
import type { Alarm } from '../batteries/alarms.ts'
import type { Queries } from '../storage/database.ts'
import { dedupKey, type Finding } from './finding.ts'
import type { AlertStatus } from './rule.ts'
import type { AlertCode } from './rules.ts'
import { alertOf } from './sources/event-alerts.ts'

type AlertKey = Pick<Finding, 'code' | 'source_type' | 'source_id' | 'part'>
type NamedAlarm = Pick<Alarm, 'code' | 'source' | 'pcs_idx' | 'cluster_idx'>

/** The alert of an alarm that is decoded from the registers of a unit. */
export function batteryAlarmKey(
  bess_id: number,
  { code, pcs_idx, cluster_idx }: Omit<NamedAlarm, 'source'>,
) {
  return {
    code: alertCodeOf(code),
    ...(pcs_idx === null
      ? { source_type: 'bess' as const, source_id: String(bess_id) }
      : { source_type: 'pcs' as const, source_id: `${bess_id}.${pcs_idx}` }),
    part: cluster_idx === null ? code : `${code}.cluster.${cluster_idx}`,
  }
}

function alertCodeOf(alarm_code: string): AlertCode {
  if (alarm_code === heartbeatAlarm.code) return 'heartbeat_lost'
  return fireAlarms.some(({ code }) => code === alarm_code) ? 'battery_fire' : 'battery_alarm'
}

/** null for an alarm without an alert of its own. */
function alertKey(bess_id: number, alarm: NamedAlarm): AlertKey | null {
  const { code, source, pcs_idx, cluster_idx } = alarm
  // An alarm of no particular cluster is listed once for all of them, as not set.
  if (source === 'cluster' && cluster_idx === null) return null
  if (code === heartbeatAlarm.code || !['communication', 'ems'].includes(source)) {
    return batteryAlarmKey(bess_id, alarm)
  }
  const kind = pcs_idx === null ? 'bess' : 'pcs'
  const source_id = pcs_idx === null ? `${bess_id}` : `${bess_id}.${pcs_idx}`
  if (code === 'device_offline') {
    return { code: 'bess_offline', source_type: kind, source_id }
  }
  const event = { source_kind: kind, source_id, code, severity: 'warning', message: '' } as const
  const alert = alertOf({ ...event, at: new Date(0) })
  return (
    alert && {
      code: alert.code,
      source_type: kind,
      source_id,
      ...(alert.part !== null && { part: alert.part }),
    }
  )
}

interface BatteryAlert {
  alert_id: number
  status: AlertStatus
}

/** The unresolved alert of an alarm; undefined where there is none. */
type FindBatteryAlert = (alarm: NamedAlarm) => BatteryAlert | undefined

export async function readBatteryAlerts(
  db: Queries,
  { site_id, bess_id }: { site_id: string; bess_id: number },
): Promise<FindBatteryAlert> {
  const alerts = await db.query<BatteryAlert & { dedup_key: string }>(
    `select alert_id, status, dedup_key from alerts
     where site_id = $1 and status <> 'resolved' and bess_id = $2`,
    [site_id, bess_id],
  )
  const by_key = new Map(
    alerts.map(({ dedup_key, ...alert }): [string, BatteryAlert] => [dedup_key, alert]),
  )
  return (alarm) => {
    const key = alertKey(bess_id, alarm)
    return key ? by_key.get(dedupKey(key)) : undefined
  }
}
