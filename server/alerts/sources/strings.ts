/**
 * Strings without current by the last reading, and strings that deliver less than their peers by
 * the hourly sums of the last day. Strings of an inverter that is offline or in fault are not
 * judged.
 */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { localDate } from '@heliograph/domain/local-day'
import type { StringLayout } from '../../performance/diagnostics/string-sums.ts'
import { layoutOf } from '../../performance/rollups/inverter-span.ts'
import type { PlantString } from '../../performance/rollups/raw.ts'
import { readStringHours } from '../../performance/rollups/store.ts'
import { decodeStrings, quantityBytes, quantityOf } from '../../performance/rollups/string-codec.ts'
import { isStale, staleAfterSeconds } from '../../plant/frame.ts'
import {
  type AlertSource,
  type Finding,
  type OpenAlert,
  ofInverter,
  type Scan,
  type SourceContext,
} from '../finding.ts'
import { readHandled } from './handled.ts'
import { type InverterNow, isRunning, type PlantNow, readPlantNow } from './plant-now.ts'
import {
  isCarrying,
  judgeZero,
  type LiveString,
  peersPower,
  type ZeroString,
  type ZeroThresholds,
} from './string-currents.ts'
import { judgeShortfalls, type Shortfall, type StringHour } from './string-shortfalls.ts'

export const findStrings: AlertSource = async (context) => {
  const plant = await readPlantNow(context)
  const { string_zero_current, string_underperformance } = context.settings.rules
  const [daylight, suspects] = await Promise.all([
    readDaylight(context, plant, string_zero_current.thresholds),
    readSuspects(context, string_underperformance.thresholds.shortfall_pct),
  ])
  for (const inverter_id of underperforming(plant)) suspects.add(inverter_id)
  const dark = daylight.filter(({ has_zero }) => has_zero).map(({ inverter_id }) => inverter_id)
  const live = await readLive(context, plant, [...new Set([...dark, ...suspects])])
  const zeros = dark.flatMap((inverter_id) =>
    judgeZero(live.get(inverter_id) ?? [], string_zero_current.thresholds).map((zero) => ({
      ...zero,
      inverter: plant.inverters.get(inverter_id)!,
    })),
  )
  const [since, hours, handledAt] = await Promise.all([
    readZeroSince(context, plant, zeros),
    readHours(context, [...suspects]),
    readHandled(context.db, context.site.site_id, hoursFrom(context)),
  ])
  const findings = zeros.map((zero) => zeroFinding(zero, since.get(keyOf(zero)), context))
  const is_zero = new Set(findings.map(({ source_id }) => source_id))
  const judged = new Set<string>()
  for (const inverter_id of suspects) {
    const inverter = plant.inverters.get(inverter_id)
    const own = live.get(inverter_id)
    if (!inverter || !isRunning(inverter) || !own) continue
    const shortfalls = judgeShortfalls(
      own,
      hours.get(inverter_id) ?? [],
      thresholdsOf(context),
      (string_index) => handledAt(`string_underperformance:string:${inverter_id}.${string_index}`),
    )
    for (const shortfall of shortfalls) {
      const source_id = `${inverter_id}.${shortfall.string_index}`
      // A string without current is reported as that.
      if (is_zero.has(source_id)) continue
      judged.add(source_id)
      if (shortfall.is_short) findings.push(shortFinding(shortfall, inverter, own, context))
    }
  }
  const carries = carrying(daylight, live, string_zero_current.thresholds)
  return {
    findings,
    isUnknown: (open) =>
      isInService(open, plant) &&
      (open.code === 'string_zero_current' ? !carries(open) : !judged.has(open.source_id)),
  } satisfies Scan
}

const thresholdsOf = ({ settings }: SourceContext) =>
  settings.rules.string_underperformance.thresholds

const isInService = ({ inverter_id }: OpenAlert, { inverters }: PlantNow) =>
  inverters.has(inverter_id ?? Number.NaN)

/** Inverters with an open alert of an underperforming string. */
function underperforming({ known_since }: PlantNow): number[] {
  return [...known_since.keys()].flatMap((key) => {
    const [code, , source_id] = key.split(':')
    return code === 'string_underperformance' ? Number.parseInt(source_id ?? '', 10) : []
  })
}

interface DaylightInverter {
  inverter_id: number
  /** Whether a connected string carries no current. */
  has_zero: boolean
}

const freshSince = ({ situation: { poll, now } }: PlantNow) =>
  new Date(now.getTime() - 1000 * staleAfterSeconds(poll.inverter_s))

