/** Energy of plants (loggers) per quarter hour, for revenue and for training forecasts. */
import { hour_ms, quarter_ms } from '@heliograph/domain/durations'
import { heldUntil } from '../storage/curtailment.ts'
import type { Queries } from '../storage/database.ts'

/** Five-minute means of power per inverter and quarter hour. */
const slots_each = 3
/** Share of the hour from which an hour counts as clipped or faulty. */
const flagged_ratio_min = 0.05

export interface PlantQuarter {
  logger_id: number
  start_ms: number
  /** Delivered energy in whole Wh, adding up to that of the hour; null when unknown. */
  energy_wh: number | null
  /** `energy_wh` plus `curtailed_wh`; null when either is unknown. */
  available_wh: number | null
  /** Energy lost to external limits in whole Wh; null without measured irradiance (as at night). */
  curtailed_wh: number | null
  /** Share of the quarter hour with known power, over all inverters in service. */
  completeness_pct: number
  /** Some of the energy was spread over a gap from a counter. */
  is_estimated: boolean
  /** For more than 5 % of its hour inverters were clipped by their rating, or faulty. */
  is_clipped: boolean
  is_faulty: boolean
}

interface QuartersQuery {
  site_id: string
  /** Defaults to all plants. */
  logger_id?: number | undefined
  from: Date
  /** Exclusive. */
  to: Date
}

/** Whole Wh of the four quarter hours; null when unknown. */
type Quarters = readonly (number | null)[]

export interface PlantHour {
  start_ms: number
  /** Inverters in service, and those among them with known energy. */
  inverter_count: number
  known_count: number
  energy_wh: Quarters
  curtailed_wh: Quarters
  /** Measured inverter seconds in daylight, when inverters must run. */
  awake_covered_s: number
}

/** An hour with the further columns that forecasts need. */
interface MeasuredHour extends PlantHour {
  estimated_energy_kwh: number
  /** Known five-minute means of power by quarter hour, over all inverters. */
  slot_count: readonly number[]
  /** Inverter seconds clipped by the rating, and faulty; NaN when not counted. */
  clipped_s: number
  fault_s: number
}

/** Quarter hours (UTC) of hours with data that start in [from, to), by plant and time. */
export async function readPlantQuarters(
  db: Queries,
  query: QuartersQuery,
): Promise<PlantQuarter[]> {
  const [from_ms, to_ms] = [query.from.getTime(), query.to.getTime()]
  const plants = await readHours(db, query, measuredHour)
  return [...plants].flatMap(([logger_id, hours]) =>
    [...hours]
      .flatMap((hour) => quartersOf(logger_id, hour))
      .filter(({ start_ms }) => start_ms >= from_ms && start_ms < to_ms),
  )
}

/**
 * Hours with data that overlap [from, to), by plant, ascending. They are unpacked on demand: a year
 * of hours would take megabytes.
 */
export const readPlantHours = (
  db: Queries,
  query: QuartersQuery,
): Promise<Map<number, Iterable<PlantHour>>> => readHours(db, query, plantHour)

async function readHours<Hour>(
  db: Queries,
  { site_id, logger_id, from, to }: QuartersQuery,
  { columns, hourOf }: PackedHour<Hour>,
): Promise<Map<number, Iterable<Hour>>> {
  const first = Math.floor(from.getTime() / hour_ms) * hour_ms
  const values = [site_id, logger_id ?? null, new Date(first), to]
  const pieces = await db.query<{ logger_id: number; hours: Buffer }>(packedHours(columns), values)
  const spans = await db.query<CurtailedSpan>(curtailedSpans, values)
  const reported = await db.query<ReportedHour>(reportedHours, values)
  const spansOf = Map.groupBy(spans, (span) => span.logger_id)
  const reportedOf = Map.groupBy(reported, (hour) => hour.logger_id)
  const piecesOf = Map.groupBy(pieces, (piece) => piece.logger_id)
  return new Map(
    [...piecesOf].map(([logger_id, of_plant]) => {
      const reported_hours = reportedOf.get(logger_id) ?? []
      const curtailment = {
        spans: spansOf.get(logger_id) ?? [],
        reported: new Map(reported_hours.map((hour) => [hour.start_ms, hour.quarter_wh])),
      }
      const records = { pieces: of_plant.map(({ hours }) => hours), bytes: 8 * columns.length }
      return [logger_id, { [Symbol.iterator]: () => unpacked(records, hourOf, curtailment) }]
    }),
  )
}

