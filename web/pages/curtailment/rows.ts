/** Rows of curtailment in words: what a command asked for, and how far each plant has come. */
import type { CurtailmentRow } from '@heliograph/sdk'
import { formatNumber, formatPower } from '../../ui/format.ts'

export interface Command {
  group_id: string
  rows: CurtailmentRow[]
}

/** Rows by the command that made them, in the order in which they come. */
export function commandsOf(rows: readonly CurtailmentRow[]): Command[] {
  const groups = Map.groupBy(rows, ({ group_id }) => group_id)
  return [...groups].map(([group_id, rows]) => ({ group_id, rows }))
}

/** `60 % of rated power`, or `240 kW together`. */
export function limitWords({ limit_mode, limit_value, scope, max_power_kw }: CurtailmentRow) {
  if (limit_value === null || limit_mode === null) return formatPower(max_power_kw)
  if (limit_mode === 'percent') {
    return `${formatNumber(limit_value, Number.isInteger(limit_value) ? 0 : 1)} % of rated power`
  }
  return scope === 'site' ? `${formatPower(limit_value)} together` : formatPower(limit_value)
}

const statusTones: Record<CurtailmentRow['status'], string> = {
  scheduled: 'blue',
  active: 'orange',
  releasing: 'yellow',
  completed: 'gray',
  cancelled: 'gray',
  failed: 'red',
}

const statusWords: Record<CurtailmentRow['status'], string> = {
  scheduled: 'Scheduled',
  active: 'In force',
  releasing: 'Being released',
  completed: 'Over',
  cancelled: 'Released',
  failed: 'Failed',
}

/** Its state as far as the site has confirmed it: a limit is in force once devices have it. */
export function stateOf(row: CurtailmentRow): { words: string; tone: string } {
  const { status, acknowledged_at, applied_at } = row
  if (status === 'active' && applied_at === null) {
    return { words: acknowledged_at === null ? 'Sending' : 'Applying', tone: 'yellow' }
  }
  return { words: statusWords[status], tone: statusTones[status] }
}

export interface Step {
  label: string
  at: string | null
}

/** The way of a row, in order; a step without a time is still to come. */
export function stepsOf(row: CurtailmentRow): Step[] {
  const told = [
    { label: 'Asked for', at: row.created_at },
    { label: 'Received on site', at: row.acknowledged_at },
  ]
  const held = [
    { label: 'Devices limited', at: row.applied_at },
    { label: 'Verified', at: row.verified_at },
  ]
  if (row.cancelled_at === null && row.restore_started_at === null) return [...told, ...held]
  const lifted = [
    ...(row.cancelled_at ? [{ label: 'Release asked for', at: row.cancelled_at }] : []),
    { label: 'Releasing', at: row.restore_started_at },
    { label: 'Released', at: row.restored_at },
  ]
  return [...told, ...held.filter(({ at }) => at !== null), ...lifted]
}

/** When it no longer held, or is to. */
export function endOf(row: CurtailmentRow): string {
  return row.restored_at ?? row.completed_at ?? row.cancelled_at ?? row.end_at
}

/** Released before it began: it limited nothing. */
export const isWithdrawn = (row: CurtailmentRow) =>
  row.status === 'cancelled' && Date.parse(endOf(row)) <= Date.parse(row.start_at)

export const isMoving = (row: CurtailmentRow) =>
  row.status === 'releasing' || (row.status === 'active' && row.verified_at === null)
