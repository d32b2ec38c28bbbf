import { Badge } from '@mantine/core'

const tones = {
  healthy: 'teal',
  degraded: 'orange',
  offline: 'red',
  unknown: 'gray',
} as const

export const HealthBadge = ({ status }: { status: keyof typeof tones }) => (
  <Badge color={tones[status]}>{status}</Badge>
)

const reasons: Record<string, (id: string) => string> = {
  critical_alerts: (count) => `${count} critical ${count === '1' ? 'alert' : 'alerts'}`,
  edge_offline: () => 'The site is not connected',
  logger_disconnected: (id) => `Plant ${id} is not connected`,
  logger_offline: (id) => `Plant ${id} is offline`,
  logger_no_data: (id) => `Plant ${id} never sent data`,
  logger_underperformance: (id) => `Plant ${id} delivers less than the sun allows`,
  inverter_fault: (id) => `Inverter ${id} is in fault`,
  inverter_disconnected: (id) => `Inverter ${id} does not answer`,
}

/** `inverter_fault:7` in words. */
export function healthReason(reason: string): string {
  const [code = '', id = ''] = reason.split(':')
  return reasons[code]?.(id) ?? reason
}