function quartersOf(logger_id: number, hour: MeasuredHour): PlantQuarter[] {
  const flagged_s_min = flagged_ratio_min * 3600 * hour.inverter_count
  return hour.energy_wh.map((energy_wh, nth) => {
    const curtailed_wh = hour.curtailed_wh[nth]!
    const known_ratio = hour.slot_count[nth]! / (slots_each * hour.inverter_count)
    return {
      logger_id,
      start_ms: hour.start_ms + nth * quarter_ms,
      energy_wh,
      available_wh: energy_wh === null || curtailed_wh === null ? null : energy_wh + curtailed_wh,
      curtailed_wh,
      completeness_pct: Number.isNaN(known_ratio) ? 0 : Math.min(100, 100 * known_ratio),
      is_estimated: hour.estimated_energy_kwh > 0 && known_ratio < 1,
      is_clipped: hour.clipped_s > flagged_s_min,
      is_faulty: hour.fault_s > flagged_s_min,
    }
  })
}

/** Energy of a plant curtailed by all orders in an hour, as reported by its inverters. */
interface ReportedHour {
  logger_id: number
  start_ms: number
  quarter_wh: Quarters
}

interface CurtailedSpan {
  logger_id: number
  from_at: Date
  to_at: Date
}

interface Curtailment {
  spans: readonly CurtailedSpan[]
  /** By the start of the hour. */
  reported: ReadonlyMap<number, Quarters>
}

interface PackedHour<Hour> {
  columns: readonly string[]
  /** `float` returns the value of a column by its index; NaN for null. */
  hourOf: (float: (nth: number) => number, curtailment: Curtailment) => Hour
}

const plantHour: PackedHour<PlantHour> = {
  columns: [
    "date_part('epoch', hour_at)",
    'inverter_count',
    'awake_covered_s',
    'energy_kwh',
    'curtailment_loss_kwh',
    'quarter_kwh[1]',
    'quarter_kwh[2]',
    'quarter_kwh[3]',
    'quarter_kwh[4]',
    'known_count',
  ],
  hourOf(float, { spans, reported }) {
    const start_ms = 1000 * float(0)
    const kwhs = [float(5), float(6), float(7), float(8)]
    const curtailed_kwh = float(4)
    return {
      start_ms,
      inverter_count: float(1),
      known_count: float(9),
      awake_covered_s: float(2),
      energy_wh: sharedOut(float(3), kwhs),
      curtailed_wh: Number.isNaN(curtailed_kwh)
        ? (reported.get(start_ms) ?? unknown)
        : sharedOut(
            curtailed_kwh,
            curtailed_kwh > 0 ? curtailedShares(start_ms, spans, kwhs) : kwhs,
          ),
    }
  },
}

const measuredHour: PackedHour<MeasuredHour> = {
  columns: [
    ...plantHour.columns,
    'estimated_energy_kwh',
    'clipped_s',
    'fault_s',
    'quarter_slot_count[1]',
    'quarter_slot_count[2]',
    'quarter_slot_count[3]',
    'quarter_slot_count[4]',
  ],
  hourOf: (float, curtailment) => ({
    ...plantHour.hourOf(float, curtailment),
    estimated_energy_kwh: float(10),
    clipped_s: float(11),
    fault_s: float(12),
    slot_count: [float(13), float(14), float(15), float(16)],
  }),
}

