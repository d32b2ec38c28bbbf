/** The hours of a schedule: as they are stored, and as the API shows them. */
import { rounded } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import { Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'

const closed = { additionalProperties: false } as const
const Power = (description: string) => Type.Number({ description })
const Percent = (description: string) =>
  Type.Number({ minimum: 0, maximum: 100, description, examples: [54.5] })

export type ScheduleHour = Static<typeof ScheduleHour>
export const ScheduleHour = Type.Object(
  {
    hour: Type.Integer({ minimum: 0, maximum: 23, description: 'UTC hour of `target_date`.' }),
    start_at: At('Start, inclusive.'),
    end_at: At('End, exclusive.'),
    power_kw: Power(
      'What the unit is to do at its connection, positive discharges, in whole watts; the mean ' +
        'where `quarter_power_kw` differs, to the watt towards zero.',
    ),
    energy_kwh: Type.Number({ description: 'At the connection, positive discharged.' }),
    action: Type.Enum(['charge', 'discharge', 'idle']),
    soc_start_pct: Nullable(
      Percent(
        'Expected. Null of an hour that had passed when the schedule was made and of which no ' +
          'approved schedule told.',
      ),
    ),
    soc_end_pct: Nullable(Percent('Expected; null as `soc_start_pct` is.')),
    price_per_mwh: Nullable(
      Type.Number({
        description:
          'Published or forecast, the mean over the periods of the market; null: nobody knows, ' +
          'and the plan is idle.',
      }),
    ),
    pv_forecast_kw: Nullable(
      Type.Number({
        minimum: 0,
        description: 'P50 of the plants behind the connection; null where none is forecast.',
      }),
    ),
    expected_amount: Nullable(
      Type.Number({
        description:
          'What the energy earns at the price, negative where it costs; ageing is not in it. ' +
          'Null without a price.',
      }),
    ),
    min_power_kw: Power(
      'The lowest value that the hour may be set to while all other hours, and the newest plans ' +
        'of the other units of the connection, stay as they are. It equals `max_power_kw` where the hour was locked when the schedule was made.',
    ),
    max_power_kw: Power('The highest value that it may be set to.'),
    locked: Type.Boolean({ description: 'Past or running: it can no longer be revised.' }),
    edited: Type.Boolean({ description: 'Revised by a person.' }),
    original_power_kw: Nullable(Power('As it was planned; null where it was never revised.')),
    edited_by: Nullable(Type.String()),
    edited_at: Nullable(At('When it was revised last.')),
    edit_note: Nullable(Type.String({ description: 'As it was given with the last revision.' })),
    quarter_power_kw: Nullable(
      Type.Array(Type.Number(), {
        minItems: 4,
        maxItems: 4,
        description: 'By quarter of the hour, where the market has prices for them.',
      }),
    ),
    quarter_price_per_mwh: Nullable(
      Type.Array(Nullable(Type.Number()), {
        minItems: 4,
        maxItems: 4,
        description:
          'What each of these quarters goes by: the sum of a quarter of each power at its price ' +
          'is `expected_amount`. A null in it: nobody knows. Null where the market has hours.',
        examples: [[12.5, 10.4, 8.1, 6]],
      }),
    ),
    price_status: Nullable(
      Type.Enum(['published', 'published_and_forecast', 'forecast', 'incomplete'], {
        description:
          'Whether the prices of the hour are published or forecast; `incomplete`: some of its ' +
          'quarters have neither, null: none has.',
      }),
    ),
    actual_power_kw: Nullable(
      Power('What the unit did, as deviations have it, in a passed hour of an approved schedule.'),
    ),
  },
  { ...closed, $id: 'ScheduleHour' },
)

/** As `battery_schedules.hours` has it; instants are RFC 3339. */
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
  /** Both are missing in what was planned before they were kept. */
  quarter_price_per_mwh?: ScheduleHour['quarter_price_per_mwh']
  price_status?: ScheduleHour['price_status']
}

/** Of a whole hour; of its quarters where they are told, for a mean is in whole watts. */
const energyOf = ({ power_kw, quarter_power_kw }: StoredHour): number =>
  quarter_power_kw === null ? power_kw : rounded(sumOf(quarter_power_kw) / 4, 6)

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

/** Less is no action, kW. */
const idle_kw = 1e-3

export function hourRecord(
  hour: StoredHour,
  { now, actual_power_kw }: { now: Date; actual_power_kw: number | null },
): ScheduleHour {
  const { power_kw } = hour
  const is_idle = Math.abs(power_kw) < idle_kw
  return {
    hour: hour.hour,
    start_at: hour.start_at,
    end_at: hour.end_at,
    power_kw,
    energy_kwh: energyOf(hour),
    action: is_idle ? 'idle' : power_kw > 0 ? 'discharge' : 'charge',
    soc_start_pct: hour.soc_start_pct,
    soc_end_pct: hour.soc_end_pct,
    price_per_mwh: hour.price_per_mwh,
    pv_forecast_kw: hour.pv_forecast_kw,
    expected_amount: hour.expected_amount,
    min_power_kw: hour.min_power_kw,
    max_power_kw: hour.max_power_kw,
    locked: Date.parse(hour.start_at) <= now.getTime(),
    edited: hour.edited_at !== null,
    original_power_kw: hour.original_power_kw,
    edited_by: hour.edited_by,
    edited_at: hour.edited_at,
    edit_note: hour.edit_note,
    quarter_power_kw: hour.quarter_power_kw,
    quarter_price_per_mwh: hour.quarter_price_per_mwh ?? null,
    price_status: hour.price_status ?? null,
    actual_power_kw,
  }
}
