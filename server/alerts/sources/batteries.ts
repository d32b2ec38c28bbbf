/** Batteries: outages, alarms, low charge, and units whose stale data prevents commands. */
import { readAlarms } from '@heliograph/domain/battery-alarms'
import { readWords, type UnitWords } from '../../batteries/alarm-words.ts'
import { type Alarm, alarmStates } from '../../batteries/alarms.ts'
import { bitOf, type Condition, readConditions, unitOf } from '../../batteries/conditions.ts'
import { batteryAlarmKey } from '../battery-alerts.ts'
import {
  type AlertSource,
  type Finding,
  type OpenAlert,
  ofUnit,
  type SourceContext,
} from '../finding.ts'
import type { AlertCode } from '../rules.ts'
import { type BatteryOutages, readBatteryOutages, type Unit } from './battery-outages.ts'
import { isSettled, readPlantNow, utc } from './plant-now.ts'

/** Conditions in the readings of a unit: unknown without a fresh reading. */
const measuredCodes: readonly AlertCode[] = [
  'battery_alarm',
  'battery_fire',
  'heartbeat_lost',
  'soc_low',
]

export const findBatteries: AlertSource = async (context) => {
  const { db, site } = context
  const outages = await readBatteryOutages(context)
  const units = outages.all
  if (units.length === 0) return { findings: [], isUnknown: () => false }
  const [conditions, plant, ...words] = await Promise.all([
    readConditions(db, { site_id: site.site_id, bess_id: null }),
    readPlantNow(context),
    ...units.map(({ bess_id }) => readWords(db, site.site_id, bess_id)),
  ])
  const is_connected = isSettled(plant)
  const offline = new Set(outages.units.map(({ bess_id }) => bess_id))
  const fresh = units.filter(({ bess_id }) => !offline.has(bess_id))
  const found = units.flatMap((unit, nth) =>
    alarmsOf(
      unit,
      words[nth]!,
      conditions.filter((one) => unitOf(one) === unit.bess_id),
    ),
  )
  const stale = await readStaleUnits(context, outages)
  const low = await findLowCharge(context, fresh)
  const found_offline = is_connected
    ? [...outages.units.map(unitOffline), ...outages.pcs.map(pcsOffline)]
    : []
  return {
    findings: [...found, ...stale, ...low, ...found_offline],
    isUnknown({ code, source_type, source_id, bess_id }: OpenAlert) {
      if (code === 'bess_offline' && source_type === 'pcs') {
        return is_connected ? outages.isSettling(source_id) : outages.isOffline(source_id)
      }
      if (bess_id === null || !offline.has(bess_id)) return false
      return measuredCodes.includes(code) || (code === 'bess_offline' && !is_connected)
    },
  }
}

const unitOffline = ({ bess_id, name, measured_at, created_at }: Unit): Finding => ({
  code: 'bess_offline',
  ...ofUnit(bess_id),
  since: measured_at ?? created_at,
  message: measured_at
    ? `The management system of ${name} has not answered the edge since ${utc(measured_at)}.`
    : `The management system of ${name} has never answered the edge.`,
})

const pcsOffline = ({ unit: { bess_id, name }, pcs }: BatteryOutages['pcs'][number]): Finding => ({
  code: 'bess_offline',
  source_type: 'pcs',
  source_id: pcs.id,
  bess_id,
  since: pcs.since_at,
  message: `PCS ${pcs.id} of ${name} has not answered the edge since ${utc(pcs.since_at)}.`,
})

function alarmsOf(unit: Unit, words: UnitWords, conditions: readonly Condition[]): Finding[] {
  // Other edge conditions have sources of their own.
  const alarming = conditions.filter(
    (one) => bitOf(one) || readAlarms.some(({ code }) => code === one.code),
  )
  return alarmStates(words, alarming)
    .filter(({ is_set }) => is_set)
    .map((alarm) => alarmFinding(unit, alarm))
}

