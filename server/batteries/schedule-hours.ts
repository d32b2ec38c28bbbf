/** The hours of a schedule, as stored and as returned by the API. */
import { rounded } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import {
  AtOrNull,
  Closed,
  Count,
  Flag,
  FromZeroOrNull,
  Num,
  NumOrNull,
  OneOfOrNull,
  PercentOrNull,
  TextOrNull,
} from '../http/fields.ts'
import { Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import { served } from '../storage/records.ts'

export type ScheduleHour = Static<typeof ScheduleHour>
export const ScheduleHour = Closed('ScheduleHour', {
  hour: Count('UTC hour of `target_date`.', { maximum: 23 }),
  start_at: At('Start, inclusive.'),
  end_at: At('End, exclusive.'),
  power_kw: Num(
    'Planned power at the connection in whole watts, kW; positive discharges. The mean of ' +
      '`quarter_power_kw` where given, rounded towards zero.',
  ),
  energy_kwh: Num('Energy at the connection, kWh; positive is discharged.'),
  action: Type.Enum(['charge', 'discharge', 'idle']),
  soc_start_pct: PercentOrNull(
    'Expected state of charge at the start, %. Null for an hour that had passed at planning ' +
      'and that no approved schedule covered.',
  ),
  soc_end_pct: PercentOrNull('Expected state of charge at the end, %; null likewise.'),
  price_per_mwh: NumOrNull(
    'Mean published or forecast price of the hour; null where unknown, and then the plan is idle.',
  ),
  pv_forecast_kw: FromZeroOrNull(
    'Forecast P50 of the plants behind the connection, kW; null without a forecast.',
  ),
  expected_amount: NumOrNull(
    'Expected revenue of the energy at the price, negative for cost; excludes ageing. Null ' +
      'without a price.',
  ),
  min_power_kw: Num(
    'Lowest power that the hour can be revised to, given all other hours and the newest plans of ' +
      'the other units of the connection. Equals `max_power_kw` for an hour that was locked at ' +
      'planning.',
  ),
  max_power_kw: Num('Highest power that the hour can be revised to.'),
  locked: Flag('Whether the hour is past or running and can no longer be revised.'),
  edited: Flag('Whether the hour was revised by a person.'),
  original_power_kw: NumOrNull('Planned power before the first revision; null if never revised.'),
  edited_by: Nullable(Type.String()),
  edited_at: AtOrNull('When the hour was last revised.'),
  edit_note: TextOrNull('Note of the last revision.'),
  quarter_power_kw: Nullable(
    Type.Array(Type.Number(), {
      minItems: 4,
      maxItems: 4,
      description: 'Power by quarter hour, for markets with quarter-hourly prices; else null.',
    }),
  ),
  quarter_price_per_mwh: Nullable(
    Type.Array(Nullable(Type.Number()), {
      minItems: 4,
      maxItems: 4,
      description:
        'Price of each quarter hour. `expected_amount` is the sum of energy times price over the ' +
        'quarters. An element is null where unknown; null for markets with hourly prices.',
      examples: [[12.5, 10.4, 8.1, 6]],
    }),
  ),
  price_status: OneOfOrNull(
    ['published', 'published_and_forecast', 'forecast', 'incomplete'],
    'Whether the prices of the hour are published or forecast. `incomplete`: some quarters ' +
      'have neither. Null: all quarters have neither.',
  ),
  actual_power_kw: NumOrNull(
    'Measured mean power in a past hour of an approved schedule, as in deviations.',
  ),
})

/** An element of `battery_schedules.hours`; instants are RFC 3339. */
export interface StoredHour
  extends Omit<
    ScheduleHour,
    | 'energy_kwh'
    | 'action'
    | 'locked'
    | 'edited'
    | 'actual_power_kw'
    | 'quarter_power_kw'
    | 'quarter_price_per_mwh'
    | 'price_status'
  > {
  quarter_power_kw: [number, number, number, number] | null
  /** Both are missing in plans of earlier versions. */
  quarter_price_per_mwh?: ScheduleHour['quarter_price_per_mwh']
  price_status?: ScheduleHour['price_status']
}

/** Energy of an hour, from its quarters if given: the mean power is rounded to whole watts. */
const energyOf = ({ power_kw, quarter_power_kw }: StoredHour): number =>
  quarter_power_kw === null ? power_kw : rounded(sumOf(quarter_power_kw) / 4, 6)

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

/** Power below this is no action. */
const idle_kw = 1e-3

const fields = Object.keys(ScheduleHour.properties)

export function hourRecord(
  hour: StoredHour,
  { now, actual_power_kw }: { now: Date; actual_power_kw: number | null },
): ScheduleHour {
  const { power_kw } = hour
  const is_idle = Math.abs(power_kw) < idle_kw
  return served(fields, {
    ...hour,
    energy_kwh: energyOf(hour),
    action: is_idle ? 'idle' : power_kw > 0 ? 'discharge' : 'charge',
    locked: Date.parse(hour.start_at) <= now.getTime(),
    edited: hour.edited_at !== null,
    quarter_price_per_mwh: hour.quarter_price_per_mwh ?? null,
    price_status: hour.price_status ?? null,
    actual_power_kw,
  }) as ScheduleHour
}
