/** How each string of the site does beside its peers: the sums of its days, judged. */

import { hour_ms } from '../../http/time-windows.ts'
import type { Queries } from '../../storage/database.ts'
import { giveTurn } from '../../storage/reader.ts'
import { comparedInGroups, withMeasuredGroups } from '../diagnostics/measured-orientation.ts'
import { type JudgedParts, judgeStrings, type StringVerdict } from '../diagnostics/string-health.ts'
import { addSums, type StringLayout, type StringSums } from '../diagnostics/string-sums.ts'
import type { Period } from '../period.ts'
import {
  type InverterStrings,
  readDays,
  readHours,
  readHoursOfDay,
  readInverterStrings,
  type StringDay,
  type StringHour,
} from './string-store.ts'

export interface JudgedInverter extends InverterStrings {
  /** Null where no string of it was measured in the period. */
  total: StringSums | null
  days: StringDay[]
  verdicts: StringVerdict[]
}

/** How strings face shows in the newest days of the period. */
const orientation_days = 7
/** The pattern of a loss over the hours of the day is taken from as many of the newest days. */
const pattern_days = 2
const turn_inverters = 16

/**
 * Judges the strings of inverters. Days are enough to see whether a string is ill; of inverters on
 * which one is, the hours of the last days are read to tell why.
 */
export async function judgeSite(
  db: Queries,
  site: { site_id: string; timezone: string },
  period: Period,
  inverter_ids?: readonly number[],
): Promise<JudgedInverter[]> {
  const { site_id, timezone } = site
  const [inverters, days] = await Promise.all([
    readInverterStrings(db, site_id, period, inverter_ids),
    readDays(db, { site_id, timezone, inverter_ids }, period),
  ])
  const assumed = inverters.filter(({ strings }) => strings.some((one) => one.orientation_assumed))
  const faced =
    assumed.length === 0
      ? new Map<number, StringHour[]>()
      : await readHours(db, site_id, newestDays(period, orientation_days), assumed.map(idOf))
  const summed = inverters.map((inverter) => {
    const layout = withMeasuredGroups(inverter.layout, faced.get(inverter.inverter_id) ?? [])
    const own = (days.get(inverter.inverter_id) ?? []).map((day) => ({
      ...day,
      sums: comparedInGroups(layout, day.sums),
    }))
    return {
      ...inverter,
      layout,
      days: own,
      total: own.length === 0 ? null : addSums(own.map(sumsOf)),
    }
  })
  const ill = summed.filter(({ layout, days, total }) =>
    [total, days.at(-1)?.sums].some((sums) => sums && hasIll(layout, sums)),
  )
  const hours =
    ill.length === 0
      ? new Map<number, StringSums[]>()
      : await readHoursOfDay(db, site_id, newestDays(period, pattern_days), ill.map(idOf))
  const judged: JudgedInverter[] = []
  for (const inverter of summed) {
    const own = hours
      .get(inverter.inverter_id)
      ?.map((sums) => comparedInGroups(inverter.layout, sums))
    const parts: JudgedParts = {
      days: inverter.days.map(sumsOf),
      ...(own && { hours: own }),
    }
    const verdicts = judgeStrings(inverter.layout, inverter.total ?? addSums([]), parts)
    judged.push({ ...inverter, verdicts })
    // A large site takes half a second: whoever else asks has a turn.
    if (judged.length % turn_inverters === 0) await giveTurn()
  }
  return judged
}

const idOf = ({ inverter_id }: { inverter_id: number }) => inverter_id
const sumsOf = ({ sums }: { sums: StringSums }) => sums

/** Whether any string gives less than a healthy one, or less than it could. */
const hasIll = (layout: readonly StringLayout[], sums: StringSums): boolean =>
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
