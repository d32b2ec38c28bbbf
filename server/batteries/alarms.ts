/** The alarms of a unit: states of all alarms that it can raise, with time and severity. */
import { isAvailable, setBits } from '@heliograph/domain/alarms/decode'
import type { AlarmRow } from '@heliograph/domain/alarms/table'
import { fireAlarms, heartbeatAlarm } from '@heliograph/domain/battery-alarms'
import type { Severity } from '@heliograph/domain/link'
import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { Named, Nullable } from '../http/params.ts'
import {
  type BatterySeverity,
  batterySeverities,
  batterySeverity,
  measuredAlarms,
} from './active-alarms.ts'
import type { AlarmedPart, UnitWords } from './alarm-words.ts'
import {
  bitOf,
  type Condition,
  codeOf,
  nameOf,
  type Place,
  placeOf,
  unknownCode,
  unknownName,
} from './conditions.ts'
import { noThreshold, thresholdOf } from './thresholds.ts'

export const alarmSources = [
  'bms',
  'cluster',
  'pcs',
  'fire',
  'meter',
  'ems',
  'communication',
] as const
type AlarmSource = (typeof alarmSources)[number]

export const AlarmSeverity = Type.Enum([...batterySeverities], { examples: ['warning'] })
export const AlarmSourceName = field.OneOf(
  alarmSources,
  'Source of the alarm: `bms`: the battery management system. `ems`: the edge. `communication`: ' +
    'a part of the unit does not answer or its heartbeat stopped. `meter`: reserved for meters that ' +
    'report alarms.',
)

export type AlarmState = Static<typeof AlarmState>
export type Alarm = Omit<AlarmState, 'alert_id'>
export const AlarmState = Named('BatteryAlarmState', {
  code: field.Text(
    'Code by the alarm table; `alarm_1_bit_17` for a bit that is in no table. Identifies the ' +
      'alarm together with `source`, `pcs_idx` and `cluster_idx`.',
    'OVER_TEMP_WARNING',
  ),
  name: field.Text('Name of the alarm; constant for a `code`.', 'Overtemperature, pre-alarm'),
  message: field.TextOrNull('Last message of the edge; null without one.'),
  description: Nullable(Type.String()),
  source: AlarmSourceName,
  cluster_idx: field.CountOrNull(
    'The cluster; null for alarms of no cluster, and while the alarm is set in no cluster.',
  ),
  pcs_idx: field.CountOrNull('The PCS; null for alarms of no PCS.'),
  severity: AlarmSeverity,
  level: field.IntOrNull('Level of a protection: 1 pre-alarm, 2 first level, 3 second level.', {
    minimum: 1,
    maximum: 3,
  }),
  is_set: field.Flag('Whether the alarm is set, by the newest reading.', true),
  set_at: field.AtOrNull('When it was set; null while it is not set, and where not reported.'),
  cleared_at: field.AtOrNull('When it was last cleared; null while it is set.'),
  raw_value: field.NumOrNull('Present value that is compared with the threshold, in its unit.'),
  threshold_value: field.NumOrNull('Threshold set in the device; see /bess/{bess_id}/protection.'),
  threshold_unit: Nullable(Type.String({ examples: ['C'] })),
  latching: field.Flag(
    'Whether the alarm stays until it is reset; false also where not documented.',
  ),
  affects_power: field.Flag(
    'Whether the alarm may reduce the power of the unit. Assumed for `major` and `critical` ' +
      'alarms where not documented.',
  ),
  recommended_action: Nullable(Type.String()),
  alert_id: field.IntOrNull(
    'The unresolved alert of the alarm; null without one, such as during the delay of its rule.',
    { minimum: 1, examples: [812] },
  ),
})

/**
 * Alarms by part and bit, then conditions detected by the edge. For a word that was not read or is
 * not available, the last report of the edge decides. Alarms of clusters are listed for each
 * cluster in which they are set, or once where they are set in none.
 */
export function alarmStates(words: UnitWords, conditions: readonly Condition[]): Alarm[] {
  const by_part = Map.groupBy(conditions, (condition) => partKey(placeOf(condition)))
  const parts = words.parts.map((part) => ({
    part,
    bits: bitsOf(part, by_part.get(partKey(part)) ?? []),
  }))
  const listed = [
    ...parts.filter(({ part }) => part.cluster_idx === null).flatMap(allBits),
    ...clusterBits(parts.filter(({ part }) => part.cluster_idx !== null)),
  ]
  const measured = measuredAlarms(words.measured, conditions)
  const others = conditions.filter(
    (one) => !bitOf(one) && !measured.some(({ condition }) => condition === one),
  )
  return [
    ...listed.map((bit) => bitState(bit, words)),
    ...measured.map(({ alarm, is_set, condition }) => ({
      ...wordlessAlarm(alarm.code, alarm.name, alarm.severity, wholeUnit),
      ...sinceWhen(is_set, condition),
    })),
    ...others.map(conditionState),
  ]
}

const partKey = ({ pcs_idx, cluster_idx }: Place) => `${pcs_idx}/${cluster_idx}`

/** A bit of the words of a part; `at` is 32 times the word plus the bit. */
interface Bit {
  part: AlarmedPart
  at: number
  is_set: boolean
  condition: Condition | undefined
}

