/** Production of a plant or the site by quarter hour, as arrays that can be sent to a thread. */
import { day_ms, quarter_ms } from '@heliograph/domain/durations'
import { type PlantQuarter, readPlantQuarters } from '../contracts/plant-quarters.ts'
import { heldUntil } from '../storage/curtailment.ts'
import type { Queries } from '../storage/database.ts'

/** One element per quarter hour from `from_ms` on. */
export interface Course {
  from_ms: number
  /** Delivered plus curtailed energy; NaN when unknown. */
  available_wh: Float64Array
  energy_wh: Float64Array
  completeness_pct: Float32Array
  flags: Uint8Array
}

export const flag = { curtailed: 1, clipped: 2, faulty: 4, estimated: 8 } as const

/** Length of a read per plant, short enough not to delay requests. */
const chunk_ms = 30 * day_ms

interface CourseQuery extends Span {
  site_id: string
  logger_ids: readonly number[]
}

/** The plants by id, and the site as their sum; the sum is known when every plant is. */
export async function readCourses(
  db: Queries,
  { site_id, logger_ids, from_ms, to_ms }: CourseQuery,
  signal?: AbortSignal,
): Promise<{ site: Course; plants: Map<number, Course> }> {
  const count = Math.max(0, Math.ceil((to_ms - from_ms) / quarter_ms))
  const plants = new Map(logger_ids.map((logger_id) => [logger_id, emptyCourse(from_ms, count)]))
  for (const [logger_id, course] of plants) {
    const values = [site_id, logger_id, new Date(from_ms), new Date(to_ms)]
    const curtailed = await db.query<Span>(curtailed_spans, values)
    const outages = await db.query<Span>(outage_spans, values)
    for (let at = from_ms; at < to_ms; at += chunk_ms) {
      signal?.throwIfAborted()
      const chunk = { from: new Date(at), to: new Date(Math.min(to_ms, at + chunk_ms)) }
      for (const quarter of await readPlantQuarters(db, { site_id, logger_id, ...chunk })) {
        const nth = (quarter.start_ms - from_ms) / quarter_ms
        course.available_wh[nth] = availableWh(quarter, curtailed) ?? Number.NaN
        course.energy_wh[nth] = quarter.energy_wh ?? Number.NaN
        course.completeness_pct[nth] = quarter.completeness_pct
        course.flags[nth] =
          (isCurtailed(quarter, curtailed) ? flag.curtailed : 0) |
          (quarter.is_clipped ? flag.clipped : 0) |
          (quarter.is_faulty || overlapsAny(outages, quarter) ? flag.faulty : 0) |
          (quarter.is_estimated ? flag.estimated : 0)
      }
    }
  }
  return { site: sumOf([...plants.values()], from_ms, count), plants }
}

export interface Span {
  from_ms: number
  to_ms: number
}

const held_until = heldUntil('$4::timestamptz')

const curtailed_spans = `
  select (extract(epoch from greatest(start_at, applied_at)) * 1000)::float8 as from_ms,
         (extract(epoch from ${held_until}) * 1000)::float8 as to_ms
  from curtailment_rows r
  where site_id = $1 and logger_id = $2 and applied_at is not null and start_at < $4
    and ${held_until} > $3`

/** Planned outages of the plant or a part of it, which make its production unrepresentative. */
const outage_spans = `
  select (extract(epoch from start_at) * 1000)::float8 as from_ms,
         (extract(epoch from end_at) * 1000)::float8 as to_ms
  from planned_outages
  where site_id = $1 and (logger_id is null or logger_id = $2) and end_at > $3 and start_at < $4`

const overlapsAny = (spans: readonly Span[], { start_ms }: PlantQuarter): boolean =>
  spans.some((span) => span.from_ms < start_ms + quarter_ms && span.to_ms > start_ms)

/** Unknown when an order limited the plant by an unknown amount. */
const availableWh = (quarter: PlantQuarter, curtailed: readonly Span[]): number | null =>
  quarter.curtailed_wh === null && overlapsAny(curtailed, quarter)
    ? null
    : (quarter.available_wh ?? quarter.energy_wh)

/** An order whose effect is unknown counts as curtailment. */
const isCurtailed = (quarter: PlantQuarter, curtailed: readonly Span[]): boolean =>
  quarter.curtailed_wh !== null ? quarter.curtailed_wh > 0 : overlapsAny(curtailed, quarter)

export function emptyCourse(from_ms: number, count: number): Course {
  return {
    from_ms,
    available_wh: new Float64Array(count).fill(Number.NaN),
    energy_wh: new Float64Array(count).fill(Number.NaN),
    completeness_pct: new Float32Array(count),
    flags: new Uint8Array(count),
  }
}

export function copyCourse(from: Course, into: Course, at: number): void {
  for (const name of ['available_wh', 'energy_wh', 'completeness_pct', 'flags'] as const) {
    into[name].set(from[name], at)
  }
}

/** Known where every course is known, with the lowest completeness and the flags of all. */
export function sumOf(courses: readonly Course[], from_ms: number, count: number): Course {
  const sum = emptyCourse(from_ms, count)
  const [first, ...others] = courses
  if (!first) return sum
  copyCourse(first, sum, 0)
  for (const course of others) {
    for (let nth = 0; nth < count; nth += 1) {
      sum.available_wh[nth]! += course.available_wh[nth]!
      sum.energy_wh[nth]! += course.energy_wh[nth]!
      sum.completeness_pct[nth] = Math.min(
        sum.completeness_pct[nth]!,
        course.completeness_pct[nth]!,
      )
      sum.flags[nth]! |= course.flags[nth]!
    }
  }
  return sum
}

interface Outcome {
  available_kwh: number | null
  energy_kwh: number | null
  completeness_pct: number
  is_curtailed: boolean
  is_clipped: boolean
  is_faulty: boolean
  is_estimated: boolean
}

/** Production in the whole quarter hours of [start_ms, end_ms); unknown outside of the course. */
export function outcomeOf(course: Course, start_ms: number, end_ms: number): Outcome {
  const first = (start_ms - course.from_ms) / quarter_ms
  const end = (end_ms - course.from_ms) / quarter_ms
  let [available_wh, energy_wh, completeness, flags] = [0, 0, 0, 0]
  for (let nth = first; nth < end; nth += 1) {
    available_wh += course.available_wh[nth] ?? Number.NaN
    energy_wh += course.energy_wh[nth] ?? Number.NaN
    completeness += course.completeness_pct[nth] ?? 0
    flags |= course.flags[nth] ?? 0
  }
  return {
    available_kwh: Number.isNaN(available_wh) ? null : available_wh / 1000,
    energy_kwh: Number.isNaN(energy_wh) ? null : energy_wh / 1000,
    completeness_pct: completeness / (end - first),
    is_curtailed: (flags & flag.curtailed) > 0,
    is_clipped: (flags & flag.clipped) > 0,
    is_faulty: (flags & flag.faulty) > 0,
    is_estimated: (flags & flag.estimated) > 0,
  }
}