/** Inverters with current in any string, in daylight. */
async function readDaylight(
  { db, site: { site_id } }: SourceContext,
  plant: PlantNow,
  { current_a, peer_current_a }: ZeroThresholds,
): Promise<DaylightInverter[]> {
  if (plant.awake_since_at === null) return []
  const daylight = await db.query<DaylightInverter>(
    `with fresh as materialized (
       select inverter_id, first_string_index, l.current_a,
         (select max(a) from unnest(l.current_a) as a) as highest_a
       from string_latest l where site_id = $1 and measured_at >= $2
     )
     select s.inverter_id,
       bool_or(coalesce(f.current_a[s.string_index - f.first_string_index + 1] < $3, false))
         as has_zero
     from strings s join fresh f using (inverter_id)
     where s.site_id = $1 and s.connected and s.retired_at is null
     group by s.inverter_id having max(f.highest_a) >= $4`,
    [site_id, freshSince(plant), current_a, peer_current_a],
  )
  return daylight.filter(({ inverter_id }) => isRunning(plant.inverters.get(inverter_id)))
}

/** Inverters with a string below its peers in the sums of yesterday or today. */
async function readSuspects(
  { db, site, now }: SourceContext,
  shortfall_pct: number,
): Promise<Set<number>> {
  const today = localDate(now.getTime(), site.timezone)
  const yesterday = localDate(now.getTime() - day_ms, site.timezone)
  const days = await db.query<{ inverter_id: number; compared: Buffer; peers: Buffer }>(
    `select inverter_id, ${quantityBytes('compared_kwh')} as compared,
       ${quantityBytes('peer_kwh')} as peers
     from string_days where site_id = $1 and local_date in ($2, $3)`,
    [site.site_id, yesterday, today],
  )
  // Days are checked separately, so that a good day hides no bad one.
  const suspects = days.filter(({ compared, peers }) => {
    const peer_kwh = quantityOf(peers)
    return quantityOf(compared).some((kwh, nth) => kwh < (1 - shortfall_pct / 100) * peer_kwh[nth]!)
  })
  return new Set(suspects.map(({ inverter_id }) => inverter_id))
}

type StringRow = Omit<PlantString, 'panel' | 'module_count'> &
  Pick<LiveString, 'first_string_index' | 'current_a' | 'voltage_v'> & { measured_at: Date | null }

async function readLive(
  { db, site: { site_id } }: SourceContext,
  { situation: { poll, now } }: PlantNow,
  inverter_ids: readonly number[],
): Promise<Map<number, LiveString[]>> {
  if (inverter_ids.length === 0) return new Map()
  const rows = await db.query<StringRow>(
    `select s.inverter_id, s.string_index, s.mppt_index, s.connected, s.params_id,
       s.dc_capacity_kwp, s.azimuth_deg, s.tilt_deg, s.orientation_assumed, l.first_string_index, l.measured_at,
       l.current_a[s.string_index - l.first_string_index + 1] as current_a,
       l.voltage_v[s.string_index - l.first_string_index + 1] as voltage_v
     from strings s left join string_latest l
       on l.site_id = s.site_id and l.inverter_id = s.inverter_id
       and s.string_index >= l.first_string_index
       and s.string_index < l.first_string_index + cardinality(l.current_a)
     where s.site_id = $1 and s.inverter_id = any ($2) and s.retired_at is null
     order by s.inverter_id, s.string_index`,
    [site_id, inverter_ids],
  )
  const layout = layoutOf(rows)
  const strings = rows.map(({ inverter_id, first_string_index, ...row }, nth) => {
    const is_live = !isStale(row.measured_at, poll.inverter_s, now)
    const { current_a, voltage_v } = is_live ? row : nothing
    return { inverter_id, ...layout[nth]!, first_string_index, current_a, voltage_v }
  })
  return Map.groupBy(strings, ({ inverter_id }) => inverter_id)
}

const nothing = { current_a: null, voltage_v: null }

/** Shortfalls are judged over the last day. */
const hoursFrom = ({ now }: Pick<SourceContext, 'now'>) =>
  new Date(Math.floor((now.getTime() - day_ms) / hour_ms) * hour_ms)

async function readHours(
  { db, site: { site_id }, now }: SourceContext,
  inverter_ids: readonly number[],
): Promise<Map<number, StringHour[]>> {
  if (inverter_ids.length === 0) return new Map()
  const from_ms = hoursFrom({ now }).getTime()
  const rows = await readStringHours(db, site_id, { inverter_ids, from_ms, to_ms: now.getTime() })
  const hours = rows.map((row) => ({ ...row, sums: decodeStrings(row) }))
  return Map.groupBy(hours, ({ inverter_id }) => inverter_id)
}

type ZeroOf = ZeroString & { inverter: InverterNow }
const keyOf = ({ inverter, string: { string_index } }: ZeroOf) =>
  `${inverter.inverter_id}.${string_index}`