/**
 * Packs ten days into one value of 8-byte floats, big endian. Reading a year as rows takes several
 * times as long; as a single value it triggers a full garbage collection every third request.
 */
const packedHours = (columns: readonly string[]) => `
  select logger_id, hours
  from loggers l, generate_series($3::timestamptz, $4, interval '240 hours') as first_at,
  lateral (
    select string_agg(${columns.map(packed).join(' || ')}, ''::bytea order by hour_at) as hours
    from logger_hours h
    where h.site_id = $1 and h.logger_id = l.logger_id and hour_at < $4
      and hour_at >= first_at and hour_at < first_at + interval '240 hours'
  ) as of_ten_days
  where site_id = $1 and ($2::int is null or logger_id = $2) and hours is not null
  order by logger_id, first_at`

const packed = (column: string) => `float8send(coalesce((${column})::float8, 'NaN'))`

const sum = (nth: number) => `sum(quarter_wh[${nth}])::float8`

/** Without measured irradiance the inverters may report the curtailed energy. */
const reportedHours = `
  select logger_id, (extract(epoch from hour_at) * 1000)::float8 as start_ms,
         array[${[1, 2, 3, 4].map(sum).join(', ')}] as quarter_wh
  from curtailment_hours
  where site_id = $1 and ($2::int is null or logger_id = $2) and hour_at >= $3 and hour_at < $4
    and quarter_wh is not null
  group by logger_id, hour_at`

const curtailedSpans = `
  select * from (
    select logger_id, greatest(start_at, applied_at) as from_at,
           ${heldUntil('$4::timestamptz')} as to_at
    from curtailment_rows r
    where site_id = $1 and ($2::int is null or logger_id = $2) and applied_at is not null
      and start_at < $4
  ) as spans
  where to_at > greatest(from_at, $3)
  order by logger_id, from_at`

function* unpacked<Hour>(
  { pieces, bytes }: { pieces: readonly Buffer[]; bytes: number },
  hourOf: PackedHour<Hour>['hourOf'],
  curtailment: Curtailment,
): Generator<Hour> {
  for (const hours of pieces) {
    const view = new DataView(hours.buffer, hours.byteOffset, hours.length)
    for (let at = 0; at < hours.length; at += bytes) {
      yield hourOf((nth) => view.getFloat64(at + 8 * nth), curtailment)
    }
  }
}

const unknown = [null, null, null, null] as const
const nothing = [0, 0, 0, 0] as const

/** Splits energy in proportion to shares, into whole Wh that add up; null for NaN (unknown). */
export function sharedOut(kwh: number, shares: readonly number[]): readonly (number | null)[] {
  if (Number.isNaN(kwh)) return unknown
  if (kwh === 0) return nothing
  const total = shares.reduce((sum, share) => sum + share, 0)
  const whole_wh = Math.round(kwh * 1000)
  let sum = 0
  let before_wh = 0
  return shares.map((share, nth) => {
    sum += share
    // Split evenly when all shares are 0.
    const ratio = nth === 3 ? 1 : total > 0 ? sum / total : (nth + 1) / 4
    const until_wh = Math.round(whole_wh * ratio)
    const of_quarter = until_wh - before_wh
    before_wh = until_wh
    return of_quarter
  })
}

/** Shares by the time that orders limited the plant; by energy for limits without an order. */
function curtailedShares(
  hour: number,
  spans: readonly CurtailedSpan[],
  kwhs: readonly number[],
): readonly number[] {
  const limited_ms = kwhs.map((_, nth) => {
    const start_ms = hour + nth * quarter_ms
    return spans.reduce((sum, { from_at, to_at }) => {
      const from_ms = Math.max(from_at.getTime(), start_ms)
      return sum + Math.max(0, Math.min(to_at.getTime(), start_ms + quarter_ms) - from_ms)
    }, 0)
  })
  return limited_ms.some((ms) => ms > 0) ? limited_ms : kwhs
}
