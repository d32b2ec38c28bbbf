/**
 * Inverters that deliver less than the others of their plant, and plants that deliver less than
 * expected, by the hourly sums of the last hours. Inverters that are offline, in fault or limited
 * are not judged.
 */
import { hour_ms } from '@heliograph/domain/durations'
import { median } from '@heliograph/domain/median'
import type { Queries } from '../../storage/database.ts'
import { type AlertSource, type Finding, type OpenAlert, ofInverter, ofLogger } from '../finding.ts'
import { type HandledAt, readHandled } from './handled.ts'
import { isRunning, type PlantNow, readPlantNow } from './plant-now.ts'
import { missingPower, type PossiblePower, readPossiblePower } from './possible-power.ts'

/** Includes the current hour. */
const window_hours = 4
/** Daylight needed for a judgement: a cloud over one end of a plant passes sooner. */
const light_s_min = 5400

export const findPerformance: AlertSource = async (context) => {
  const plant = await readPlantNow(context)
  const { db, site, settings, now } = context
  const rules = settings.rules
  const from_ms = (Math.floor(now.getTime() / hour_ms) - window_hours + 1) * hour_ms
  const hours = (await readHours(db, site.site_id, new Date(from_ms))).filter(({ inverter_id }) =>
    isRunning(plant.inverters.get(inverter_id)),
  )
  const handledAt = await readHandled(db, site.site_id, new Date(from_ms))
  const thresholds = {
    inverter: rules.inverter_underperformance.thresholds,
    logger: rules.logger_underperformance.thresholds,
  }
  const judged = judgePlants(hours, thresholds, handledAt)
  const short = judged.filter(({ is_short }) => is_short)
  const affected = [...plant.inverters.values()].filter(({ inverter_id, logger_id }) =>
    short.some((each) =>
      each.inverter_id === null ? each.logger_id === logger_id : each.inverter_id === inverter_id,
    ),
  )
  const possible = await readPossiblePower(context, plant, affected)
  const findings = short.flatMap((each) => findingOf(each, plant, possible) ?? [])
  const known = new Set(judged.map(keyOf))
  return { findings, isUnknown: (open) => !known.has(openKey(open)) && inService(open, plant) }
}

const inService = ({ logger_id, inverter_id }: OpenAlert, plant: PlantNow): boolean =>
  inverter_id === null
    ? plant.loggers.has(logger_id ?? Number.NaN)
    : plant.inverters.has(inverter_id)

const keyOf = ({ logger_id, inverter_id }: Judged) =>
  inverter_id === null ? `logger ${logger_id}` : `inverter ${inverter_id}`
const openKey = ({ source_type, source_id }: OpenAlert) => `${source_type} ${source_id}`

/** An hour of an inverter, summed over instants with both irradiance and power. */
export interface DaylightHour {
  inverter_id: number
  logger_id: number
  hour_at: Date
  /** Mean in the plane of the panels while the sun was up. */
  irradiance_w_m2: number
  /** Measured time in daylight. */
  light_s: number
  delivered_kwh: number
  /** Expected from irradiance and rating. */
  expected_kwh: number
  /** Limited or in fault at any time of the hour. */
  is_excused: boolean
}

interface Thresholds {
  shortfall_pct: number
  irradiance_w_m2: number
}

/** An inverter, or a plant where `inverter_id` is null, with enough daylight for a judgement. */
interface Judged {
  logger_id: number
  inverter_id: number | null
  is_short: boolean
  shortfall_pct: number
  threshold_pct: number
  /** The start of the latest consecutive hours of shortfall. */
  since: Date
}

/**
 * An inverter is compared with the median of the others of its plant, each relative to the expected
 * energy of its panels. A plant is judged by the median of its inverters, so that one bad inverter
 * does not also raise an alert of the plant. Excused hours and low irradiance do not count.
 * After a manual resolution only later hours count.
 */
export function judgePlants(
  hours: readonly DaylightHour[],
  thresholds: { inverter: Thresholds; logger: Thresholds },
  handledAt: HandledAt = () => undefined,
): Judged[] {
  const plants = Map.groupBy(hours, ({ logger_id }) => logger_id)
  return [...plants].flatMap(([logger_id, own]) => {
    const seen_at = handledAt(`logger_underperformance:logger:${logger_id}`)
    return [
      ...judgeInverters(logger_id, own, thresholds.inverter, handledAt),
      ...judgePlant(logger_id, own.filter(isAfter(seen_at)), thresholds.logger),
    ]
  })
}

const isAfter =
  (at: Date | undefined) =>
  ({ hour_at }: DaylightHour) =>
    at === undefined || hour_at >= at

/** Usable hours by inverter; inverters with too little daylight are left out. */
function usableHours(
  hours: readonly DaylightHour[],
  { irradiance_w_m2 }: Thresholds,
): Map<number, DaylightHour[]> {
  const usable = hours.filter(
    (hour) => !hour.is_excused && hour.expected_kwh > 0 && hour.irradiance_w_m2 >= irradiance_w_m2,
  )
  const inverters = Map.groupBy(usable, ({ inverter_id }) => inverter_id)
  return new Map([...inverters].filter(([, own]) => isEnough(own)))
}

