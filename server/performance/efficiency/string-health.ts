/** Rates the strings of a site from the sums of their days. */

import { hour_ms } from '@heliograph/domain/durations'
import type { Queries } from '../../storage/database.ts'
import { giveTurn } from '../../storage/reader.ts'
import { comparedInGroups, withMeasuredGroups } from '../diagnostics/measured-orientation.ts'
import { judgeStrings, type StringVerdict } from '../diagnostics/string-health.ts'
import { addSums, type StringLayout, type StringSums } from '../diagnostics/string-sums.ts'
import type { Period } from '../period.ts'
import {
  type InverterStrings,
  readDays,
  readHours,
  readHoursOfDay,
  readInverterStrings,
  type StringDay,
} from './string-store.ts'

export interface JudgedInverter extends InverterStrings {
  /** Null when no string of the inverter was measured in the period. */
  total: StringSums | null
  days: StringDay[]
  verdicts: StringVerdict[]
}

/** Newest days of the period from which assumed orientations are measured. */
const orientation_days = 7
/** Newest days of the period from which the hourly pattern of a loss is taken. */
const pattern_days = 2
const turn_inverters = 16

/**
 * Rates the strings of inverters by days. For inverters with an underperforming string the hours of
 * the last days are read too, to find the cause.
 */
export async function judgeSite(
  db: Queries,
  site: { site_id: string; timezone: string },
  period: Period,
  inverter_ids?: readonly number[],
): Promise<JudgedInverter[]> {
  const { site_id } = site
  const [inverters, days] = await Promise.all([
    readInverterStrings(db, site_id, period, inverter_ids),
    readDays(db, site, period, inverter_ids ?? null),
  ])
  const assumed = inverters.filter(({ strings }) => strings.some((one) => one.orientation_assumed))
  const orientation_hours =
    assumed.length === 0
      ? null
      : await readHours(db, site_id, newestDays(period, orientation_days), assumed.map(idOf))
  const summed = inverters.map((inverter) => {
    const { inverter_id } = inverter
    const layout = withMeasuredGroups(inverter.layout, orientation_hours?.get(inverter_id) ?? [])
    const own = (days.get(inverter_id) ?? []).map((day) => ({
      ...day,
      sums: comparedInGroups(layout, day.sums),
    }))
    const total = own.length === 0 ? null : addSums(own.map(sumsOf))
    return { ...inverter, layout, days: own, total }
  })
  const unhealthy = summed.filter(({ layout, days, total }) =>
    [total, days.at(-1)?.sums].some((sums) => sums && hasUnhealthy(layout, sums)),
  )
  const hours =
    unhealthy.length === 0
      ? null
      : await readHoursOfDay(db, site_id, newestDays(period, pattern_days), unhealthy.map(idOf))
  const judged: JudgedInverter[] = []
  for (const inverter of summed) {
    const { layout, days, total } = inverter
    const own = hours?.get(inverter.inverter_id) ?? []
    const verdicts = judgeStrings(layout, total ?? addSums([]), {
      days: days.map(sumsOf),
      hours: own.map((sums) => comparedInGroups(layout, sums)),
    })
    judged.push({ ...inverter, verdicts })
    // A large site takes half a second: other requests run in between.
    if (judged.length % turn_inverters === 0) await giveTurn()
  }
  return judged
}

const idOf = ({ inverter_id }: { inverter_id: number }) => inverter_id
const sumsOf = ({ sums }: { sums: StringSums }) => sums

/** Whether any string underperforms, or loses power to an MPPT partner. */
const hasUnhealthy = (layout: readonly StringLayout[], sums: StringSums): boolean =>
  judgeStrings(layout, sums).some(
    ({ status, affected_by_string_index: partner }) =>
      (status !== 'healthy' && status !== 'no_data' && status !== 'dead') || partner !== null,
  )

function newestDays(
  { start_at, end_at }: Period,
  days: number,
): Pick<Period, 'start_at' | 'end_at'> {
  const from_ms = Math.ceil(end_at.getTime() / hour_ms - 24 * days) * hour_ms
  return { start_at: new Date(Math.max(start_at.getTime(), from_ms)), end_at }
}
