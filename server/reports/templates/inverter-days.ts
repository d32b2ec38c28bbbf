/** Sums of inverters over the period and over each of its days. */
import {
  type InverterSumsRow,
  readInverterSums,
} from '../../performance/efficiency/inverter-sums.ts'
import { plantYields } from '../../performance/efficiency/plant-yields.ts'
import { emptySums, type Yields } from '../../performance/efficiency/yields.ts'
import { coverage_min_ratio, type Period, periodOf } from '../../performance/period.ts'
import type { InverterSum } from '../../performance/rollups/inverter-hour.ts'
import type { Queries } from '../../storage/database.ts'
import { type Frame, isAsked, type ReportDay, unknownNotes } from './frame.ts'

/** Of the whole period, as the diagnoses of the API read them. */
export async function readInverters(db: Queries, frame: Frame): Promise<InverterSumsRow[]> {
  const rows = await readInverterSums(db, frame.site_id, frame.period)
  return rows.filter(isAsked(frame))
}

/** What is told of days; the sums that it stands on are the ones that are read. */
export type DayYields = Pick<
  Yields,
  | 'completeness_pct'
  | 'energy_kwh'
  | 'specific_yield_kwh_kwp'
  | 'reference_yield_kwh_kwp'
  | 'performance_ratio_pct'
  | 'performance_ratio_temp_corrected_pct'
  | 'availability_time_pct'
  | 'availability_energy_pct'
>
const daySums = [
  'daylight_covered_s',
  'sun_covered_s',
  'ac_energy_kwh',
  'insolation_kwh_m2',
  'reference_kwh_m2',
  'reference_ac_kwh',
  'warm_reference_kwh_m2',
  'warm_reference_ac_kwh',
  'demanded_s',
  'down_s',
  'downtime_loss_kwh',
] as const satisfies readonly InverterSum[]

export interface DayFigures {
  day: ReportDay
  yields: DayYields
}

/** The yields of the inverters together on each day that has begun. */
export async function yieldsByDay(
  db: Queries,
  { site_id, days, position, order }: Frame,
  inverters: readonly InverterSumsRow[],
): Promise<DayFigures[]> {
  if (days.length === 0) return []
  const known = new Map(inverters.map((inverter) => [inverter.inverter_id, inverter]))
  const bounds = [...days.map(({ start_ms }) => start_ms), days.at(-1)!.end_ms]
  const sums = [...daySums, 'gap_energy_kwh'].map((name) => `coalesce(sum(${name}), 0) as ${name}`)
  const within = 'site_id = $1 and hour_at >= $3 and hour_at < $4 and inverter_id = any ($5)'
  const rows = await db.query<InverterSumsRow & { nth: number }>(
    `select width_bucket(hour_at, $2::timestamptz[]) as nth, inverter_id, ${sums.join(', ')}
     from (select * from inverter_hours where ${within}) as hours
     full join (
       select inverter_id, hour_at, sum(energy_kwh) as gap_energy_kwh
       from inverter_gap_hours where ${within} group by 1, 2
     ) as gaps using (inverter_id, hour_at)
     group by 1, 2`,
    [
      site_id,
      bounds.map((ms) => new Date(ms).toISOString()),
      new Date(bounds[0]!),
      new Date(bounds.at(-1)!),
      [...known.keys()],
    ],
  )
  const by_day = Map.groupBy(rows, ({ nth }) => nth)
  return days.map((day, nth) => {
    const read = new Map((by_day.get(nth + 1) ?? []).map((row) => [row.inverter_id, row]))
    const of_day = inverters.map((inverter) => ({
      ...inverter,
      ...(read.get(inverter.inverter_id) ?? noSums),
    }))
    return { day, yields: plantYields(of_day, dayPeriod(day, position, order.now)) }
  })
}

const noSums = emptySums()

const dayPeriod = (day: ReportDay, position: Frame['position'], now: Date): Period =>
  periodOf(
    { start: new Date(day.start_ms).toISOString(), end: new Date(day.end_ms).toISOString() },
    position,
    now,
  )

export interface PlantFigures {
  inverters: InverterSumsRow[]
  yields: Yields
}

/** By plant, in the order of their ids. */
export const plantsOf = (rows: readonly InverterSumsRow[], period: Period): PlantFigures[] =>
  [...Map.groupBy(rows, ({ logger_id }) => logger_id).entries()]
    .sort(([one], [other]) => one - other)
    .map(([, inverters]) => ({ inverters, yields: plantYields(inverters, period) }))

/** Whether anything of the period can be told of any plant. */
export const hasSums = (plants: readonly PlantFigures[]): boolean =>
  plants.some(({ yields }) => yields.excluded_reason === null)

const threshold = `${100 * coverage_min_ratio} % of the daylight`

/** Told of plants that were measured, but too little for figures. */
function scantNotes(scant: readonly PlantFigures[], all_count: number, site: Yields): string[] {
  if (scant.length === 0) return []
  const names = scant.map(({ inverters, yields: { completeness_pct } }) => {
    const covered = completeness_pct === null ? 'no daylight' : `${completeness_pct.toFixed(1)} %`
    return `${inverters[0]!.logger_name} (${covered})`
  })
  const notes = [`Measured too little for sums, which need ${threshold}: ${names.join(', ')}.`]
  if (site.excluded_reason !== null && scant.length < all_count) {
    notes.push(`All plants together are below ${threshold} too and have no sums.`)
  }
  return notes
}

/** Who is in no figure, and which sensors cannot be right. */
export function plantNotes(plants: readonly PlantFigures[], site: Yields): string[] {
  const unknown = plants.filter(({ yields }) => yields.excluded_reason !== null)
  const isHeard = ({ inverters }: PlantFigures) => inverters.some(({ covered_s }) => covered_s > 0)
  const silent = unknown.filter((plant) => !isHeard(plant))
  const notes = unknownNotes(
    silent.map(({ inverters }) => inverters[0]!.logger_name),
    plants.length,
  )
  notes.push(...scantNotes(unknown.filter(isHeard), plants.length, site))
  const wrong = plants.filter(({ yields }) => yields.suspect_sensors.length > 0)
  if (wrong.length > 0) {
    const names = wrong.map(({ inverters }) => inverters[0]!.logger_name)
    notes.push(
      `No ratios for ${names.join(', ')}: more energy than the measured light can have given, so ` +
        'that a sensor cannot be right.',
    )
  }
  if (site.excluded_reason === null && site.poa_insolation_kwh_m2 === null) {
    notes.push(
      'Less than half of the daylight has measured light: yields are told, ratios only of it.',
    )
  }
  return notes
}

/** Told of plants that are known, and of which nothing can have been unavailable. */
export function undemandedNotes(plants: readonly PlantFigures[]): string[] {
  const known = plants.filter(({ yields }) => yields.excluded_reason === null)
  const idle = known.filter(({ yields }) => yields.availability_time_pct === null)
  if (idle.length === 0) return []
  const names = idle.map(({ inverters }) => inverters[0]!.logger_name)
  return [
    'Availability by time is not told where no time was demanded (light over 100 W/m² with ' +
      `inverters heard): ${names.join(', ')}.`,
  ]
}
