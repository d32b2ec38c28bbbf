import {
  type InverterSumsRow,
  plantYields,
  readInverterSums,
} from '../../performance/efficiency/inverter-sums.ts'
import { emptySums, type Yields } from '../../performance/efficiency/yields.ts'
import { coverage_min_ratio } from '../../performance/period.ts'
import type { InverterSum } from '../../performance/rollups/inverter-hour.ts'
import type { Queries } from '../../storage/database.ts'
import { dayBounds, type Frame, isIncluded, namesOf, periodIn, unknownNotes } from './frame.ts'
import { type Field, text } from './sections.ts'

interface PlantYields {
  logger_name: string
  inverters: InverterSumsRow[]
  yields: Yields
}

/** Yields of the period as in the diagnoses of the API: plants by id, and all together. */
export async function readPerformance(db: Queries, frame: Frame) {
  const { site_id, period } = frame
  const inverters = (await readInverterSums(db, site_id, period)).filter(isIncluded(frame))
  const plants = [...Map.groupBy(inverters, ({ logger_id }) => logger_id)]
    .sort(([one], [other]) => one - other)
    .map(
      ([, own]): PlantYields => ({
        logger_name: own[0]!.logger_name,
        inverters: own,
        yields: plantYields(own, period),
      }),
    )
  const yields = plantYields(inverters, period)
  return {
    inverters,
    plants,
    yields,
    notes: plantNotes(plants, yields),
    data_completeness_pct: yields.completeness_pct,
    has_sums: plants.some(hasSums),
  }
}

export const inverterFields: Field<{ inverter: InverterSumsRow }>[] = [
  text('inverter', 'Inverter', ({ inverter }) => inverter.inverter_name),
  text('plant', 'Plant', ({ inverter }) => inverter.logger_name),
]

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

/** Yields of all inverters together by day. */
export async function yieldsByDay(
  db: Queries,
  { site_id, days, position, order }: Frame,
  inverters: readonly InverterSumsRow[],
) {
  if (days.length === 0) return []
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
    [site_id, ...dayBounds(days), inverters.map(({ inverter_id }) => inverter_id)],
  )
  const by_day = new Map(rows.map((row) => [`${row.nth} ${row.inverter_id}`, row]))
  return days.map((day, nth) => {
    const of_day = inverters.map((inverter) => ({
      ...inverter,
      ...(by_day.get(`${nth + 1} ${inverter.inverter_id}`) ?? noSums),
    }))
    const yields: DayYields = plantYields(of_day, periodIn(day, position, order.now))
    return { ...day, yields }
  })
}

const noSums = emptySums()

const hasSums = ({ yields }: PlantYields) => yields.excluded_reason === null

const threshold = `${100 * coverage_min_ratio} % of the daylight`

/** Note on plants that were measured, but too little for sums. */
function scantNotes(scant: readonly PlantYields[], all_count: number, site: Yields): string[] {
  if (scant.length === 0) return []
  const names = scant.map(({ logger_name, yields: { completeness_pct } }) => {
    const covered = completeness_pct === null ? 'no daylight' : `${completeness_pct.toFixed(1)} %`
    return `${logger_name} (${covered})`
  })
  const notes = [`Too little data for sums, which need ${threshold}: ${names.join(', ')}.`]
  if (site.excluded_reason !== null && scant.length < all_count) {
    notes.push(`All plants together have data for less than ${threshold} and have no sums either.`)
  }
  return notes
}

/** Notes on plants without sums and on implausible sensors. */
function plantNotes(plants: readonly PlantYields[], site: Yields): string[] {
  const unknown = plants.filter((plant) => !hasSums(plant))
  const hasData = ({ inverters }: PlantYields) => inverters.some(({ covered_s }) => covered_s > 0)
  const without = unknown.filter((plant) => !hasData(plant))
  const notes = [
    ...unknownNotes(without, plants.length),
    ...scantNotes(unknown.filter(hasData), plants.length, site),
  ]
  const wrong = plants.filter(({ yields }) => yields.suspect_sensors.length > 0)
  if (wrong.length > 0) {
    notes.push(
      `No ratios for ${namesOf(wrong)}: the energy exceeds what the measured irradiance allows, so ` +
        'a sensor is wrong.',
    )
  }
  if (site.excluded_reason === null && site.poa_insolation_kwh_m2 === null) {
    notes.push('Irradiance was measured in less than half of the daylight: ratios cover only that.')
  }
  return notes
}

/** Note on plants with sums but without any demanded time. */
export function undemandedNotes(plants: readonly PlantYields[]): string[] {
  const idle = plants.filter(
    (plant) => hasSums(plant) && plant.yields.availability_time_pct === null,
  )
  if (idle.length === 0) return []
  return [
    'No time-based availability without demanded time (irradiance above 100 W/m² and data of the ' +
      `inverters): ${namesOf(idle)}.`,
  ]
}
