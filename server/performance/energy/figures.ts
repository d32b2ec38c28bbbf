/** Energy metrics of a bucket (an hour, a day) of one or more loggers, and their coverage. */
import { hour_ms } from '@heliograph/domain/durations'
import { rounded } from '@heliograph/domain/significant'
import type { AwakeTime } from '../../plant/daylight.ts'
import type { Span as Bounds } from '../../telemetry/energy.ts'
import type { EnergySource, LoggerHour } from '../rollups/logger-days.ts'
import type { LoggerHourInFull, LoggerInService } from './logger-hours.ts'

export type { Bounds }

/** Minimum coverage of a complete bucket, and of met station data for expected energy. */
const whole_ratio = 0.95
export const lit_ratio = 0.5

type Sums = ReturnType<typeof nothing>

export const nothing = () => ({
  energy_kwh: null as number | null,
  estimated_kwh: 0,
  source: null as EnergySource | null,
  expected_kwh: null as number | null,
  curtailed_kwh: null as number | null,
  /** Inverter seconds in which the inverters must be awake, and the measured ones among them. */
  demanded_s: 0 as number | null,
  awake_covered_s: 0,
  sun_covered_s: 0,
  is_over: true,
})

interface Hours {
  logger: Pick<LoggerInService, 'inverter_count'>
  /** By start of the hour, Unix ms; hours without data are absent. */
  rows: ReadonlyMap<number, LoggerHour>
}

export interface Now {
  now_ms: number
  awake: AwakeTime
}

/** Metrics of the full hours of a span for one or more loggers together. */
export function figuresOf(parts: readonly Hours[], span: Bounds, now: Now) {
  const sums = nothing()
  for (let hour = span.start_ms; hour < span.end_ms; hour += hour_ms) {
    const awake_s = now.awake(hour, now.now_ms)
    for (const { logger, rows } of parts) add(sums, rows.get(hour), logger, awake_s)
  }
  sums.is_over = span.end_ms <= now.now_ms
  return judged(sums)
}

/** Adds an hour of a logger; undefined for an hour without data. */
export function add(
  sums: Sums,
  row: LoggerHour | undefined,
  logger: Hours['logger'],
  awake_s: number | null,
): void {
  const devices = row?.inverter_count ?? logger.inverter_count
  sums.demanded_s =
    sums.demanded_s === null || awake_s === null ? null : sums.demanded_s + awake_s * devices
  if (row === undefined) return
  if (row.energy_kwh !== null) {
    sums.energy_kwh = (sums.energy_kwh ?? 0) + row.energy_kwh
    sums.estimated_kwh += row.estimated_energy_kwh
    sums.source = together(sums.source, row)
  }
  sums.awake_covered_s += row.awake_covered_s
  sums.sun_covered_s += row.sun_covered_s
  sums.expected_kwh = plus(sums.expected_kwh, row.expected_energy_kwh)
  sums.curtailed_kwh = plus(sums.curtailed_kwh, row.curtailment_loss_kwh)
}

const plus = (sum: number | null, value: number | null) =>
  value === null ? sum : (sum ?? 0) + value

/** Hours without energy, as at night, do not change the source. */
function together(
  source: EnergySource | null,
  { energy_source, energy_kwh }: LoggerHour,
): EnergySource | null {
  if (source === null || source === energy_source) return energy_source
  return energy_kwh === 0 ? source : 'mixed'
}

/** Metrics of hours; `is_lit`: met station data cover enough of them. */
export function judged(sums: Sums) {
  const { demanded_s } = sums
  const completeness = completenessOf(demanded_s, sums.awake_covered_s)
  const is_lit = isLit(demanded_s, sums.sun_covered_s)
  const figures = {
    energy_kwh: kwh(sums.energy_kwh),
    estimated_energy_kwh: sums.energy_kwh === null ? null : kwh(sums.estimated_kwh),
    energy_source: sums.source,
    expected_energy_kwh: is_lit ? kwh(sums.expected_kwh) : null,
    curtailed_energy_kwh: is_lit ? kwh(sums.curtailed_kwh) : null,
    completeness_pct: percent(completeness),
    is_partial: isPartial(sums.is_over, completeness),
  }
  return { figures, is_lit }
}

/** Measured share of the demanded inverter seconds; null without any or when unknown. */
export const completenessOf = (demanded_s: number | null, awake_covered_s: number) =>
  demanded_s === null || demanded_s === 0 ? null : Math.min(1, awake_covered_s / demanded_s)

export const isLit = (demanded_s: number | null, sun_covered_s: number) =>
  sun_covered_s >= lit_ratio * (demanded_s ?? 0)

export const isPartial = (is_over: boolean, completeness: number | null) =>
  !is_over || (completeness !== null && completeness < whole_ratio)

export const kwh = (value: number | null) => rounded(value, 3)
export const percent = (ratio: number | null) => (ratio === null ? null : rounded(100 * ratio, 2))

export const byHour = (rows: readonly LoggerHourInFull[]): Map<number, LoggerHourInFull> =>
  new Map(rows.map((row) => [row.hour_at.getTime(), row]))
