/**
 * Inverters that deliver less than the others of their plant, and plants that deliver less than the
 * sun allows, by the hourly sums of the last hours. Who is silent, in fault or held back is not
 * judged by it.
 */
import { median } from '@heliograph/domain/median'
import type { Queries } from '../../storage/database.ts'
import type { AlertSource, Finding, OpenAlert } from '../finding.ts'
import type { AlertCode } from '../rules.ts'
import {
  type InverterNow,
  isFaulted,
  isLive,
  type LoggerNow,
  type PlantNow,
  readPlantNow,
} from './plant-now.ts'
import { missingPower, type PossiblePower, readPossiblePower } from './possible-power.ts'
import { readSeenTo, type SeenTo } from './seen-to.ts'

export const performanceCodes = [
  'inverter_underperformance',
  'logger_underperformance',
] as const satisfies readonly AlertCode[]

const hour_ms = 3_600_000
/** The running hour and those before it. */
const window_hours = 4
/** So much time in light it takes to judge: a cloud over one end of a plant passes sooner. */
const light_s_min = 5400

export const findPerformance: AlertSource = async (context) => {
  const plant = await readPlantNow(context)
  const { db, site, settings, now } = context
  const rules = settings.rules
  const from_ms = (Math.floor(now.getTime() / hour_ms) - window_hours + 1) * hour_ms
  const hours = (await readHours(db, site.site_id, new Date(from_ms))).filter(({ inverter_id }) =>
    isJudged(plant.inverters.get(inverter_id)),
  )
  const seenTo = await readSeenTo(db, site.site_id, new Date(from_ms))
  const thresholds = {
    inverter: rules.inverter_underperformance.thresholds,
    logger: rules.logger_underperformance.thresholds,
  }
  const judged = judgePlants(hours, thresholds, seenTo)
  const short = judged.filter(({ is_short }) => is_short)
  const ids = new Set(short.flatMap(({ logger_id, inverter_id }) => inverter_id ?? `l${logger_id}`))
  const affected = [...plant.inverters.values()].filter(
    ({ inverter_id, logger_id }) => ids.has(inverter_id) || ids.has(`l${logger_id}`),
  )
  const possible = await readPossiblePower(context, plant, affected)
  const findings = short.flatMap((each): Finding[] => {
    const logger = plant.loggers.get(each.logger_id)
    if (!logger) return []
    if (each.inverter_id === null) return [plantFinding(each, logger, { plant, possible })]
    const inverter = plant.inverters.get(each.inverter_id)!
    return [inverterFinding(each, logger, { inverter, possible })]
  })
  const known = new Set(judged.map(keyOf))
  return { findings, cannotTell: (open) => !known.has(openKey(open)) && inService(open, plant) }
}

const isJudged = (inverter: InverterNow | undefined): boolean =>
  isLive(inverter) && !isFaulted(inverter)

const inService = ({ logger_id, inverter_id }: OpenAlert, plant: PlantNow): boolean =>
  inverter_id === null
    ? plant.loggers.has(logger_id ?? Number.NaN)
    : plant.inverters.has(inverter_id)

const keyOf = ({ logger_id, inverter_id }: Judged) =>
  inverter_id === null ? `logger ${logger_id}` : `inverter ${inverter_id}`
const openKey = ({ source_type, source_id }: OpenAlert) => `${source_type} ${source_id}`

/** Of an inverter and an hour, from the sums over instants that know both light and power. */
export interface HourInLight {
  inverter_id: number
  logger_id: number
  hour_at: Date
  /** Mean on the panels while the sun was up. */
  irradiance_w_m2: number
  /** In light and measured. */
  light_s: number
  delivered_kwh: number
  /** As the sun and the rating allowed it. */
  expected_kwh: number
  /** Held back, or in fault, for any part of it. */
  is_excused: boolean
}

interface Thresholds {
  shortfall_pct: number
  irradiance_w_m2: number
}

/** An inverter, or with `inverter_id` null a plant, that had enough light to be judged. */
interface Judged {
  logger_id: number
  inverter_id: number | null
  is_short: boolean
  shortfall_pct: number
  threshold_pct: number
  /** The beginning of the hours in a row to the last one in which it was short. */
  since: Date
}

/**
 * An inverter is held against the median of the others of its plant, each by what its own panels
 * could have delivered; a plant against the sun, by the median of its inverters, so that one that
 * is told by itself does not count twice. Excused hours, and those of little light, count nowhere;
 * what a person saw to is judged by the hours that began after that.
 */
export function judgePlants(
  hours: readonly HourInLight[],
  thresholds: { inverter: Thresholds; logger: Thresholds },
  seenTo: SeenTo = () => undefined,
): Judged[] {
  const plants = Map.groupBy(hours, ({ logger_id }) => logger_id)
  return [...plants].flatMap(([logger_id, own]) => {
    const seen_at = seenTo(`logger_underperformance:logger:${logger_id}`)
    const of_plant = own.filter(isAfter(seen_at))
    return [
      ...judgeInverters(logger_id, inLight(own, thresholds.inverter), thresholds.inverter, seenTo),
      ...judgePlant(logger_id, inLight(of_plant, thresholds.logger), thresholds.logger),
    ]
  })
}

const isAfter =
  (at: Date | undefined) =>
  ({ hour_at }: HourInLight) =>
    at === undefined || hour_at >= at

