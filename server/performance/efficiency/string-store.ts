import { hoursOfLocalDate, localDate } from '@heliograph/domain/local-day'
import { hour_ms } from '../../http/time-windows.ts'
import type { Queries } from '../../storage/database.ts'
import type { StringLayout, StringSums } from '../diagnostics/string-sums.ts'
import type { Period } from '../period.ts'
import { layoutOf } from '../rollups/inverter-span.ts'
import { readStringHours, type StringHourRow } from '../rollups/store.ts'
import { decodeStrings, type StoredStrings, sumStored } from '../rollups/string-codec.ts'

/** A string in service, as the rankings name it. */
export interface RankedString {
  inverter_id: number
  string_index: number
  mppt_index: number
  connected: boolean
  params_id: number
  dc_capacity_kwp: number
  azimuth_deg: number
  tilt_deg: number
  orientation_assumed: boolean
}

export interface InverterStrings {
  inverter_id: number
  inverter_name: string
  logger_id: number
  strings: RankedString[]
  layout: StringLayout[]
}

/** The sums of an inverter's strings on a day at the site, as far as it lies in the period. */
export interface StringDay {
  local_date: string
  sums: StringSums
}

export interface StringHour {
  hour_at: Date
  sums: StringSums
}

/** The newest small lasting loss of a string. */
export interface StringStep {
  inverter_id: number
  string_index: number
  onset_date: string
  loss_ratio: number
}

type Window = Pick<Period, 'start_at' | 'end_at'>

export interface StringSumsStore {
  /** The inverters that had strings in service in the window, by id. */
  inverters(
    site_id: string,
    window: Window,
    inverter_ids?: readonly number[],
  ): Promise<InverterStrings[]>
  /** The days of the period in order, by inverter; those without any are not there. */
  days(
    site_id: string,
    period: Period,
    timezone: string,
    inverter_ids?: readonly number[],
  ): Promise<Map<number, StringDay[]>>
  /** The hours that begin in the window in order, by inverter. */
  hours(
    site_id: string,
    window: Window,
    inverter_ids: readonly number[],
  ): Promise<Map<number, StringHour[]>>
  /** The sums of each hour of the day over the days of the window, by inverter. */
  hoursOfDay(
    site_id: string,
    window: Window,
    inverter_ids: readonly number[],
  ): Promise<Map<number, StringSums[]>>
  /**
   * The small losses of strings that lasted on a local date, one of a string, that which began
   * last.
   */
  steps(site_id: string, date: string): Promise<StringStep[]>
}

type DayRow = StoredStrings & { inverter_id: number; local_date: string }

export function createStringSumsStore(db: Queries): StringSumsStore {
  return {
    inverters: (site_id, window, inverter_ids) =>
      readInverters(db, { site_id, inverter_ids: inverter_ids ?? null }, window),
    async days(site_id, period, timezone, inverter_ids) {
      const { before, whole, after } = partsOf(period, timezone)
      const of = { site_id, inverter_ids: inverter_ids ?? null }
      const [first, days, last] = await Promise.all([
        readHours(db, of, before),
        readDays(db, of, whole),
        readHours(db, of, after),
      ])
      const dated = (row: StringHourRow) => ({
        ...row,
        local_date: localDate(row.hour_at.getTime(), timezone),
      })
      return daysByInverter([...first.map(dated), ...days, ...last.map(dated)])
    },
    async hours(site_id, window, inverter_ids) {
      const rows = await readHours(db, { site_id, inverter_ids }, window)
      const hours = rows.map((row) => ({ ...row, sums: decodeStrings(row) }))
      return Map.groupBy(hours, ({ inverter_id }) => inverter_id)
    },
    async hoursOfDay(site_id, window, inverter_ids) {
      const rows = await readHours(db, { site_id, inverter_ids }, window)
      return new Map(
        [...Map.groupBy(rows, ({ inverter_id }) => inverter_id)].map(([inverter_id, own]) => {
          const by_hour = Map.groupBy(own, ({ hour_at }) => hour_at.getUTCHours())
          return [inverter_id, [...by_hour.values()].map(sumStored)]
        }),
      )
    },
    steps: (site_id, date) =>
      db.query<StringStep>(
        `SELECT DISTINCT ON (inverter_id, string_index)
                inverter_id, string_index, onset_date, loss_ratio
         FROM string_steps
         WHERE site_id = $1 AND onset_date <= $2 AND (end_date IS NULL OR end_date > $2)
         ORDER BY inverter_id, string_index, onset_date DESC`,
        [site_id, date],
      ),
  }
}

