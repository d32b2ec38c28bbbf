/**
 * The matrix of days and hours, written directly as JSON text: a month of a large site has twenty
 * thousand hours, and creating objects first takes several times as long as everything else.
 */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import { type AsciiText, ascii, asciiText } from '../../http/ascii-text.ts'
import { JsonText } from '../../http/json-text.ts'
import type { spanMeta } from '../../http/windows.ts'
import {
  energySources,
  type LoggerHour,
  type PackedHours,
  unpackHours,
} from '../rollups/logger-days.ts'
import {
  add,
  type Bounds,
  completenessOf,
  isLit,
  isPartial,
  judged,
  kwh,
  type Now,
  nothing,
  percent,
} from './figures.ts'
import type { LoggerInService } from './logger-hours.ts'
import { timezone_note } from './schemas.ts'

interface Frame {
  start_ms: number
  /** First part of the JSON text of the hour. */
  text: Uint8Array
  awake_s: number | null
  is_over: boolean
}

/** JSON text of an `EnergyMatrix`: one item per day and logger; `span` has whole days. */
export function energyMatrix(
  span: Bounds & Partial<ReturnType<typeof spanMeta>>,
  loggers: readonly LoggerInService[],
  hours: ReadonlyMap<number, PackedHours>,
  now: Now,
): JsonText {
  const readers = loggers.map(({ logger_id }) => {
    const packed = hours.get(logger_id)
    return packed === undefined ? () => undefined : unpackHours(packed, span)
  })
  const text = asciiText()
  text.add(pieces.data)
  let count = 0
  const totals = new Array<number | null>(24).fill(null)
  for (let day = span.start_ms; day < span.end_ms; day += day_ms) {
    const frames = framesOf(day, now)
    for (const [nth, logger] of loggers.entries()) {
      const hourAt = readers[nth]!
      const rows = frames.map(({ start_ms }) => hourAt(start_ms))
      if (count > 0) text.add(pieces.comma)
      count += 1
      addDay(text, day, frames, { logger, rows, totals })
    }
  }
  const { truncated = false, next_start = null } = span
  const meta = {
    count,
    truncated,
    next_start,
    timezone_note,
    totals_by_hour: totals.map((energy_kwh, hour) => ({
      hour,
      energy_kwh: energy_kwh === null ? null : Math.round(energy_kwh * 1000) / 1000,
    })),
  }
  text.add(ascii(`],"meta":${JSON.stringify(meta)}}`))
  return new JsonText(text.take())
}

function framesOf(day: number, { now_ms, awake }: Now): Frame[] {
  return Array.from({ length: 24 }, (_, hour) => {
    const start_ms = day + hour * hour_ms
    const start_at = new Date(start_ms).toISOString()
    return {
      start_ms,
      text: ascii(`${hour === 0 ? '' : ','}{"hour":${hour},"start_at":"${start_at}","energy_kwh":`),
      awake_s: awake(start_ms, now_ms),
      is_over: start_ms + hour_ms <= now_ms,
    }
  })
}

function addDay(
  text: AsciiText,
  day: number,
  frames: readonly Frame[],
  {
    logger,
    rows,
    totals,
  }: {
    logger: LoggerInService
    rows: readonly (LoggerHour | undefined)[]
    totals: (number | null)[]
  },
): void {
  const of_day = nothing()
  let peak_hour: number | null = null
  let peak_kwh = 0
  for (const [hour, { awake_s, is_over }] of frames.entries()) {
    add(of_day, rows[hour], logger, awake_s)
    of_day.is_over &&= is_over
    const energy_kwh = rows[hour]?.energy_kwh ?? null
    if (energy_kwh === null) continue
    totals[hour] = (totals[hour] ?? 0) + energy_kwh
    if (energy_kwh > peak_kwh) {
      peak_hour = hour
      peak_kwh = energy_kwh
    }
  }
  const { figures } = judged(of_day)
  const date = utcDate(day)
  text.add(
    ascii(
      `{"date":"${date}","logger_id":${logger.logger_id},"total_kwh":${figures.energy_kwh},` +
        `"estimated_energy_kwh":${figures.estimated_energy_kwh},` +
        `"energy_source":${quoted(figures.energy_source)},"peak_hour":${peak_hour}`,
    ),
  )
  addCoverage(text, figures.completeness_pct, figures.is_partial)
  text.add(pieces.hours)
  for (const [hour, frame] of frames.entries()) addHour(text, frame, rows[hour], logger)
  text.add(pieces.end_of_day)
}

const quoted = (word: string | null) => (word === null ? 'null' : `"${word}"`)

const pieces = {
  data: ascii('{"data":['),
  comma: ascii(','),
  hours: ascii(',"hours":['),
  curtailed: ascii(',"curtailed_energy_kwh":'),
  completeness: ascii(',"completeness_pct":'),
  partial: ascii(',"is_partial":true'),
  whole: ascii(',"is_partial":false'),
  end_of_hour: ascii('}'),
  end_of_day: ascii(']}'),
}
const expectedAfter = new Map(
  [null, ...energySources].map((source) => [
    source,
    ascii(`,"energy_source":${quoted(source)},"expected_energy_kwh":`),
  ]),
)

/** Metrics of an hour as `judged` computes them, without creating an object. */
function addHour(
  text: AsciiText,
  frame: Frame,
  row: LoggerHour | undefined,
  logger: LoggerInService,
): void {
  const { awake_s, is_over } = frame
  const demanded_s =
    awake_s === null ? null : awake_s * (row?.inverter_count ?? logger.inverter_count)
  const completeness = completenessOf(demanded_s, row?.awake_covered_s ?? 0)
  const is_lit = isLit(demanded_s, row?.sun_covered_s ?? 0)
  const energy_kwh = row?.energy_kwh ?? null
  text.add(frame.text)
  text.addNumber(kwh(energy_kwh))
  text.add(expectedAfter.get(energy_kwh === null ? null : row!.energy_source)!)
  text.addNumber(is_lit ? kwh(row?.expected_energy_kwh ?? null) : null)
  text.add(pieces.curtailed)
  text.addNumber(is_lit ? kwh(row?.curtailment_loss_kwh ?? null) : null)
  addCoverage(text, percent(completeness), isPartial(is_over, completeness))
  text.add(pieces.end_of_hour)
}

function addCoverage(text: AsciiText, completeness_pct: number | null, is_partial: boolean): void {
  text.add(pieces.completeness)
  text.addNumber(completeness_pct)
  text.add(is_partial ? pieces.partial : pieces.whole)
}
