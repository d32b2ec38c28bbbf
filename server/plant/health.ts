/** How a site and its loggers are, by rules over communication, device state and alerts. */
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
  '`unknown`: no logger ever delivered a reading. `offline`: none did for 15 minutes, not ' +
  'counting the night while the edge is heard of. ' +
  '`degraded`: no edge agent of the site is heard of, a logger is offline, an inverter is in fault or does not answer by day, a logger ' +
  'delivers less than the sun allows it (its alert `logger_underperformance` is open and nothing ' +
  'explains it), or a critical alert is not resolved (`health_reasons` says which). `healthy`: ' +
  'all else.'

export const health_reasons_max = 100

export interface LoggerVitals {
  logger_id: number
  /** When anything of the logger was measured last, its own values or an inverter's. */
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

interface Judged {
  /** Those in the inventory; retired ones are not among them. */
  loggers: readonly LoggerVitals[]
  inverters: readonly InverterVitals[]
  alerts: HealthAlerts
}

/** Of alerts that are not resolved, what tells of the health of a site. */
export interface HealthAlerts {
  critical: number
  /** Loggers that deliver less than the sun allows, where neither work nor a limit explains it. */
  underperforming_logger_ids: readonly number[]
}

export function siteHealth({ loggers, inverters, alerts }: Judged, situation: Situation): Health {
  const silent = loggers.filter(({ data_at }) => isOffline(data_at, situation))
  const reasons = [
    ...(situation.is_edge_silent ? ['edge_offline'] : []),
    ...(alerts.critical > 0 ? [`critical_alerts:${alerts.critical}`] : []),
    ...silent.map(({ logger_id, data_at }) =>
      data_at === null ? `logger_no_data:${logger_id}` : `logger_offline:${logger_id}`,
    ),
    ...alerts.underperforming_logger_ids.map((id) => `logger_underperformance:${id}`),
    ...inverters.flatMap((inverter) => inverterReason(inverter, situation) ?? []),
  ]
  return {
    health_status: statusOf(loggers, silent, reasons),
    health_reasons: reasons.slice(0, health_reasons_max),
  }
}

function statusOf(
  loggers: readonly LoggerVitals[],
  silent: readonly LoggerVitals[],
  reasons: readonly string[],
): HealthStatus {
  if (loggers.every(({ data_at }) => data_at === null)) return 'unknown'
  if (silent.length === loggers.length) return 'offline'
  return reasons.length > 0 ? 'degraded' : 'healthy'
}

/** A fault counts only while the inverter answers: what it said last may be long past. */
function inverterReason(inverter: InverterVitals, situation: Situation): string | null {
  const comm_state = inverterCommState(inverter, situation)
  if (comm_state === 'disconnected') return `inverter_disconnected:${inverter.inverter_id}`
  const is_faulted = comm_state === 'connected' && inverter.state === 'fault'
  return is_faulted ? `inverter_fault:${inverter.inverter_id}` : null
}

/** Of one logger, with the inverters of that logger alone. */
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
