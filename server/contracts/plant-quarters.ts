/** The energy of plants (loggers) in quarter hours: what is sold, and what forecasts learn from. */
import { heldUntil } from '../storage/curtailment.ts'
import type { Queries } from '../storage/database.ts'
import { hour_ms } from '../telemetry/touched-hours.ts'

export const quarter_ms = hour_ms / 4
/** Five-minute means of power in a quarter of one inverter. */
const slots_each = 3
/** The part of the hour from which on inverters that were held or faulty count. */
const held_ratio_min = 0.05

export interface PlantQuarter {
  logger_id: number
  start_ms: number
  /** Delivered, whole Wh; the quarters of an hour add up to it. Null where it is not known. */
  energy_wh: number | null
  /** `energy_wh` and `curtailed_wh`; null where one of them is not known. */
  available_wh: number | null
  /** Lost to limits from outside, whole Wh; null where no light was measured (as at night). */
  curtailed_wh: number | null
  /** Part of the quarter in which the power of the inverters is known, over all in service. */
  completeness_pct: number
  /** A part of the energy was told by a counter of a gap, and shared out. */
  is_estimated: boolean
  /** In its hour inverters were held by their rating, or faulty, for 5 % of the time or more. */
  is_clipped: boolean
  is_faulty: boolean
}

interface QuartersAsked {
  site_id: string
  /** Of all plants where it is not given. */
  logger_id?: number | undefined
  from: Date
  /** Exclusive. */
  to: Date
}

/** Four quarters, in whole Wh; null where it is not known. */
type Quarters = readonly (number | null)[]

export interface PlantHour {
  start_ms: number
  /** In service, and those of them whose energy is known. */
  inverter_count: number
  known_count: number
  energy_wh: Quarters
  curtailed_wh: Quarters
  /** Inverter seconds that were measured while inverters must be awake. */
  awake_covered_s: number
}

/** What forecasts ask of an hour beside what was sold. */
interface MeasuredHour extends PlantHour {
  estimated_energy_kwh: number
  /** Of the five-minute means of power in a quarter those that are known, over all inverters. */
  slot_count: readonly number[]
  /** Inverter seconds held by the rating, and faulty; NaN where nobody counted them. */
  clipped_s: number
  fault_s: number
}

/**
 * The quarter hours (UTC) that begin in [from, to), by plant and time. A quarter of whose hour
 * nothing is known at all is left out.
 */
export async function readPlantQuarters(
  db: Queries,
  asked: QuartersAsked,
): Promise<PlantQuarter[]> {
  const [from_ms, to_ms] = [asked.from.getTime(), asked.to.getTime()]
  const plants = await readHours(db, asked, measuredHour)
  return [...plants].flatMap(([logger_id, hours]) =>
    [...hours]
      .flatMap((hour) => quartersOf(logger_id, hour))
      .filter(({ start_ms }) => start_ms >= from_ms && start_ms < to_ms),
  )
}

/**
 * The hours that share time with [from, to), ascending, by plant; none without data. An hour is
 * made when it is asked for: all of a year at once would be megabytes.
 */
export const readPlantHours = (
  db: Queries,
  asked: QuartersAsked,
): Promise<Map<number, Iterable<PlantHour>>> => readHours(db, asked, plantHour)

async function readHours<Hour>(
  db: Queries,
  { site_id, logger_id, from, to }: QuartersAsked,
  { columns, hourOf }: PackedHour<Hour>,
): Promise<Map<number, Iterable<Hour>>> {
  const first = Math.floor(from.getTime() / hour_ms) * hour_ms
  const values = [site_id, logger_id ?? null, new Date(first), to]
  const pieces = await db.query<{ logger_id: number; hours: Buffer }>(packedHours(columns), values)
  const spans = await db.query<HeldSpan>(heldSpans, values)
  const told = await db.query<ToldHour>(toldHours, values)
  const spansOf = Map.groupBy(spans, (span) => span.logger_id)
  const toldOf = Map.groupBy(told, (hour) => hour.logger_id)
  const piecesOf = Map.groupBy(pieces, (piece) => piece.logger_id)
  return new Map(
    [...piecesOf].map(([logger_id, of_plant]) => {
      const told_hours = toldOf.get(logger_id) ?? []
      const held = {
        spans: spansOf.get(logger_id) ?? [],
        told: new Map(told_hours.map((hour) => [hour.start_ms, hour.quarter_wh])),
      }
      const records = { pieces: of_plant.map(({ hours }) => hours), bytes: 8 * columns.length }
      return [logger_id, { [Symbol.iterator]: () => unpacked(records, hourOf, held) }]
    }),
  )
}

