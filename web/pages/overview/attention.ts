/** Ranks what needs attention on a site: the most severe first, then the most money. */
import type { Alert, BatteryDeviation, Overview, StringHealth, WorkOrder } from '@heliograph/sdk'
import { alertsOf } from '../../ui/device-places.ts'
import { healthReason } from '../../ui/health-names.ts'
import { bySeverity } from '../../ui/severities.ts'
import { deviationsOf } from '../batteries/battery-day/deviation-words.ts'
import { isWeak, weakWords } from './words.ts'

export interface Item {
  key: string
  severity: Alert['severity']
  title: string
  /** Address below the site. */
  to: string
  /** Start of the condition. */
  since?: string
  note?: string
  /** Money lost so far; null when unknown. */
  lost_amount: number | null
  currency: string | null
}

export function ranked(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => bySeverity(a, b) || (b.lost_amount ?? 0) - (a.lost_amount ?? 0))
}

export const alertItem = (alert: Alert, device: string | null): Item => ({
  key: `alert-${alert.alert_id}`,
  severity: alert.severity,
  title: device === null ? alert.title : `${device}: ${alert.title}`,
  to: `/alerts?alert_id=${alert.alert_id}`,
  since: alert.started_at,
  ...(alert.status === 'acknowledged' && { note: 'Acknowledged' }),
  lost_amount: alert.lost_amount,
  currency: alert.currency,
})

/** Reasons of the health of the site for which no alert is open (yet). */
export function healthItems(
  { status, loggers, inverters }: Overview,
  alerts: readonly Alert[],
): Item[] {
  const reasons = status.health_reasons
  return reasons.flatMap((reason): Item[] => {
    const [code = '', id = ''] = reason.split(':')
    const nth = Number(id)
    // One cause is one item: without its edge a site has no connection to its inverters.
    if (code === 'inverter_disconnected' && reasons.includes('edge_offline')) return []
    // A plant without connection is offline as well.
    if (code === 'logger_offline' && reasons.includes(`logger_disconnected:${id}`)) return []
    // The list has the alerts themselves.
    if (code === 'critical_alerts') return []
    const of_inverter = code.startsWith('inverter_')
    const place = of_inverter ? { inverter_id: nth } : { logger_id: nth }
    if (id !== '' && alertsOf(alerts, place).length > 0) return []
    const name = of_inverter
      ? inverters.find(({ inverter_id }) => inverter_id === nth)?.name
      : loggers.find(({ logger_id }) => logger_id === nth)?.name
    const to = of_inverter ? `/inverters/${id}` : id === '' ? '/plants' : `/plants/${id}`
    const is_lost = code === 'edge_offline' || code === 'logger_disconnected'
    return [
      {
        key: reason,
        severity: is_lost ? 'critical' : 'major',
        title: healthReason(name ? `${code}:${name}` : reason),
        to,
        lost_amount: null,
        currency: null,
      },
    ]
  })
}

/** All weak strings as one item, with their loss of the last seven days. */
export function stringItems(
  strings: readonly StringHealth[],
  price: { per_mwh: number; currency: string } | null,
): Item[] {
  const own = strings.filter(({ status }) => isWeak(status))
  const words = weakWords(own.map(({ status }) => status))
  if (words === null) return []
  const lost_kwh = own.reduce((sum, string) => sum + (string.estimated_loss_kwh ?? 0), 0)
  const is_bad = own.some(({ status }) => status === 'dead' || status === 'critical')
  return [
    {
      key: 'strings',
      severity: is_bad ? 'major' : 'warning',
      title: words,
      to: '/string-health',
      note: `about ${lost_kwh.toFixed(1)} kWh lost in 7 days`,
      lost_amount: price && (lost_kwh / 1000) * price.per_mwh,
      currency: price?.currency ?? null,
    },
  ]
}

/** Each overdue work order, and the count of the other open ones. */
export function workItems(orders: readonly WorkOrder[], now_ms: number): Item[] {
  const isOverdue = ({ due_at, sla_breached }: WorkOrder) =>
    sla_breached || (due_at !== null && Date.parse(due_at) < now_ms)
  const base = { lost_amount: null, currency: null }
  const overdue = orders.filter(isOverdue).map(
    (order): Item => ({
      ...base,
      key: `order-${order.wo_id}`,
      severity: 'warning',
      title: `${order.number} is overdue: ${order.title}`,
      to: `/work-orders/${order.wo_id}`,
      note: order.assigned_to ?? 'Not assigned',
    }),
  )
  const count = orders.length - overdue.length
  if (count === 0) return overdue
  const unassigned = orders.filter((order) => !isOverdue(order) && order.assigned_to === null)
  const open: Item = {
    ...base,
    key: 'orders',
    severity: 'info',
    title: `${count} open ${count === 1 ? 'work order' : 'work orders'}`,
    to: '/work-orders',
    ...(unassigned.length > 0 && { note: `${unassigned.length} not assigned` }),
  }
  return [...overdue, open]
}

/** A battery that left its plan at a cost. */
export function deviationItem(
  { bess_id, name }: { bess_id: number; name: string },
  rows: readonly BatteryDeviation[],
): Item[] {
  const { planned, strayed, cost_amount, currency } = deviationsOf(rows)
  if (strayed.length === 0 || (cost_amount !== null && cost_amount <= 0)) return []
  return [
    {
      key: `deviation-${bess_id}`,
      severity: 'warning',
      title: `${name}: ${strayed.length} of ${planned.length} planned hours deviated today`,
      to: `/batteries/${bess_id}/day`,
      lost_amount: cost_amount,
      currency,
    },
  ]
}
