/** Health of a site and its loggers, by rules over communication, device states and alerts. */
import {
  type InverterVitals,
  inverterCommState,
  isAsleep,
  isOffline,
  type LoggerStatus,
} from './communication.ts'
import type { Situation } from './situation.ts'

export const healthStatuses = ['healthy', 'degraded', 'offline', 'unknown'] as const
type HealthStatus = (typeof healthStatuses)[number]

export const healthRule =
  '`unknown`: no logger ever sent a reading. `offline`: no logger sent data for 15 minutes; while ' +
  'the edge is connected the night does not count. `degraded`: the edge agents are offline, a ' +
  'logger is offline, an inverter is in fault or disconnected, a logger underperforms (its alert ' +
  '`logger_underperformance` is open and not suppressed), or a critical alert is not resolved; ' +
  'see `health_reasons`. `healthy`: otherwise.'

export const health_reasons_max = 100

export interface LoggerVitals {
  logger_id: number
  /** The latest reading of the logger or of any of its inverters. */
  data_at: Date | null
}

interface Health {
  health_status: HealthStatus
  /**
   * `edge_offline`, `critical_alerts:2` (how many), `logger_offline:3`, `logger_no_data:3`,
   * `logger_underperformance:3`, `inverter_fault:7`, `inverter_disconnected:7`
   */
  health_reasons: string[]
}

/** Devices in service. */
interface Judged {
  loggers: readonly LoggerVitals[]
  inverters: readonly InverterVitals[]
  alerts: HealthAlerts
}

/** The unresolved alerts that affect the health of a site. */
export interface HealthAlerts {
  critical: number
  /** Loggers with an open `logger_underperformance` that is not suppressed. */
  underperforming_logger_ids: readonly number[]
}

export function siteHealth({ loggers, inverters, alerts }: Judged, situation: Situation): Health {
  const offline = loggers.filter(({ data_at }) => isOffline(data_at, situation))
  const reasons = [
    ...(situation.is_edge_offline ? ['edge_offline'] : []),
    ...(alerts.critical > 0 ? [`critical_alerts:${alerts.critical}`] : []),
    ...offline.map(({ logger_id, data_at }) =>
      data_at === null ? `logger_no_data:${logger_id}` : `logger_offline:${logger_id}`,
    ),
    ...alerts.underperforming_logger_ids.map((id) => `logger_underperformance:${id}`),
    ...inverters.flatMap((inverter) => inverterReason(inverter, situation) ?? []),
  ]
  return {
    health_status: statusOf(loggers, offline, reasons),
    health_reasons: reasons.slice(0, health_reasons_max),
  }
}

function statusOf(
  loggers: readonly LoggerVitals[],
  offline: readonly LoggerVitals[],
  reasons: readonly string[],
): HealthStatus {
  if (loggers.every(({ data_at }) => data_at === null)) return 'unknown'
  if (offline.length === loggers.length) return 'offline'
  return reasons.length > 0 ? 'degraded' : 'healthy'
}

/** A fault counts only while the inverter is connected: its last state may be old. */
function inverterReason(inverter: InverterVitals, situation: Situation): string | null {
  const comm_state = inverterCommState(inverter, situation)
  if (comm_state === 'disconnected') return `inverter_disconnected:${inverter.inverter_id}`
  const is_faulted = comm_state === 'connected' && inverter.state === 'fault'
  return is_faulted ? `inverter_fault:${inverter.inverter_id}` : null
}

/** @param inverters only those of the logger */
export function loggerStatus(
  { data_at }: LoggerVitals,
  inverters: readonly InverterVitals[],
  situation: Situation,
): LoggerStatus {
  if (data_at === null) return 'unknown'
  if (isOffline(data_at, situation)) return 'offline'
  const is_degraded = inverters.some((inverter) => inverterReason(inverter, situation) !== null)
  if (is_degraded) return 'degraded'
  return isAsleep(data_at, situation) ? 'asleep' : 'online'
}
