/**
 * The hours of a logger in a UTC day, packed into one value: a month of a large site has twenty
 * thousand hours, and reading them as rows takes several times as long as all further processing.
 */
import { hour_ms } from '@heliograph/domain/durations'
import type { Transaction } from '../../storage/database.ts'

/** Stored by index: append new values at the end. */
export const energySources = [
  'inverter_counter',
  'integrated_power',
  'counter_over_gap',
  'mixed',
] as const
export type EnergySource = (typeof energySources)[number]

/** Totals of the inverters of a logger in an hour; see the migration of the table. */
export interface LoggerHour {
  inverter_count: number
  energy_kwh: number | null
  estimated_energy_kwh: number
  energy_source: EnergySource | null
  awake_covered_s: number
  sun_covered_s: number
  expected_energy_kwh: number | null
  curtailment_loss_kwh: number | null
}

/** Column `hours` of `logger_days`, of one or more days of one logger. */
export type PackedHours = Buffer

/** Values of an hour in this order: big-endian 8-byte floats, NaN for null. */
const packed = [
  'extract(epoch from hour_at) / 3600',
  `coalesce(array_position('{${energySources.join(',')}}', energy_source), 0)`,
  'inverter_count',
  'energy_kwh',
  'estimated_energy_kwh',
  'awake_covered_s',
  'sun_covered_s',
  'expected_energy_kwh',
  'curtailment_loss_kwh',
].map((value) => `float8send(coalesce(${value}::float8, 'NaN'))`)

const touchedDays = `
  select distinct date_trunc('day', hour_at, 'UTC') as day_at
  from unnest($2::timestamptz[]) as t (hour_at)`

/** Repacks the days of these hours (ISO 8601), in the transaction that wrote the hours. */
export async function storeLoggerDays(
  transaction: Transaction,
  site_id: string,
  hours: readonly string[],
): Promise<void> {
  await transaction.execute(
    `delete from logger_days where site_id = $1 and day_at in (${touchedDays})`,
    [site_id, hours],
  )
  await transaction.execute(
    `insert into logger_days (site_id, logger_id, day_at, hours)
     select $1, logger_id, day_at, string_agg(${packed.join(' || ')}, ''::bytea order by hour_at)
     from (${touchedDays}) as days
     join logger_hours on site_id = $1 and hour_at >= day_at and hour_at < day_at + interval '1 day'
     group by logger_id, day_at`,
    [site_id, hours],
  )
}

/**
 * Reads hours of the span by their start, Unix ms; undefined without data. Hours are unpacked on
 * demand, because a large site has twenty thousand of them.
 */
export function unpackHours(
  hours: PackedHours,
  span: { start_ms: number; end_ms: number },
): (hour: number) => LoggerHour | undefined {
  const view = new DataView(hours.buffer, hours.byteOffset, hours.length)
  const float = (at: number, nth: number) => view.getFloat64(at + 8 * nth)
  const first = span.start_ms / hour_ms
  const places = new Int32Array((span.end_ms - span.start_ms) / hour_ms).fill(-1)
  for (let at = 0; at < hours.length; at += 8 * packed.length) places[float(at, 0) - first] = at
  return (hour) => {
    const at = places[hour / hour_ms - first] ?? -1
    if (at < 0) return undefined
    return {
      inverter_count: float(at, 2),
      energy_kwh: orNull(float(at, 3)),
      estimated_energy_kwh: float(at, 4),
      energy_source: energySources[float(at, 1) - 1] ?? null,
      awake_covered_s: float(at, 5),
      sun_covered_s: float(at, 6),
      expected_energy_kwh: orNull(float(at, 7)),
      curtailment_loss_kwh: orNull(float(at, 8)),
    }
  }
}

const orNull = (value: number) => (Number.isNaN(value) ? null : value)
