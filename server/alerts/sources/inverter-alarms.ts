/**
 * Faults and alarms that inverters report. The alarms of an inverter in fault are part of the fault
 * alert, so that one cause gets one alert.
 */

import { decodeAlarms } from '@heliograph/domain/alarms/decode'
import { day_ms } from '@heliograph/domain/durations'
import { unknownCode } from '../../batteries/conditions.ts'
import { alarmTableOf, noTable } from '../../plant/alarm-tables.ts'
import type { Queries } from '../../storage/database.ts'
import { alarm_words } from '../../telemetry/rows.ts'
import {
  type AlertSource,
  dedupKey,
  type Finding,
  type OpenAlert,
  ofInverter,
  type Scan,
} from '../finding.ts'
import { alertSeverities } from '../rule.ts'
import { alertSeverity } from './event-alerts.ts'
import { type InverterNow, isFaulted, isLive, type PlantNow, readPlantNow } from './plant-now.ts'
import { missingPower, type PossiblePower, readPossiblePower } from './possible-power.ts'

/** How far back to search for the start of a condition. */
const searched_ms = day_ms

export const findInverterAlarms: AlertSource = async (context) => {
  const plant = await readPlantNow(context)
  const { db, site, now } = context
  const conditions = conditionsOf(plant)
  const fresh = conditions.filter((each) => !plant.known_since.has(dedupKey(each)))
  const stopped = conditions.filter(({ stops }) => stops).map(({ inverter }) => inverter)
  const [began, possible] = await Promise.all([
    readBegan(db, site.site_id, fresh, new Date(now.getTime() - searched_ms)),
    readPossiblePower(context, plant, [...new Set(stopped)]),
  ])
  const findings = conditions.map((condition) => {
    const key = dedupKey(condition)
    const since = plant.known_since.get(key) ?? began.get(key) ?? now
    return findingOf(condition, { since, possible, plant })
  })
  return { findings, isUnknown: (open) => isUnknown(open, plant) } satisfies Scan
}

type SetAlarm = ReturnType<typeof setAlarms>[number]

/** A fault with all its alarms, or a single alarm. */
interface Condition extends ReturnType<typeof ofInverter> {
  code: 'inverter_fault' | 'inverter_alarm'
  part?: string
  inverter: InverterNow
  alarms: SetAlarm[]
  /** The inverter produces nothing while this holds. */
  stops: boolean
}

export function conditionsOf({ inverters }: Pick<PlantNow, 'inverters'>): Condition[] {
  return [...inverters.values()].filter(isLive).flatMap((inverter): Condition[] => {
    const alarms = setAlarms(inverter)
    const source = ofInverter(inverter)
    if (isFaulted(inverter)) {
      return [{ code: 'inverter_fault', ...source, inverter, alarms, stops: true }]
    }
    return alarms.map((alarm) => ({
      code: 'inverter_alarm',
      ...source,
      part: alarm.code,
      inverter,
      alarms: [alarm],
      stops: alarm.stops_production,
    }))
  })
}

export function setAlarms(inverter: Pick<InverterNow, 'driver' | 'alarm_words'>) {
  if (inverter.alarm_words.every((word) => !word)) return []
  const decoded = decodeAlarms(alarmTableOf(inverter) ?? noTable, inverter.alarm_words)
  const known = decoded.alarms.map(({ code, name, severity, stops_production, word, bit }) => ({
    code,
    text: `${code} (${name})`,
    severity: alertSeverity(severity),
    word,
    bit,
    stops_production: stops_production ?? false,
  }))
  const unknown = decoded.unknown_bits.map(({ word, bit }) => ({
    code: unknownCode(word, bit),
    severity: 'warning' as const,
    stops_production: false,
    text: `bit ${bit} of alarm word ${word}, which is in no alarm table`,
    word,
    bit,
  }))
  const all = [...known, ...unknown]
  // Some makers signal one alarm by several bits.
  return all.filter(({ code }, nth) => all.findIndex((each) => each.code === code) === nth)
}

function findingOf(
  { inverter, alarms, stops, ...condition }: Condition,
  round: { since: Date; possible: PossiblePower; plant: Pick<PlantNow, 'loggers'> },
): Finding {
  const { logger_id, name } = inverter
  const plant = round.plant.loggers.get(logger_id)?.name ?? logger_id
  const of = `Inverter '${name}' of plant '${plant}'`
  const said = alarms.map(({ text }) => text).join(', ')
  const missing_kw = stops ? missingPower(inverter, round.possible) : null
  const worst = alertSeverities.findLast((each) => alarms.some(({ severity }) => severity === each))
  const is_fault = condition.code === 'inverter_fault'
  const severity = is_fault && worst !== 'critical' ? undefined : worst
  const fault = said === '' ? `${of} is in fault.` : `${of} is in fault: ${said}.`
  return {
    ...condition,
    since: round.since,
    message: is_fault ? fault : `${of} reports ${said}.`,
    ...(severity && { severity }),
    ...(missing_kw !== null && { affected_power_kw: missing_kw }),
    vendor_codes: alarms.map(({ code }) => code),
  }
}

/** Unknown while the inverter is offline. A fault includes the alarms of its inverter. */
function isUnknown({ code, inverter_id, part }: OpenAlert, plant: PlantNow): boolean {
  const inverter = plant.inverters.get(inverter_id ?? Number.NaN)
  if (!inverter) return false
  if (!isLive(inverter) || inverter.state === null) return true
  return code === 'inverter_alarm' && (isFaulted(inverter) || isUnread(inverter, part))
}

function isUnread({ driver, alarm_words }: InverterNow, code: string | null): boolean {
  const table = alarmTableOf({ driver }) ?? noTable
  const row = table.rows.find((each) => each.code === code)
  const word = row?.alarm_word ?? Number(/^alarm_(\d)_bit_\d+$/.exec(code ?? '')?.[1])
  const value = alarm_words[word - 1] ?? null
  const { not_available } = decodeAlarms(table, alarm_words)
  return value === null || not_available.some((each) => each.word === word)
}

/**
 * When each condition began, by key: the first reading after the last one without the condition,
 * since `from`. Readings without the word are skipped.
 */
async function readBegan(
  db: Queries,
  site_id: string,
  conditions: readonly Condition[],
  from: Date,
): Promise<Map<string, Date>> {
  if (conditions.length === 0) return new Map()
  const asked = conditions.map((each) => {
    const [alarm] = each.code === 'inverter_alarm' ? each.alarms : []
    const { inverter_id } = each.inverter
    return { key: dedupKey(each), inverter_id, word: alarm?.word ?? 0, bit: alarm?.bit ?? 0 }
  })
  const rows = await db.query<{ key: string; since: Date | null }>(
    `select c.key, (
       select min(r.measured_at) from inverter_readings r
       where r.site_id = $1 and r.inverter_id = c.inverter_id and r.measured_at > coalesce((
         select r.measured_at from inverter_readings r
         where r.site_id = $1 and r.inverter_id = c.inverter_id and r.measured_at >= $3
           and case c.word when 0 then r.state <> 'fault'
             else (${alarm_words})[c.word]
               & (1::bigint << c.bit) = 0 end
         order by r.measured_at desc limit 1
       ), $3)
     ) as since
     from jsonb_to_recordset($2::jsonb) as c (key text, inverter_id int, word int, bit int)`,
    [site_id, JSON.stringify(asked), from],
  )
  return new Map(rows.flatMap(({ key, since }) => (since ? [[key, since]] : [])))
}