function quartersOf(logger_id: number, hour: MeasuredHour): PlantQuarter[] {
  const held_s_min = held_ratio_min * 3600 * hour.inverter_count
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
      is_clipped: hour.clipped_s > held_s_min,
      is_faulty: hour.fault_s > held_s_min,
    }
  })
}

/** What all rows kept back of a plant in an hour, as its inverters told. */
interface ToldHour {
  logger_id: number
  start_ms: number
  quarter_wh: Quarters
}

/** When a row of curtailment held a plant. */
interface HeldSpan {
  logger_id: number
  from_at: Date
  to_at: Date
}

interface Held {
  spans: readonly HeldSpan[]
  /** By the begin of an hour. */
  told: ReadonlyMap<number, Quarters>
}

interface PackedHour<Hour> {
  columns: readonly string[]
  /** `float` has them by their places: NaN for null. */
  hourOf: (float: (nth: number) => number, held: Held) => Hour
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
  hourOf(float, { spans, told }) {
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
        ? (told.get(start_ms) ?? unknown)
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
  hourOf: (float, held) => ({
    ...plantHour.hourOf(float, held),
    estimated_energy_kwh: float(10),
    clipped_s: float(11),
    fault_s: float(12),
    slot_count: [float(13), float(14), float(15), float(16)],
  }),
}

/**
 * As 8-byte floats, big endian, of ten days in one value: as rows a year takes several times as
 * long to read, and as one value it has the whole heap collected at every third request.
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

/** Where no light was measured the inverters may tell what limits kept back. */
const toldHours = `
  select logger_id, (extract(epoch from hour_at) * 1000)::float8 as start_ms,
         array[${[1, 2, 3, 4].map(sum).join(', ')}] as quarter_wh
  from curtailment_hours
  where site_id = $1 and ($2::int is null or logger_id = $2) and hour_at >= $3 and hour_at < $4
    and quarter_wh is not null
  group by logger_id, hour_at`

const heldSpans = `
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
  held: Held,
): Generator<Hour> {
  for (const hours of pieces) {
    const view = new DataView(hours.buffer, hours.byteOffset, hours.length)
    for (let at = 0; at < hours.length; at += bytes) {
      yield hourOf((nth) => view.getFloat64(at + 8 * nth), held)
    }
  }
}

const unknown = [null, null, null, null] as const
const nothing = [0, 0, 0, 0] as const

/** Whole Wh in proportion to the shares, which add up to the rounded whole; NaN is not known. */
export function sharedOut(kwh: number, shares: readonly number[]): readonly (number | null)[] {
  if (Number.isNaN(kwh)) return unknown
  if (kwh === 0) return nothing
  const total = shares.reduce((sum, share) => sum + share, 0)
  const whole_wh = Math.round(kwh * 1000)
  let sum = 0
  let before_wh = 0
  return shares.map((share, nth) => {
    sum += share
    // Without shares, evenly.
    const ratio = nth === 3 ? 1 : total > 0 ? sum / total : (nth + 1) / 4
    const until_wh = Math.round(whole_wh * ratio)
    const of_quarter = until_wh - before_wh
    before_wh = until_wh
    return of_quarter
  })
}

/** By the time that rows held the plant; limits that no row tells of, by the energy. */
function curtailedShares(
  hour: number,
  spans: readonly HeldSpan[],
  kwhs: readonly number[],
): readonly number[] {
  if (spans.length === 0) return kwhs
  const held = kwhs.map((_, nth) => {
    const start_ms = hour + nth * quarter_ms
    return spans.reduce((sum, { from_at, to_at }) => {
      const from_ms = Math.max(from_at.getTime(), start_ms)
      return sum + Math.max(0, Math.min(to_at.getTime(), start_ms + quarter_ms) - from_ms)
    }, 0)
  })
  return held.some((ms) => ms > 0) ? held : kwhs
}
