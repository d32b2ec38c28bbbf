/** The energy of plants (loggers) in quarter hours: what is sold, and what forecasts learn from. */
import type { Queries } from '../storage/database.ts'
import { hour_ms } from '../storage/touched-hours.ts'

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

export interface QuartersAsked {
  site_id: string
  /** Of all plants where it is not given. */
  logger_id?: number | undefined
  from: Date
  /** Exclusive. */
  to: Date
}

/** Four quarters, in whole Wh; null where it is not known. */
export type Quarters = readonly (number | null)[]

export interface PlantHour {
  start_ms: number
  /** In service. */
  inverter_count: number
  energy_wh: Quarters
  curtailed_wh: Quarters
  /** Inverter seconds that were measured while inverters must be awake. */
  awake_covered_s: number
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
  const plants = await readPlantHours(db, asked)
  return [...plants].flatMap(([logger_id, hours]) =>
    hours
      .flatMap((hour) => quartersOf(logger_id, hour))
      .filter(({ start_ms }) => start_ms >= from_ms && start_ms < to_ms),
  )
}

/** The hours that share time with [from, to), ascending, by plant; none without data. */
export async function readPlantHours(
  db: Queries,
  { site_id, logger_id, from, to }: QuartersAsked,
): Promise<Map<number, PlantHour[]>> {
  const first = Math.floor(from.getTime() / hour_ms) * hour_ms
  const values = [site_id, logger_id ?? null, new Date(first), to]
  const hours = await db.query<PackedHours>(packedHours, values)
  const spans = await db.query<HeldSpan>(heldSpans, values)
  const spansOf = Map.groupBy(spans, (span) => span.logger_id)
  return new Map(
    hours.map((row) => [row.logger_id, unpack(row.hours, spansOf.get(row.logger_id) ?? [])]),
  )
}

function quartersOf(logger_id: number, hour: PlantHour): PlantQuarter[] {
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

interface PackedHours {
  logger_id: number
  hours: Buffer
}

/** When a row of curtailment held a plant. */
interface HeldSpan {
  logger_id: number
  from_at: Date
  to_at: Date
}

/**
 * Of an hour, in this order; 8-byte floats, big endian, NaN for null: a year of a plant as rows
 * takes several times as long to read.
 */
const packed = [
  'extract(epoch from hour_at) * 1000',
  'energy_kwh',
  'quarter_kwh[1]',
  'quarter_kwh[2]',
  'quarter_kwh[3]',
  'quarter_kwh[4]',
  'quarter_slot_count[1]',
  'quarter_slot_count[2]',
  'quarter_slot_count[3]',
  'quarter_slot_count[4]',
  'inverter_count',
  'estimated_energy_kwh',
  'coalesce(curtailment_loss_kwh, told_kwh)',
  'clipped_s',
  'fault_s',
  'awake_covered_s',
].map((value) => `float8send(coalesce((${value})::float8, 'NaN'))`)

/** Where no light was measured the inverters may tell what limits kept back. */
const packedHours = `
  select logger_id, string_agg(${packed.join(' || ')}, ''::bytea order by hour_at) as hours
  from logger_hours
  left join (
    select logger_id, hour_at, sum(curtailed_energy_kwh) as told_kwh from curtailment_hours
    where site_id = $1 and ($2::int is null or logger_id = $2) and hour_at >= $3 and hour_at < $4
    group by logger_id, hour_at
  ) as told using (logger_id, hour_at)
  where site_id = $1 and ($2::int is null or logger_id = $2) and hour_at >= $3 and hour_at < $4
  group by logger_id
  order by logger_id`

const heldSpans = `
  select * from (
    select logger_id, greatest(start_at, applied_at) as from_at,
           least(end_at, released_at, $4) as to_at
    from curtailment_rows
    where site_id = $1 and ($2::int is null or logger_id = $2) and applied_at is not null
      and end_at > $3 and start_at < $4
  ) as spans
  where to_at > from_at
  order by logger_id, from_at`

function unpack(packed_hours: Buffer, spans: readonly HeldSpan[]): PlantHour[] {
  const view = new DataView(packed_hours.buffer, packed_hours.byteOffset, packed_hours.length)
  const hours: PlantHour[] = []
  for (let at = 0; at < packed_hours.length; at += 8 * packed.length) {
    const float = (nth: number) => view.getFloat64(at + 8 * nth)
    const start_ms = float(0)
    const kwhs = [float(2), float(3), float(4), float(5)]
    const curtailed_kwh = float(12)
    hours.push({
      start_ms,
      inverter_count: float(10),
      energy_wh: sharedOut(float(1), kwhs),
      curtailed_wh: sharedOut(
        curtailed_kwh,
        curtailed_kwh > 0 ? curtailedShares(start_ms, spans, kwhs) : kwhs,
      ),
      awake_covered_s: float(15),
      estimated_energy_kwh: float(11),
      slot_count: [float(6), float(7), float(8), float(9)],
      clipped_s: float(13),
      fault_s: float(14),
    })
  }
  return hours
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