const isEnough = (hours: readonly DaylightHour[]) =>
  hours.reduce((sum, { light_s }) => sum + light_s, 0) >= light_s_min

function ratioOf(hours: readonly DaylightHour[]): number {
  const delivered_kwh = hours.reduce((sum, hour) => sum + hour.delivered_kwh, 0)
  return delivered_kwh / hours.reduce((sum, hour) => sum + hour.expected_kwh, 0)
}

function judgeInverters(
  logger_id: number,
  hours: readonly DaylightHour[],
  thresholds: Thresholds,
  handledAt: HandledAt,
): Judged[] {
  const inverters = usableHours(hours, thresholds)
  const ratios = new Map([...inverters].map(([inverter_id, own]) => [inverter_id, ratioOf(own)]))
  return [...inverters].flatMap(([inverter_id, all]): Judged[] => {
    const own = all.filter(isAfter(handledAt(`inverter_underperformance:inverter:${inverter_id}`)))
    if (!isEnough(own)) return []
    const others = [...ratios].filter(([id]) => id !== inverter_id).map(([, ratio]) => ratio)
    const typical = median(others)
    if (typical === null || typical <= 0) return []
    return [{ logger_id, inverter_id, ...shortfallOf(own, ratioOf(own), typical, thresholds) }]
  })
}

function judgePlant(
  logger_id: number,
  hours: readonly DaylightHour[],
  thresholds: Thresholds,
): Judged[] {
  const inverters = [...usableHours(hours, thresholds).values()]
  const ratio = median(inverters.map(ratioOf))
  if (ratio === null) return []
  const judged = shortfallOf(inverters.flat(), ratio, 1, thresholds)
  return [{ logger_id, inverter_id: null, ...judged }]
}

/** The shortfall of a ratio against the typical one, since the latest consecutive short hours. */
function shortfallOf(
  hours: readonly DaylightHour[],
  ratio: number,
  typical: number,
  { shortfall_pct: threshold_pct }: Thresholds,
) {
  const by_hour = [...Map.groupBy(hours, ({ hour_at }) => hour_at.getTime())]
  const newest_first = by_hour.toSorted(([a], [b]) => b - a)
  const ratio_max = (1 - threshold_pct / 100) * typical
  const good = newest_first.findIndex(([, own]) => ratioOf(own) > ratio_max)
  const short = good < 0 ? newest_first : newest_first.slice(0, good)
  const since = new Date((short.at(-1) ?? newest_first[0]!)[0])
  const shortfall_pct = 100 * (1 - ratio / typical)
  return { is_short: shortfall_pct >= threshold_pct, shortfall_pct, threshold_pct, since }
}

function readHours(db: Queries, site_id: string, from: Date): Promise<DaylightHour[]> {
  return db.query<DaylightHour>(
    `select h.inverter_id, i.logger_id, h.hour_at,
       3600000 * h.insolation_kwh_m2 / h.sun_covered_s as irradiance_w_m2,
       least(h.daylight_covered_s, h.sun_covered_s) as light_s,
       h.reference_ac_kwh as delivered_kwh, h.reference_expected_kwh as expected_kwh,
       h.curtailed_s > 0 or h.fault_s > 0 as is_excused
     from inverter_hours h join inverters i using (site_id, inverter_id)
     where h.site_id = $1 and h.hour_at >= $2 and h.sun_covered_s > 0 and i.retired_at is null
     order by h.hour_at, h.inverter_id`,
    [site_id, from],
  )
}

const limiting = new Set(['curtailment', 'permit', 'external'])

function findingOf(
  { logger_id, inverter_id, shortfall_pct: value, threshold_pct: threshold, since }: Judged,
  plant: PlantNow,
  possible: PossiblePower,
): Finding | null {
  const logger = plant.loggers.get(logger_id)
  if (!logger) return null
  const inverter = inverter_id === null ? null : plant.inverters.get(inverter_id)!
  const affected = inverter
    ? [inverter]
    : [...plant.inverters.values()].filter((each) => each.logger_id === logger_id)
  const missing = affected.map((each) =>
    limiting.has(each.limited_by ?? '') ? null : missingPower(each, possible),
  )
  const known = missing.filter((kw) => kw !== null)
  const percent = value.toFixed(0)
  return {
    ...(inverter
      ? { code: 'inverter_underperformance', ...ofInverter(inverter) }
      : { code: 'logger_underperformance', ...ofLogger(logger_id) }),
    since,
    value,
    threshold,
    unit: '%',
    message: inverter
      ? `Inverter '${inverter.name}' delivers ${percent} % less, relative to its panels, than the ` +
        `others of plant '${logger.name}'.`
      : `Plant '${logger.name}' delivers ${percent} % less than expected at the measured irradiance.`,
    ...(known.length === missing.length && {
      affected_power_kw: known.reduce((sum, kw) => sum + kw, 0),
    }),
  }
}