function alarmFinding(unit: Unit, alarm: Alarm): Finding {
  const { code, name, severity, set_at, pcs_idx, cluster_idx } = alarm
  const { raw_value, threshold_value, threshold_unit } = alarm
  const { bess_id, measured_at } = unit
  const where = pcs_idx !== null ? `PCS ${pcs_idx} of ` : ''
  const cluster = cluster_idx !== null ? `Cluster ${cluster_idx} of ` : ''
  return {
    ...batteryAlarmKey(bess_id, alarm),
    bess_id,
    since: new Date(set_at ?? measured_at ?? 0),
    message: `${where}${cluster}${unit.name}: ${name}.`,
    severity,
    vendor_codes: [code],
    ...(raw_value !== null && { value: raw_value }),
    ...(threshold_value !== null && { threshold: threshold_value }),
    ...(threshold_unit !== null && { unit: unitNames[threshold_unit] ?? threshold_unit }),
  }
}

const unitNames: Readonly<Record<string, string>> = { C: '°C', pct: '%', kohm: 'kΩ' }

/**
 * Units that the edge keeps at zero power because of stale data, by its last note. A unit that does
 * not answer is reported as offline instead; once all of it answers, the condition starts anew.
 */
async function readStaleUnits(
  { db, site }: SourceContext,
  outages: BatteryOutages,
): Promise<Finding[]> {
  const notes = await db.query<{ bess_id: number; name: string; at: Date; reason_code: string }>(
    `select b.bess_id, b.name, n.at, n.reason_code
     from batteries b
     cross join lateral (
       select at, reason_code from battery_control_notes
       where site_id = $1 and bess_id = b.bess_id order by at desc, nth desc limit 1
     ) as n
     where b.site_id = $1 and b.retired_at is null
       and n.reason_code in ('battery_stale', 'pcs_stale')`,
    [site.site_id],
  )
  const stale = notes.filter(({ bess_id, reason_code }) => !outages.explains(bess_id, reason_code))
  return stale.map(({ bess_id, name, at, reason_code }) => ({
    code: 'battery_stale',
    ...ofUnit(bess_id),
    since: later(at, outages.completeSince(bess_id)),
    message:
      `${reason_code === 'pcs_stale' ? 'The PCS of' : 'The management system of'} ${name} ` +
      'has no fresh data: the edge keeps the unit at zero power.',
  }))
}

const later = (a: Date, b: Date | null) => (b && b > a ? b : a)

const looked_back_s_min = 3600

async function findLowCharge(
  { db, site, settings, now }: SourceContext,
  units: readonly Unit[],
): Promise<Finding[]> {
  const { thresholds, raise_delay_s } = settings.rules.soc_low
  const low = units.flatMap((unit) => {
    const { soc_pct, soc_min_pct } = unit
    const threshold = soc_min_pct - thresholds.below_min_pct
    return soc_pct !== null && soc_pct < threshold ? [{ ...unit, soc_pct, threshold }] : []
  })
  if (low.length === 0) return []
  const from = new Date(now.getTime() - 2000 * Math.max(looked_back_s_min, raise_delay_s))
  const since = await db.query<{ bess_id: number; since: Date }>(
    `select a.bess_id, coalesce((
       select measured_at from bess_readings r
       where r.site_id = $1 and r.bess_id = a.bess_id and r.measured_at > $4
         and r.measured_at <= $5 and r.soc_pct >= a.threshold
       order by measured_at desc limit 1), $4) as since
     from unnest($2::int[], $3::float8[]) as a (bess_id, threshold)`,
    [
      site.site_id,
      low.map(({ bess_id }) => bess_id),
      low.map(({ threshold }) => threshold),
      from,
      now,
    ],
  )
  const began = new Map(since.map((one) => [one.bess_id, one.since]))
  return low.map(({ bess_id, name, soc_pct, soc_min_pct, threshold }) => ({
    code: 'soc_low',
    ...ofUnit(bess_id),
    since: began.get(bess_id) ?? now,
    message: `${name} is at ${soc_pct} % state of charge; the minimum is ${soc_min_pct} %.`,
    value: soc_pct,
    threshold,
    unit: '%',
  }))
}
