import type { StringHealth } from '@heliograph/sdk'

export const healthNames: Record<StringHealth['status'], string> = {
  healthy: 'Healthy',
  watch: 'Watch',
  underperforming: 'Underperforming',
  critical: 'Critical',
  dead: 'Dead',
  no_data: 'No data',
}

const reasons: Record<string, (id: string) => string> = {
  critical_alerts: (count) => `${count} critical ${count === '1' ? 'alert' : 'alerts'}`,
  edge_offline: () => 'Site offline: communication lost',
  logger_disconnected: (id) => `Plant ${id} is offline: communication lost`,
  logger_offline: (id) => `Plant ${id} is offline`,
  logger_no_data: (id) => `Plant ${id} has never sent data`,
  logger_underperformance: (id) => `Plant ${id} underperforms`,
  inverter_fault: (id) => `Inverter ${id} is in fault`,
  inverter_disconnected: (id) => `Inverter ${id}: communication lost`,
}

/** Text of a reason such as `inverter_fault:7`. */
export function healthReason(reason: string): string {
  const [code = '', id = ''] = reason.split(':')
  return reasons[code]?.(id) ?? reason
}