/**
 * When each string lost its current: the first reading with current in its peers after the last one
 * with current in the string, within today.
 */
async function readZeroSince(
  { db, site: { site_id }, settings }: SourceContext,
  { known_since, awake_since_at }: PlantNow,
  zeros: readonly ZeroOf[],
): Promise<Map<string, Date>> {
  const since = new Map<string, Date>()
  for (const zero of zeros) {
    const known = known_since.get(`string_zero_current:string:${keyOf(zero)}`)
    if (known) since.set(keyOf(zero), known)
  }
  const fresh = zeros.filter((zero) => !since.has(keyOf(zero)))
  if (fresh.length === 0 || awake_since_at === null) return since
  const asked = fresh.map((zero) => {
    const { string_index, first_string_index } = zero.string
    const first = first_string_index ?? 0
    const peers = zero.peers.filter((peer) => peer.first_string_index === first)
    return {
      key: keyOf(zero),
      inverter_id: zero.inverter.inverter_id,
      first,
      nth: string_index - first + 1,
      // Empty where another box measures all peers: then only the own current counts.
      peers: peers.map((peer) => peer.string_index - first + 1),
    }
  })
  const { current_a, peer_current_a } = settings.rules.string_zero_current.thresholds
  const readings = `from string_readings r
    where r.site_id = $1 and r.inverter_id = z.inverter_id and r.first_string_index = z.first
      and r.measured_at`
  const rows = await db.query<{ key: string; since: Date | null }>(
    `select z.key, (
       select r.measured_at ${readings} > coalesce((
         select r.measured_at ${readings} >= $3 and r.current_a[z.nth] >= $4
         order by r.measured_at desc limit 1
       ), $3)
         and (z.peers = '{}'
           or (select max(r.current_a[peer]) from unnest(z.peers) as peer) >= $5)
       order by r.measured_at limit 1
     ) as since
     from jsonb_to_recordset($2::jsonb)
       as z (key text, inverter_id int, first int, nth int, peers int[])`,
    [site_id, JSON.stringify(asked), awake_since_at, current_a, peer_current_a],
  )
  for (const row of rows) if (row.since) since.set(row.key, row.since)
  return since
}

const ofString = (inverter: InverterNow, { string_index }: StringLayout) => ({
  ...ofInverter(inverter),
  source_type: 'string' as const,
  source_id: `${inverter.inverter_id}.${string_index}`,
  string_index,
})

function zeroFinding(
  { inverter, string, current_a, peer_current_a, missing_kw }: ZeroOf,
  since: Date | undefined,
  { settings, now }: SourceContext,
): Finding {
  return {
    code: 'string_zero_current',
    ...ofString(inverter, string),
    since: since ?? now,
    message:
      `String ${string.string_index} (counted from 0) of inverter '${inverter.name}' carries no current while its ` +
      `peers carry ${peer_current_a.toFixed(1)} A.`,
    value: current_a,
    unit: 'A',
    threshold: settings.rules.string_zero_current.thresholds.current_a,
    ...(missing_kw !== null && { affected_power_kw: missing_kw }),
  }
}

function shortFinding(
  { string_index, shortfall_pct, since, cause }: Shortfall,
  inverter: InverterNow,
  own: readonly LiveString[],
  { settings }: SourceContext,
): Finding {
  const string = own.find((each) => each.string_index === string_index)!
  const peers_kw = peersPower(string, own)
  const pattern = cause === null ? '' : ` Suspected cause: ${cause.replaceAll('_', ' ')}.`
  return {
    code: 'string_underperformance',
    ...ofString(inverter, string),
    since,
    message:
      `String ${string_index} (counted from 0) of inverter '${inverter.name}' delivered ` +
      `${shortfall_pct.toFixed(0)} % less than its peers in the last day.${pattern}`,
    value: shortfall_pct,
    unit: '%',
    threshold: settings.rules.string_underperformance.thresholds.shortfall_pct,
    ...(peers_kw !== null && { affected_power_kw: (peers_kw * shortfall_pct) / 100 }),
  }
}

/** Whether the string of an open alert carries current again, or is no longer connected. */
function carrying(
  daylight: readonly DaylightInverter[],
  live: ReadonlyMap<number, readonly LiveString[]>,
  thresholds: ZeroThresholds,
): (open: OpenAlert) => boolean {
  return ({ inverter_id, string_index }) => {
    const inverter = daylight.find((each) => each.inverter_id === inverter_id)
    if (!inverter?.has_zero) return inverter !== undefined
    const own = live.get(inverter.inverter_id) ?? []
    const string = own.find((each) => each.string_index === string_index)
    return !string?.is_connected || isCarrying(string, thresholds)
  }
}
