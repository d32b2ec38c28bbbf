/**
 * Updates the gaps of a site from its readings: in the transaction that sums up hours, and
 * periodically for sources without fresh readings and for unsettled gaps.
 */
import { hour_ms } from '@heliograph/domain/durations'
import { default_report_s } from '@heliograph/domain/node'
import type { Queries, Transaction } from '../../storage/database.ts'
import { type FinalWeeks, readFinalWeeks } from '../final-weeks.ts'
import type { Mark } from '../touched-hours.ts'
import { type Expectation, holesBetween, holeUntilNow, partOf, steps_aside } from './holes.ts'
import { reconcile } from './reconcile.ts'
import { readingsOf, readSources, type SiteSources, type Source } from './sources.ts'
import {
  type Instants,
  keyOf,
  readInstants,
  readLiving,
  readLosses,
  readStates,
  storeChanges,
} from './store.ts'

/** Class of the advisory lock for changes of the gaps of a site: `hg-g`. */
export const gap_lock_class = 0x68672d67

/** Updates the gaps of the loggers and of the sources with new readings in the marked hours. */
export async function reconcileHours(
  transaction: Transaction,
  site_id: string,
  marks: readonly Omit<Mark, 'touches'>[],
  now: Date,
): Promise<void> {
  await transaction.query('select pg_advisory_xact_lock($1, hashtext($2))', [
    gap_lock_class,
    site_id,
  ])
  const site = await readSources(transaction, site_id)
  for (const [start_ms, heard] of Map.groupBy(marks, ({ hour_at }) => hour_at.getTime())) {
    const keys = new Set(heard.map(({ kind, device_id }) => `${kind} ${device_id}`))
    const sources = site.sources.filter(
      ({ source_type, device_id }) =>
        source_type === 'logger' || keys.has(`${readingsOf[source_type].kind} ${device_id}`),
    )
    await reconcileHour(transaction, { site_id, site, now }, { start_ms, sources })
  }
}

export interface Context {
  site_id: string
  site: SiteSources
  now: Date
}

/** Updates the gaps of sources in an hour and in the surroundings that its readings affect. */
export async function reconcileHour(
  transaction: Transaction,
  context: Context,
  { start_ms, sources }: { start_ms: number; sources: readonly Source[] },
): Promise<void> {
  const { site_id } = context
  const span = { start_ms, end_ms: start_ms + hour_ms }
  const final = await readFinalWeeks(transaction)
  for (const [type, alike] of Map.groupBy(sources, ({ source_type }) => source_type)) {
    const of = { type, sources: alike }
    const instants = await readInstants(transaction, site_id, of, span)
    const views = alike.flatMap((source) => {
      const read = instants.get(keyOf(source))
      const whole = read ? withoutFinal(read, start_ms, final) : null
      return whole ? [{ source, ...viewOf(whole, source) }] : []
    })
    if (views.length === 0) continue
    const from_ms = Math.min(...views.map(({ region }) => region.from_ms))
    const lost_after_ms = await readLosses(transaction, site_id, from_ms)
    const rests = await readRests(transaction, context, views, lost_after_ms)
    const living = await readLiving(transaction, site_id, of, {
      from_ms,
      to_ms: Math.max(...views.map(({ region }) => region.to_ms)),
    })
    for (const view of views) {
      const { source, region } = view
      const expectation = { ...expectationOf(source, context, rests(source)), lost_after_ms }
      const changes = reconcile(
        living.get(keyOf(source)) ?? [],
        holesOf(view, expectation, context.now),
        region,
        (gap, extent) => partOf(gap, extent, expectation),
      )
      const { hasDaylight } = context.site.wakefulness
      await storeChanges(transaction, changes, { site_id, source, now: context.now, hasDaylight })
    }
  }
}

/**
 * Excludes the thinned readings of final weeks except the newest, where a lasting gap may begin.
 * Null for an hour in a final week without a lasting gap.
 */
function withoutFinal(
  { times_ms, before_count, after_count }: Instants,
  start_ms: number,
  final: FinalWeeks,
): Instants | null {
  if (final.holds(start_ms)) {
    return after_count > 0 ? null : { times_ms: times_ms.slice(-1), before_count: 0, after_count }
  }
  const final_until_ms = final.endBefore(start_ms) ?? Number.NEGATIVE_INFINITY
  const gone = Math.max(0, times_ms.filter((time_ms) => time_ms < final_until_ms).length - 1)
  return { times_ms: times_ms.slice(gone), before_count: before_count - gone, after_count }
}

type View = ReturnType<typeof viewOf>

/** All steps that a reading of the span affects, with the readings needed to judge them. */
function viewOf({ times_ms, before_count, after_count }: Instants, { retired_at }: Source) {
  const beside = steps_aside + 1
  const first = Math.max(0, before_count - beside)
  const is_last = after_count < beside
  const all_ms = [...times_ms]
  // No readings are expected after the device was retired.
  const retired_ms = retired_at?.getTime() ?? null
  const ends_retired = is_last && retired_ms !== null
  if (ends_retired && retired_ms > all_ms.at(-1)!) all_ms.push(retired_ms)
  const last = is_last ? all_ms.length - 1 : times_ms.length - after_count + beside - 1
  return {
    times_ms: all_ms,
    first,
    last,
    region: {
      from_ms: all_ms[first]!,
      to_ms: is_last ? Number.POSITIVE_INFINITY : all_ms[last]!,
    },
  }
}

function holesOf(view: View & { source: Source }, expectation: Expectation, now: Date) {
  const holes = holesBetween(view.times_ms, view, expectation)
  const lasts = view.region.to_ms === Number.POSITIVE_INFINITY && view.source.retired_at === null
  const open = lasts ? holeUntilNow(view.times_ms, now.getTime(), expectation) : null
  return open ? [...holes, open] : holes
}

export function expectationOf(
  { source_type, poll_s, sleeps: all_sleep }: Source,
  { site }: Pick<Context, 'site'>,
  wentToRest: (time_ms: number) => boolean = () => false,
): Expectation {
  const { poll, sleeps } = readingsOf[source_type]
  return {
    poll_s: poll_s ?? (poll ? site.poll[poll] : default_report_s),
    // Logger readings are composed of its devices, which may all sleep at night.
    sleeps: (all_sleep ?? sleeps) ? site.wakefulness : null,
    wentToRest,
  }
}

const resting = new Set<string | null | undefined>(['off', 'sleeping', 'standby'])

/** Whether inverters went to sleep, at the instants that matter. */
async function readRests(
  db: Queries,
  context: Context,
  views: readonly (View & { source: Source })[],
  lost_after_ms: readonly number[],
): Promise<(source: Source) => (time_ms: number) => boolean> {
  const asked: { device_id: number; time_ms: number }[] = []
  for (const view of views) {
    const { source_type, device_id } = view.source
    if (source_type !== 'inverter') continue
    const expectation = expectationOf(view.source, context, (time_ms) => {
      asked.push({ device_id, time_ms })
      return false
    })
    holesOf(view, { ...expectation, lost_after_ms }, context.now)
  }
  const states = await readStates(db, context.site_id, asked)
  return ({ device_id, source_type }) =>
    (time_ms) =>
      source_type === 'inverter' && resting.has(states.get(`${device_id}/${time_ms}`))
}
