import { hour_ms } from '@heliograph/domain/durations'
import { hoursOfLocalDate, localDate } from '@heliograph/domain/local-day'
import type { Queries } from '../../storage/database.ts'
import type { StringLayout, StringSums } from '../diagnostics/string-sums.ts'
import type { Period } from '../period.ts'
import { layoutOf } from '../rollups/inverter-span.ts'
import type { PlantString } from '../rollups/raw.ts'
import { readStringDays, readStringHours, type StringHourRow } from '../rollups/store.ts'
import { decodeStrings, sumStored } from '../rollups/string-codec.ts'

export type RankedString = Omit<PlantString, 'panel' | 'module_count'>

export interface InverterStrings {
  inverter_id: number
  inverter_name: string
  logger_id: number
  strings: RankedString[]
  layout: StringLayout[]
}

/** Sums of an inverter's strings on the part of a local day that lies in the period. */
export interface StringDay {
  local_date: string
  sums: StringSums
}

export interface StringHour {
  hour_at: Date
  sums: StringSums
}

export interface StringStep {
  inverter_id: number
  string_index: number
  onset_date: string
  loss_ratio: number
}

type Window = Pick<Period, 'start_at' | 'end_at'>

/** Inverters with strings in service during the window, by id. */
export async function readInverterStrings(
  db: Queries,
  site_id: string,
  { start_at }: Window,
  inverter_ids?: readonly number[],
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
    [site_id, inverter_ids ?? null, start_at.toISOString()],
  )
  return [...Map.groupBy(rows, idOf).values()].map((strings) => {
    const { inverter_id, inverter_name, logger_id } = strings[0]!
    return { inverter_id, inverter_name, logger_id, strings, layout: layoutOf(strings) }
  })
}

/** Days of the period in order, by inverter; inverters without days are absent. */
export async function readDays(
  db: Queries,
  { site_id, timezone }: { site_id: string; timezone: string },
  period: Period,
  inverter_ids: readonly number[] | null,
): Promise<Map<number, StringDay[]>> {
  const { before, whole, after } = partsOf(period, timezone)
  const [first, days, last] = await Promise.all([
    hourRows(db, site_id, before, inverter_ids),
    whole === null ? [] : readStringDays(db, site_id, inverter_ids, whole),
    hourRows(db, site_id, after, inverter_ids),
  ])
  const dated = (row: StringHourRow) => ({
    ...row,
    local_date: localDate(row.hour_at.getTime(), timezone),
  })
  const rows = [...first.map(dated), ...days, ...last.map(dated)]
  return mapByInverter(rows, (own) =>
    [...Map.groupBy(own, ({ local_date }) => local_date)].map(([local_date, parts]) => ({
      local_date,
      sums: sumStored(parts),
    })),
  )
}

/** Hours that start in the window in order, by inverter. */
export async function readHours(
  db: Queries,
  site_id: string,
  window: Window,
  inverter_ids: readonly number[],
): Promise<Map<number, StringHour[]>> {
  const rows = await hourRows(db, site_id, window, inverter_ids)
  return mapByInverter(rows, (own) => own.map((row) => ({ ...row, sums: decodeStrings(row) })))
}

/** Sums of each hour of the day over the days of the window, by inverter. */
export async function readHoursOfDay(
  db: Queries,
  site_id: string,
  window: Window,
  inverter_ids: readonly number[],
): Promise<Map<number, StringSums[]>> {
  const rows = await hourRows(db, site_id, window, inverter_ids)
  return mapByInverter(rows, (own) =>
    [...Map.groupBy(own, ({ hour_at }) => hour_at.getUTCHours()).values()].map(sumStored),
  )
}

/** Small losses that persisted on a local date: the one with the latest onset of each string. */
export const readSteps = (db: Queries, site_id: string, date: string) =>
  db.query<StringStep>(
    `SELECT DISTINCT ON (inverter_id, string_index)
            inverter_id, string_index, onset_date, loss_ratio
     FROM string_steps
     WHERE site_id = $1 AND onset_date <= $2 AND (end_date IS NULL OR end_date > $2)
     ORDER BY inverter_id, string_index, onset_date DESC`,
    [site_id, date],
  )

const idOf = ({ inverter_id }: { inverter_id: number }) => inverter_id

const mapByInverter = <Row extends { inverter_id: number }, Result>(
  rows: readonly Row[],
  of: (own: Row[]) => Result,
): Map<number, Result> =>
  new Map([...Map.groupBy(rows, idOf)].map(([inverter_id, own]) => [inverter_id, of(own)]))

async function hourRows(
  db: Queries,
  site_id: string,
  { start_at, end_at }: Window,
  inverter_ids: readonly number[] | null,
): Promise<StringHourRow[]> {
  if (start_at >= end_at) return []
  return readStringHours(db, site_id, {
    inverter_ids,
    from_ms: start_at.getTime(),
    to_ms: end_at.getTime(),
  })
}

/**
 * Splits a period into whole local days, whose sums are stored, and the hours at both ends. The
 * current day counts as whole: its stored sums cover all hours so far.
 */
function partsOf({ start_at, end_at, is_running }: Period, timezone: string) {
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
    whole: { first: localDate(from_ms, timezone), last: localDate(to_ms - hour_ms, timezone) },
    after: { start_at: new Date(Math.min(to_ms, end_ms)), end_at },
  }
}
