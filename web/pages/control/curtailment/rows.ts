import type { CurtailmentRow } from '@heliograph/sdk'
import { formatNumber, formatPower } from '../../../ui/format.ts'

export interface Command {
  /** null: an order from outside, which nobody can release here. */
  group_id: string | null
  rows: CurtailmentRow[]
}

export function commandsOf(rows: readonly CurtailmentRow[]): Command[] {
  // Rows of one order from outside begin together.
  const keyOf = (row: CurtailmentRow) => row.group_id ?? `${row.source} ${row.start_at}`
  const groups = Map.groupBy(rows, keyOf)
  return [...groups.values()].map((rows) => ({ group_id: rows[0]!.group_id, rows }))
}

const outsiders: Partial<Record<CurtailmentRow['source'], string>> = {
  grid_operator: 'the grid operator',
  direct_marketer: 'the direct marketer',
  digital_input: 'the relay inputs',
}

/** Who ordered a limit from outside, and alone can end it; null for other limits. */
export const outsiderOf = ({ source }: CurtailmentRow): string | null => outsiders[source] ?? null

/** `60 % of rated power`, or `240 kW together`. */
export function limitWords({ limit_mode, limit_value, scope, max_power_kw }: CurtailmentRow) {
  if (limit_value === null || limit_mode === null) return formatPower(max_power_kw)
  if (limit_mode === 'percent') {
    return `${formatNumber(limit_value, Number.isInteger(limit_value) ? 0 : 1)} % of rated power`
  }
  return scope === 'site' ? `${formatPower(limit_value)} together` : formatPower(limit_value)
}

interface State {
  words: string
  tone: string
}

const states: Record<CurtailmentRow['status'], State> = {
  scheduled: { words: 'Scheduled', tone: 'blue' },
  active: { words: 'In force', tone: 'orange' },
  releasing: { words: 'Releasing', tone: 'yellow' },
  completed: { words: 'Ended', tone: 'gray' },
  cancelled: { words: 'Released', tone: 'gray' },
  failed: { words: 'Failed', tone: 'red' },
}

/** Confirmed state: a limit is in force once the devices apply it. */
export function stateOf(row: CurtailmentRow): State {
  const { status, acknowledged_at, applied_at } = row
  if (status === 'active' && applied_at === null) {
    return { words: acknowledged_at === null ? 'Sending' : 'Applying', tone: 'yellow' }
  }
  return states[status]
}

interface Step {
  label: string
  at: string | null
}

/** Steps of an order; a step without a time is pending. */
export function stepsOf(row: CurtailmentRow): Step[] {
  const sent = [
    { label: 'Requested', at: row.created_at },
    { label: 'Received on site', at: row.acknowledged_at },
  ]
  const applied_steps = [
    { label: 'Devices limited', at: row.applied_at },
    { label: 'Verified', at: row.verified_at },
  ]
  const { release_requested_at, restore_started_at, closed_at } = row
  const is_ending = row.status === 'releasing' || restore_started_at !== null
  if (release_requested_at === null && !is_ending) return [...sent, ...applied_steps]
  const released_steps = [
    ...(release_requested_at ? [{ label: 'Release requested', at: release_requested_at }] : []),
    { label: 'Releasing', at: restore_started_at },
    { label: 'Released', at: row.restored_at },
    ...(closed_at ? [{ label: 'Record closed', at: closed_at }] : []),
  ]
  return [...sent, ...applied_steps.filter(({ at }) => at !== null), ...released_steps]
}

/** Actual or planned end of the limit; null: until its source replaces it. */
export function endOf(row: CurtailmentRow): string | null {
  const over_at = row.restored_at ?? row.completed_at ?? row.cancelled_at
  return over_at ?? row.release_requested_at ?? row.end_at
}

/** Unix ms; infinite without an end. */
export const instantOfEnd = (end_at: string | null): number =>
  end_at === null ? Number.POSITIVE_INFINITY : Date.parse(end_at)

/** Released before its start, so that it had no effect. */
export const isWithdrawn = ({
  status,
  applied_at,
  release_requested_at,
  start_at,
}: CurtailmentRow) =>
  status === 'cancelled' &&
  applied_at === null &&
  release_requested_at !== null &&
  Date.parse(release_requested_at) <= Date.parse(start_at)

const releasingWords: Record<NonNullable<CurtailmentRow['releasing_reason']>, string> = {
  edge_unreachable: 'The site cannot be reached and has not confirmed the release.',
  raise_refused: 'The site is not allowed to raise the plant.',
  device_not_restored: 'A device is not restored.',
  awaiting_confirmation: 'The site has not confirmed the release yet.',
}

/** Reason why the release takes long; null otherwise. */
export const releasingReason = ({ releasing_reason }: CurtailmentRow): string | null =>
  releasing_reason && releasingWords[releasing_reason]

/** The edge confirms within seconds unless something is wrong. */
const confirmed_within_ms = 60_000

/** Unconfirmed for so long that a person may have to close the record. */
export const isStuck = (row: CurtailmentRow, now_ms: number) =>
  row.status === 'releasing' &&
  row.group_id !== null &&
  now_ms - instantOfEnd(row.release_requested_at ?? row.end_at) > confirmed_within_ms

export const isChanging = (row: CurtailmentRow) =>
  row.status === 'releasing' || (row.status === 'active' && row.verified_at === null)
