/** Judges the register writes of a controlled site. Power in watts, time in Unix ms. */
import type { Database } from '@heliograph/server/storage/database'
import { permit, plantOf } from './controlled-site.ts'
import type { Write } from './inverter-peer.ts'

/** What the devices of each plant may deliver together, from an instant on until the next. */
interface Step {
  at: number
  by_plant: ReadonlyMap<number, number>
}

export interface JudgedRow {
  group_id: string
  logger_id: number
  max_w: number
  applied_at: number
  /** Its end, or its release. */
  over_at: number
}

/** The edge's clock counts in steps of so long, and says when the running one began. */
const clock_step_ms = 10
/** Sums to the watt: what lies below is rounding of the product. */
const rounding_w = 0.001

export function stepsOf(writes: readonly Write[]): Step[] {
  const allowed = new Map<number, number>()
  return writes.map(({ at, inverter_id, allowed_w }) => {
    allowed.set(inverter_id, allowed_w)
    const by_plant = new Map<number, number>()
    for (const [id, watts] of allowed) {
      const logger_id = plantOf.get(id)!
      by_plant.set(logger_id, (by_plant.get(logger_id) ?? 0) + watts)
    }
    return { at, by_plant }
  })
}

/** From when on the devices, all of them known, first kept to the permit; null: never. */
export function armedAt(steps: readonly Step[]): number | null {
  const found = steps.slice(plantOf.size - 1).find((step) => excessOf(step).length === 0)
  return found?.at ?? null
}

/** Every instant at which the registers allowed more than the permit. */
export function aboveThePermit(steps: readonly Step[], from: number): string[] {
  return steps
    .filter(({ at }) => at >= from)
    .flatMap((step) => excessOf(step).map((what) => `${what} at ${step.at}, above its permit`))
}

function excessOf({ by_plant }: Step): string[] {
  const site_w = sum(by_plant.values())
  const over = [...by_plant].filter(([id, watts]) => watts > permit.plant_w.get(id)! + rounding_w)
  return [
    ...over.map(([id, watts]) => `plant ${id} could deliver ${watts} W`),
    ...(site_w > permit.site_w + rounding_w ? [`the site could deliver ${site_w} W`] : []),
  ]
}

/** Every row that was above its limit between being applied and its end. */
export function aboveARow(steps: readonly Step[], rows: readonly JudgedRow[]): string[] {
  return rows.flatMap(({ group_id, logger_id, max_w, applied_at, over_at }) => {
    const from = steps.findLastIndex(({ at }) => at <= applied_at + clock_step_ms)
    const held = steps.slice(Math.max(0, from)).filter(({ at }) => at < over_at)
    const worst = held.find(({ by_plant }) => by_plant.get(logger_id)! > max_w + rounding_w)
    // Released before it was proven: it holds nothing any more.
    if (!worst || applied_at + clock_step_ms >= over_at) return []
    return [
      `row ${group_id}/${logger_id} of ${max_w} W, applied at ${applied_at} and over at ` +
        `${over_at}: ${worst.by_plant.get(logger_id)} W could be delivered at ${worst.at}`,
    ]
  })
}

export function appliedRows(db: Database): Promise<JudgedRow[]> {
  return db.query<JudgedRow>(
    `select group_id, logger_id, max_power_kw * 1000 as max_w,
       (extract(epoch from applied_at) * 1000)::float8 as applied_at,
       (extract(epoch from least(end_at, released_at)) * 1000)::float8 as over_at
     from curtailment_rows where applied_at is not null order by applied_at`,
  )
}

/**
 * Groups that are not whole, that nobody was told of, or that were made twice; and those that were
 * told of and are not there.
 */
export async function wrongGroups(
  db: Database,
  told: ReadonlyMap<string, string | null>,
): Promise<string[]> {
  const groups = await db.query<{
    group_id: string
    source: string
    idempotency_key: string | null
    is_whole: boolean
  }>(
    `select g.group_id, g.source, g.idempotency_key,
       array_length(array_agg(distinct r.logger_id) filter (where r.logger_id is not null), 1)
         is not distinct from case g.scope when 'site' then $1::int else 1 end as is_whole
     from curtailment_groups g left join curtailment_rows r using (site_id, group_id)
     group by g.site_id, g.group_id`,
    [permit.plant_w.size],
  )
  const there = new Set(groups.map(({ group_id }) => group_id))
  const keys = groups.map(({ idempotency_key }) => idempotency_key ?? '')
  const isAsked = (key: string, group_id: string) =>
    told.get(key) === null || told.get(key) === group_id
  return [
    ...groups.flatMap(({ group_id, source, is_whole }, nth) => [
      ...(is_whole ? [] : [`group ${group_id} is not whole`]),
      ...(source === 'api' ? [] : [`group ${group_id} comes from ${source}`]),
      ...(isAsked(keys[nth]!, group_id) ? [] : [`group ${group_id} was not asked for`]),
      ...(keys.indexOf(keys[nth]!) === nth ? [] : [`group ${group_id} was made again`]),
    ]),
    ...[...told.values()].flatMap((group_id) =>
      group_id === null || there.has(group_id)
        ? []
        : [`group ${group_id} was answered and is not there`],
    ),
  ]
}

export const sum = (values: Iterable<number>) => [...values].reduce((all, one) => all + one, 0)