async function readInverters(
  db: Queries,
  { site_id, inverter_ids }: Whose,
  { start_at }: Window,
): Promise<InverterStrings[]> {
  const rows = await db.query<RankedString & { inverter_name: string; logger_id: number }>(
    `SELECT i.inverter_id, i.name AS inverter_name, i.logger_id, s.string_index, s.mppt_index,
            s.connected, s.params_id, s.dc_capacity_kwp, s.azimuth_deg, s.tilt_deg,
            s.orientation_assumed
     FROM inverters i
     JOIN strings s ON s.site_id = i.site_id AND s.inverter_id = i.inverter_id
     WHERE i.site_id = $1 AND ($2::int[] IS NULL OR i.inverter_id = ANY($2))
       AND (i.retired_at IS NULL OR i.retired_at > $3)
       AND (s.retired_at IS NULL OR s.retired_at > $3)
     ORDER BY i.inverter_id, s.string_index`,
    [site_id, inverter_ids, start_at.toISOString()],
  )
  return [...Map.groupBy(rows, ({ inverter_id }) => inverter_id).values()].map((strings) => {
    const { inverter_id, inverter_name, logger_id } = strings[0]!
    return { inverter_id, inverter_name, logger_id, strings, layout: layoutOf(strings) }
  })
}

/** Whose sums; null: of all inverters. */
interface Whose {
  site_id: string
  inverter_ids: readonly number[] | null
}

async function readHours(
  db: Queries,
  { site_id, inverter_ids }: Whose,
  { start_at, end_at }: Window,
): Promise<StringHourRow[]> {
  if (start_at >= end_at) return []
  return readStringHours(db, site_id, {
    inverter_ids,
    from_ms: start_at.getTime(),
    to_ms: end_at.getTime(),
  })
}

async function readDays(
  db: Queries,
  { site_id, inverter_ids }: Whose,
  whole: Parts['whole'],
): Promise<DayRow[]> {
  if (whole === null) return []
  return db.query<DayRow>(
    `SELECT inverter_id, local_date, string_count, layout, sums FROM string_days
     WHERE site_id = $1 AND local_date BETWEEN $2 AND $3
       AND ($4::int[] IS NULL OR inverter_id = ANY($4))
     ORDER BY inverter_id, local_date`,
    [site_id, whole.first, whole.last, inverter_ids],
  )
}

interface Parts {
  /** Hours before the first whole day, and after the last one. */
  before: Window
  after: Window
  whole: { first: string; last: string } | null
}

/**
 * A period as the whole days in it, whose sums are stored, and the hours at its ends. Of the day
 * that is running all is stored that there is.
 */
function partsOf({ start_at, end_at, is_running }: Period, timezone: string): Parts {
  const start_ms = start_at.getTime()
  const end_ms = end_at.getTime()
  const nothing = { start_at: end_at, end_at }
  const opening = hoursOfLocalDate(localDate(start_ms, timezone), timezone)
  const from_ms = opening.from_ms >= start_ms ? start_ms : opening.to_ms
  const closing = hoursOfLocalDate(localDate(Math.max(start_ms, end_ms), timezone), timezone)
  const to_ms = is_running ? closing.to_ms : closing.from_ms
  if (from_ms >= to_ms) return { before: { start_at, end_at }, whole: null, after: nothing }
  return {
    before: { start_at, end_at: new Date(from_ms) },
    whole: {
      first: localDate(from_ms, timezone),
      last: localDate(to_ms - hour_ms, timezone),
    },
    after: { start_at: new Date(Math.min(to_ms, end_ms)), end_at },
  }
}

/** Rows of hours and days, in order of time, put together by day. */
function daysByInverter(
  rows: readonly (StoredStrings & { inverter_id: number; local_date: string })[],
): Map<number, StringDay[]> {
  return new Map(
    [...Map.groupBy(rows, ({ inverter_id }) => inverter_id)].map(([inverter_id, own]) => [
      inverter_id,
      [...Map.groupBy(own, ({ local_date }) => local_date)].map(([local_date, parts]) => ({
        local_date,
        sums: sumStored(parts),
      })),
    ]),
  )
}
