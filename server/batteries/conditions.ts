/**
 * Conditions of a unit that edges report as pairs of events, such as an alarm or a device that does
 * not answer. Sources of unit 1: `bess` 1 (the whole unit), `bess` 1.cluster.0 (a cluster), `bess`
 * 1.cells and similar (a part that is read separately), `pcs` 1.0.
 */
import { readAlarms } from '@heliograph/domain/battery-alarms'
import type { Severity } from '@heliograph/domain/link'
import type { Queries } from '../storage/database.ts'
import { newestEvents } from '../storage/events.ts'

export interface Condition {
  source_kind: 'bess' | 'pcs'
  source_id: string
  code: string
  edge: 'rising' | 'falling'
  severity: Severity
  message: string
  at: Date
}

type Source = Pick<Condition, 'source_kind' | 'source_id'>

export interface Place {
  pcs_idx: number | null
  cluster_idx: number | null
}

/** Part of the unit that a source is; both null for the whole unit. */
export function placeOf({ source_kind, source_id }: Source): Place {
  const [, part = '', index = ''] = source_id.split('.')
  if (source_kind === 'pcs') return { pcs_idx: Number(part), cluster_idx: null }
  return { pcs_idx: null, cluster_idx: part === 'cluster' ? Number(index) : null }
}

export function bitOf({ code }: Pick<Condition, 'code'>): { word: number; bit: number } | null {
  const [, word, bit] = /^alarm:[^:]*:(\d+):(\d+)$/.exec(code) ?? []
  return word === undefined ? null : { word: Number(word), bit: Number(bit) }
}

export const unknownCode = (word: number, bit: number) => `alarm_${word}_bit_${bit}`
export const unknownName = (word: number, bit: number) => `Unknown alarm: word ${word}, bit ${bit}`

const names: Readonly<Record<string, string>> = {
  device_offline: 'Device does not answer',
  setpoint_not_armed: 'Setpoint is not fail-safe',
  setpoint_not_taken: 'Setpoint is not accepted',
  pcs_counts_in_full: 'PCS counts with its maximum discharging power',
  pcs_contrary: 'PCS power is opposite to its setpoint',
}

export function nameOf({ code }: Pick<Condition, 'code'>): string {
  const bit = bitOf({ code })
  if (bit) return unknownName(bit.word, bit.bit)
  const known = names[code] ?? readAlarms.find((one) => one.code === code)?.name
  if (known !== undefined) return known
  const [what = '', ...of] = code.split(':')
  const words = what.replaceAll('_', ' ')
  const subject = of.length === 0 ? '' : `: ${of.join(':')}`
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${subject}`
}

/** API code of a condition that is no bit; separately read parts get a suffix such as `:cells`. */
export function codeOf({ source_kind, source_id, code }: Source & Pick<Condition, 'code'>) {
  const [, part = ''] = source_id.split('.')
  return source_kind === 'pcs' || ['', 'cluster'].includes(part) ? code : `${code}:${part}`
}

/** SQL: the API code of any condition, of a row of `events`. */
export const codeText = (events: string) => `
  case when ${events}.code like 'alarm:%' then coalesce(${events}.details ->> 'alarm_code',
         'alarm_' || split_part(${events}.code, ':', 3)
           || '_bit_' || split_part(${events}.code, ':', 4))
       when ${events}.source_kind = 'pcs'
         or split_part(${events}.source_id, '.', 2) in ('', 'cluster') then ${events}.code
       else ${events}.code || ':' || split_part(${events}.source_id, '.', 2) end`

/** SQL: a condition on `events` for one unit; `bess_id` is a placeholder for its id as text. */
export const ofUnit = (bess_id: string, events = 'events') =>
  `${events}.source_kind in ('bess', 'pcs')
   and (${events}.source_id = ${bess_id} or starts_with(${events}.source_id, ${bess_id} || '.'))`

export const unitOf = ({ source_id }: Pick<Source, 'source_id'>) =>
  Number(source_id.split('.', 1)[0])

interface ConditionsAsked {
  site_id: string
  /** Null: all units. */
  bess_id: number | null
  /** Only conditions without an end. */
  only_set?: boolean
}

/** The newest event of each condition. */
export const readConditions = (
  db: Queries,
  { site_id, bess_id, only_set = false }: ConditionsAsked,
): Promise<Condition[]> => db.query<Condition>(newest, [site_id, bess_id, only_set])

const newest = {
  name: 'battery_conditions',
  text: `${newestEvents("site_id = $1 and source_kind in ('bess', 'pcs') and edge <> 'once'")}
    select * from newest
    where ($2::text is null or ${ofUnit('$2', 'newest')})
      and (edge = 'rising' or not $3::boolean)`,
}
