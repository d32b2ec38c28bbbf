/** Service levels: response and resolution times by priority. */
import { hour_ms } from '@heliograph/domain/durations'

export const priorities = ['low', 'normal', 'high', 'urgent'] as const
export type Priority = (typeof priorities)[number]

/**
 * Hours from creation, nights and holidays included. The values are ours: contracts for operation
 * and maintenance commonly require hours for an outage and days for minor losses. A stricter
 * contract sets `due_at` of the work order.
 */
export const serviceHours: Readonly<
  Record<Priority, { response_h: number; resolution_h: number }>
> = {
  urgent: { response_h: 4, resolution_h: 24 },
  high: { response_h: 24, resolution_h: 72 },
  normal: { response_h: 72, resolution_h: 14 * 24 },
  low: { response_h: 7 * 24, resolution_h: 30 * 24 },
}

/** Bounds planned work, which suppresses alerts. */
export const planned_days_max = 92

/** The table as a sentence for the API reference. */
export const serviceRule = priorities
  .toReversed()
  .map((priority) => {
    const { response_h, resolution_h } = serviceHours[priority]
    return `\`${priority}\` ${response_h} h and ${resolution_h} h`
  })
  .join(', ')

export function serviceTimes(priority: Priority, created_at: Date) {
  const { response_h, resolution_h } = serviceHours[priority]
  const after = (hours: number) => new Date(created_at.getTime() + hours * hour_ms)
  return { response_due_at: after(response_h), resolution_due_at: after(resolution_h) }
}

export interface ServiceRecord {
  acknowledged_at: Date | null
  completed_at: Date | null
  cancelled_at: Date | null
  response_due_at: Date | null
  resolution_due_at: Date | null
  /** An additional deadline, for example of a contract. */
  due_at: Date | null
}

/** The deadlines of a new priority; deadlines of finished steps stay. */
export function reprioritised(
  priority: Priority,
  order: Pick<ServiceRecord, 'acknowledged_at' | 'completed_at'> & { created_at: Date },
) {
  const { response_due_at, resolution_due_at } = serviceTimes(priority, order.created_at)
  return {
    ...(order.acknowledged_at === null && { response_due_at }),
    ...(order.completed_at === null && { resolution_due_at }),
  }
}

/** Whether a deadline was missed, or has passed without the step. */
export function isBreached(record: ServiceRecord, now: Date): boolean {
  const { acknowledged_at, completed_at, cancelled_at } = record
  const over = (due_at: Date | null, met_at: Date | null) =>
    due_at !== null && (met_at ?? cancelled_at ?? now) > due_at
  return (
    over(record.response_due_at, acknowledged_at) ||
    over(record.resolution_due_at, completed_at) ||
    over(record.due_at, completed_at)
  )
}