/** By inverter; those that had too little are left out. */
function inLight(
  hours: readonly HourInLight[],
  { irradiance_w_m2 }: Thresholds,
): Map<number, HourInLight[]> {
  const usable = hours.filter(
    (hour) => !hour.is_excused && hour.expected_kwh > 0 && hour.irradiance_w_m2 >= irradiance_w_m2,
  )
  const inverters = Map.groupBy(usable, ({ inverter_id }) => inverter_id)
  return new Map([...inverters].filter(([, own]) => isEnough(own)))
}

const isEnough = (hours: readonly HourInLight[]) =>
  hours.reduce((sum, { light_s }) => sum + light_s, 0) >= light_s_min

function ratioOf(hours: readonly HourInLight[]): number {
  const delivered_kwh = hours.reduce((sum, hour) => sum + hour.delivered_kwh, 0)
  return delivered_kwh / hours.reduce((sum, hour) => sum + hour.expected_kwh, 0)
}

function judgeInverters(
  logger_id: number,
  inverters: ReadonlyMap<number, HourInLight[]>,
  { shortfall_pct: threshold_pct }: Thresholds,
  seenTo: SeenTo,
): Judged[] {
  const ratios = new Map([...inverters].map(([inverter_id, own]) => [inverter_id, ratioOf(own)]))
  return [...inverters].flatMap(([inverter_id, all]): Judged[] => {
    const own = all.filter(isAfter(seenTo(`inverter_underperformance:inverter:${inverter_id}`)))
    if (!isEnough(own)) return []
    const others = [...ratios].filter(([id]) => id !== inverter_id).map(([, ratio]) => ratio)
    const usual = median(others)
    if (usual === null || usual <= 0) return []
    const lacking_pct = 100 * (1 - ratioOf(own) / usual)
    const isShort = (ratio: number) => ratio <= (1 - threshold_pct / 100) * usual
    const since = beganAt(own, isShort)
    const is_short = lacking_pct >= threshold_pct
    return [{ logger_id, inverter_id, is_short, shortfall_pct: lacking_pct, threshold_pct, since }]
  })
}

function judgePlant(
  logger_id: number,
  inverters: ReadonlyMap<number, HourInLight[]>,
  { shortfall_pct: threshold_pct }: Thresholds,
): Judged[] {
  const ratio = median([...inverters.values()].map(ratioOf))
  if (ratio === null) return []
  const lacking_pct = 100 * (1 - ratio)
  const all = [...inverters.values()].flat()
  const since = beganAt(all, (of_hour) => of_hour <= 1 - threshold_pct / 100)
  const is_short = lacking_pct >= threshold_pct
  return [
    { logger_id, inverter_id: null, is_short, shortfall_pct: lacking_pct, threshold_pct, since },
  ]
}

function beganAt(hours: readonly HourInLight[], isShort: (ratio: number) => boolean): Date {
  const by_hour = [...Map.groupBy(hours, ({ hour_at }) => hour_at.getTime())]
  const newest_first = by_hour.toSorted(([a], [b]) => b - a)
  const good = newest_first.findIndex(([, own]) => !isShort(ratioOf(own)))
  const short = good < 0 ? newest_first : newest_first.slice(0, good)
  return new Date((short.at(-1) ?? newest_first[0]!)[0])
}

function readHours(db: Queries, site_id: string, from: Date): Promise<HourInLight[]> {
  return db.query<HourInLight>(
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

const held = new Set(['curtailment', 'permit', 'external'])

function inverterFinding(
  { shortfall_pct, threshold_pct, since }: Judged,
  logger: LoggerNow,
  { inverter, possible }: { inverter: InverterNow; possible: PossiblePower },
): Finding {
  const { inverter_id, logger_id, name, limited_by } = inverter
  const missing_kw = held.has(limited_by ?? '') ? null : missingPower(inverter, possible)
  return {
    code: 'inverter_underperformance',
    source_type: 'inverter',
    source_id: `${inverter_id}`,
    inverter_id,
    logger_id,
    since,
    value: shortfall_pct,
    threshold: threshold_pct,
    unit: '%',
    message:
      `Inverter '${name}' delivers ${shortfall_pct.toFixed(0)} % less for its panels than the ` +
      `others of plant '${logger.name}'.`,
    ...(missing_kw !== null && { affected_power_kw: missing_kw }),
  }
}

function plantFinding(
  { logger_id, shortfall_pct, threshold_pct, since }: Judged,
  { name }: LoggerNow,
  { plant, possible }: { plant: PlantNow; possible: PossiblePower },
): Finding {
  const inverters = [...plant.inverters.values()].filter((each) => each.logger_id === logger_id)
  const missing = inverters.map((each) =>
    held.has(each.limited_by ?? '') ? null : missingPower(each, possible),
  )
  const known = missing.filter((kw) => kw !== null)
  return {
    code: 'logger_underperformance',
    source_type: 'logger',
    source_id: `${logger_id}`,
    logger_id,
    since,
    value: shortfall_pct,
    threshold: threshold_pct,
    unit: '%',
    message:
      `Plant '${name}' delivers ${shortfall_pct.toFixed(0)} % less than the sun allows its ` +
      'inverters.',
    ...(known.length === missing.length && {
      affected_power_kw: known.reduce((sum, kw) => sum + kw, 0),
    }),
  }
}
