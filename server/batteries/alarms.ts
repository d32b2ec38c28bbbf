/** The alarms of a unit: states of all alarms that it can raise, with time and severity. */
import { isAvailable, setBits } from '@heliograph/domain/alarms/decode'
import type { AlarmRow } from '@heliograph/domain/alarms/table'
import { fireAlarms, heartbeatAlarm } from '@heliograph/domain/battery-alarms'
import type { Severity } from '@heliograph/domain/link'
import { type Static, Type } from 'typebox'
import { Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import {
  type BatterySeverity,
  batterySeverities,
  batterySeverity,
  measuredAlarms,
} from './active-alarms.ts'
import { nameOf, unknownName } from './alarm-names.ts'
import type { AlarmedPart, UnitWords } from './alarm-words.ts'
import { bitOf, type Condition, codeOf, type Place, placeOf, unknownCode } from './conditions.ts'
import { thresholdOf } from './thresholds.ts'

export const alarmSources = [
  'bms',
  'cluster',
  'pcs',
  'fire',
  'meter',
  'ems',
  'communication',
] as const
export type AlarmSource = (typeof alarmSources)[number]

export const AlarmSeverity = Type.Enum([...batterySeverities])
export const AlarmSourceName = Type.Enum([...alarmSources], {
  description:
    'Source of the alarm: `bms`: the battery management system. `ems`: the edge. `communication`: ' +
    'a part of the unit does not answer or its heartbeat stopped. `meter`: reserved for meters that ' +
    'report alarms.',
})
export const ClusterIdx = (description: string) =>
  Nullable(Type.Integer({ minimum: 0, description }))

export type AlarmState = Static<typeof AlarmState>
/** An alarm by the reports of unit and edge. */
export type Alarm = Omit<AlarmState, 'alert_id'>
export const AlarmState = Type.Object(
  {
    code: Type.String({
      description:
        'Code by the alarm table; `alarm_1_bit_17` for a bit that is in no table. Identifies the ' +
        'alarm together with `source`, `pcs_idx` and `cluster_idx`.',
    }),
    name: Type.String({ description: 'Name of the alarm; constant for a `code`.' }),
    message: Nullable(
      Type.String({
        description: 'Last message of the edge; null without one.',
      }),
    ),
    description: Nullable(Type.String()),
    source: AlarmSourceName,
    cluster_idx: ClusterIdx(
      'The cluster; null for alarms of no cluster, and while the alarm is set in no cluster.',
    ),
    pcs_idx: ClusterIdx('The PCS; null for alarms of no PCS.'),
    severity: AlarmSeverity,
    level: Nullable(
      Type.Integer({
        minimum: 1,
        maximum: 3,
        description: 'Level of a protection: 1 pre-alarm, 2 first level, 3 second level.',
      }),
    ),
    is_set: Type.Boolean({ description: 'Whether the alarm is set, by the newest reading.' }),
    set_at: Nullable(At('When it was set; null while it is not set, and where not reported.')),
    cleared_at: Nullable(At('When it was last cleared; null while it is set.')),
    raw_value: Nullable(
      Type.Number({
        description: 'Present value that is compared with the threshold, in its unit.',
      }),
    ),
    threshold_value: Nullable(
      Type.Number({ description: 'Threshold set in the device; see /bess/{bess_id}/protection.' }),
    ),
    threshold_unit: Nullable(Type.String()),
    latching: Type.Boolean({
      description: 'Whether the alarm stays until it is reset; false also where not documented.',
    }),
    affects_power: Type.Boolean({
      description:
        'Whether the alarm may reduce the power of the unit. Assumed for `major` and `critical` ' +
        'alarms where not documented.',
    }),
    recommended_action: Nullable(Type.String()),
    alert_id: Nullable(
      Type.Integer({
        minimum: 1,
        description:
          'The unresolved alert of the alarm; null without one, such as during the delay of its ' +
          'rule.',
      }),
    ),
  },
  { additionalProperties: false, $id: 'BatteryAlarmState' },
)

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
      ...wordlessAlarm({ ...alarm, place: wholeUnit }),
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
  const { table, words } = part
  const readWord = (word: number) => {
    const value = words[word - 1] ?? null
    return value !== null && isAvailable(table, value) ? value : null
  }
  const reported = new Map<number, Condition>()
  for (const condition of conditions) {
    const place = bitOf(condition)
    if (place) reported.set(32 * place.word + place.bit, condition)
  }
  const set = new Set(
    words.flatMap((_, nth) => setBits(readWord(nth + 1) ?? 0).map((bit) => 32 * (nth + 1) + bit)),
  )
  return new Map(
    [...new Set([...set, ...reported.keys()])].map((at): [number, Bit] => {
      const condition = reported.get(at)
      const is_read = readWord(wordOf(at)) !== null
      const is_set = is_read ? set.has(at) : condition?.edge === 'rising'
      return [at, { part, at, is_set, condition }]
    }),
  )
}

/** Includes all bits of the table. */
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

const noThreshold = { raw_value: null, threshold_value: null, threshold_unit: null }

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

/** An alarm that is no bit of an alarm word. */
function wordlessAlarm({
  code,
  name,
  place,
  ...of
}: Pick<AlarmState, 'code' | 'name'> & { severity: Severity; place: Place }) {
  const severity = batterySeverity(of.severity)
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

function conditionState(condition: Condition): Alarm {
  const { severity, edge } = condition
  const [code, name] = [codeOf(condition), nameOf(condition)]
  return {
    ...wordlessAlarm({ code, name, severity, place: placeOf(condition) }),
    ...sinceWhen(edge === 'rising', condition),
  }
}

function sourceOfCode(of: string): AlarmSource {
  if (fireAlarms.some(({ code }) => code === of)) return 'fire'
  const is_lost = of.startsWith('device_offline') || of === heartbeatAlarm.code
  return is_lost ? 'communication' : 'ems'
}