interface PartBits {
  part: AlarmedPart
  /** Set bits, and bits that an edge ever reported, by `at`. */
  bits: Map<number, Bit>
}

const wordOf = (at: number) => Math.floor(at / 32)

function bitsOf(part: AlarmedPart, conditions: readonly Condition[]): Map<number, Bit> {
  const words = part.words.map((word) =>
    word !== null && isAvailable(part.table, word) ? word : null,
  )
  const bits = new Map<number, Bit>()
  for (const [nth, word] of words.entries()) {
    for (const bit of setBits(word ?? 0)) {
      const at = 32 * (nth + 1) + bit
      bits.set(at, { part, at, is_set: true, condition: undefined })
    }
  }
  for (const condition of conditions) {
    const place = bitOf(condition)
    if (!place) continue
    const at = 32 * place.word + place.bit
    const is_read = (words[place.word - 1] ?? null) !== null
    const is_set = is_read ? (bits.get(at)?.is_set ?? false) : condition.edge === 'rising'
    bits.set(at, { part, at, is_set, condition })
  }
  return bits
}

function allBits({ part, bits }: PartBits): Bit[] {
  const explained = part.table.rows.map((row) => 32 * row.alarm_word + row.bit)
  return [...new Set([...explained, ...bits.keys()])]
    .sort((one, other) => one - other)
    .map((at) => bits.get(at) ?? { part, at, is_set: false, condition: undefined })
}

/** Set bits of each cluster, and once each bit that is set in no cluster. */
function clusterBits(clusters: readonly PartBits[]): Bit[] {
  const [first] = clusters
  if (!first) return []
  const set = clusters.flatMap(({ bits }) => [...bits.values()].filter(({ is_set }) => is_set))
  const places = new Set(set.map(({ at }) => at))
  const unset = new Map<number, Bit>()
  for (const bit of [...allBits(first), ...clusters.flatMap(({ bits }) => [...bits.values()])]) {
    if (places.has(bit.at)) continue
    const known = unset.get(bit.at)?.condition
    const is_later = !known || (bit.condition !== undefined && bit.condition.at > known.at)
    const part = { ...bit.part, cluster_idx: null }
    if (is_later) unset.set(bit.at, { ...bit, part })
  }
  return [...set, ...unset.values()]
}

function bitState({ part, at, is_set, condition }: Bit, words: UnitWords): Alarm {
  const { alarm_source: source, pcs_idx, cluster_idx, table } = part
  const [word, bit] = [wordOf(at), at % 32]
  const row = table.rows.find((one) => one.alarm_word === word && one.bit === bit)
  // Readings are of the whole unit and do not apply to PCS or clusters.
  const measured = source === 'bms' ? words.measured : {}
  return {
    ...(row ? known(row) : unknown(word, bit)),
    ...(row ? thresholdOf(row, words.protection, measured) : noThreshold),
    source,
    cluster_idx,
    pcs_idx,
    ...sinceWhen(is_set, condition),
  }
}

/** Source of an alarm; `code` is null for a bit of the words of a part. */
export function sourceOf(place: Place, code: string | null): AlarmSource {
  if (code !== null) return sourceOfCode(code)
  if (place.cluster_idx !== null) return 'cluster'
  return place.pcs_idx === null ? 'bms' : 'pcs'
}

const isGrave = (severity: BatterySeverity) => severity === 'major' || severity === 'critical'

function known(row: AlarmRow) {
  const severity = batterySeverity(row.severity)
  return {
    code: row.code,
    name: row.name,
    description: row.description,
    severity,
    level: row.protection_level ?? null,
    latching: row.latching ?? row.auto_clears === false,
    affects_power: row.affects_power ?? row.stops_production ?? isGrave(severity),
    recommended_action: row.recommended_action,
  }
}

const unknown = (word: number, bit: number) => ({
  code: unknownCode(word, bit),
  name: unknownName(word, bit),
  severity: 'warning' as const,
  ...unexplained,
  affects_power: false,
})

const unexplained = {
  description: null,
  level: null,
  latching: false,
  recommended_action: null,
} as const

function sinceWhen(is_set: boolean, condition: Condition | undefined) {
  const at = condition?.at.toISOString() ?? null
  return {
    is_set,
    message: condition?.message ?? null,
    set_at: is_set && condition?.edge === 'rising' ? at : null,
    cleared_at: !is_set && condition?.edge === 'falling' ? at : null,
  }
}

const wholeUnit: Place = { pcs_idx: null, cluster_idx: null }

function wordlessAlarm(code: string, name: string, reported: Severity, place: Place) {
  const severity = batterySeverity(reported)
  return {
    code,
    name,
    severity,
    source: sourceOf(place, code),
    ...unexplained,
    ...noThreshold,
    ...place,
    affects_power: isGrave(severity),
  }
}

const conditionState = (condition: Condition): Alarm => ({
  ...wordlessAlarm(codeOf(condition), nameOf(condition), condition.severity, placeOf(condition)),
  ...sinceWhen(condition.edge === 'rising', condition),
})

function sourceOfCode(of: string): AlarmSource {
  if (fireAlarms.some(({ code }) => code === of)) return 'fire'
  const is_lost = of.startsWith('device_offline') || of === heartbeatAlarm.code
  return is_lost ? 'communication' : 'ems'
}
