/** Matches the alarms of a battery unit with its alerts. */
import { fireAlarms, heartbeatAlarm } from '@heliograph/domain/battery-alarms'
import type { Alarm } from '../batteries/alarms.ts'
import type { Queries } from '../storage/database.ts'
import { dedupKey } from './finding.ts'
import type { AlertStatus } from './rule.ts'
import type { AlertCode } from './rules.ts'
import { alertOf } from './sources/event-alerts.ts'

type NamedAlarm = Pick<Alarm, 'code' | 'source' | 'pcs_idx' | 'cluster_idx'>

const deviceOf = (bess_id: number, { pcs_idx }: Pick<Alarm, 'pcs_idx'>) =>
  pcs_idx === null
    ? ({ source_type: 'bess', source_id: `${bess_id}` } as const)
    : ({ source_type: 'pcs', source_id: `${bess_id}.${pcs_idx}` } as const)

/** The alert of an alarm that is decoded from the registers of a unit. */
export const batteryAlarmKey = (bess_id: number, alarm: Omit<NamedAlarm, 'source'>) => ({
  code: alertCodeOf(alarm.code),
  ...deviceOf(bess_id, alarm),
  part: alarm.cluster_idx === null ? alarm.code : `${alarm.code}.cluster.${alarm.cluster_idx}`,
})

function alertCodeOf(alarm_code: string): AlertCode {
  if (alarm_code === heartbeatAlarm.code) return 'heartbeat_lost'
  return fireAlarms.some(({ code }) => code === alarm_code) ? 'battery_fire' : 'battery_alarm'
}

/** null for an alarm without an alert of its own. */
function keyOf(bess_id: number, alarm: NamedAlarm): string | null {
  const { code, source, cluster_idx } = alarm
  // An alarm of no particular cluster is listed once for all of them, as not set.
  if (source === 'cluster' && cluster_idx === null) return null
  if (code === heartbeatAlarm.code || !['communication', 'ems'].includes(source)) {
    return dedupKey(batteryAlarmKey(bess_id, alarm))
  }
  const device = deviceOf(bess_id, alarm)
  if (code === 'device_offline') return dedupKey({ code: 'bess_offline', ...device })
  const { source_type: source_kind, source_id } = device
  const event = { source_kind, source_id, code, severity: 'warning', message: '' } as const
  const alert = alertOf({ ...event, at: new Date(0) })
  return alert && dedupKey({ ...device, code: alert.code, part: alert.part })
}

interface BatteryAlert {
  alert_id: number
  status: AlertStatus
}

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
    const key = keyOf(bess_id, alarm)
    return key === null ? undefined : by_key.get(key)
  }
}
