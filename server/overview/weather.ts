/** A met station with its latest reading; needs no history. */

import { type Instrument, instrumentQuantities } from '@heliograph/domain/site'
import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { LoggerId, Named } from '../http/params.ts'
import { frame, frameOf } from '../plant/frame.ts'
import { quantity } from '../plant/quantities.ts'
import { sensorQuantities } from '../plant/sensor-quantities.ts'
import type { Situation } from '../plant/situation.ts'
import type { StationRow } from './store.ts'

const closed = { additionalProperties: false } as const
const listed = Object.values(sensorQuantities)

const InstrumentNow = Named('InstrumentNow', {
  sensor_id: field.Text('Unique within its station.'),
  name: Type.String(),
  quantity: Type.Enum(
    listed.map((each) => each.quantity),
    { description: 'The measured quantity; `rain` is the counter of the gauge.' },
  ),
  value: field.NumOrNull('Value in `unit`; null if not measured.'),
  unit: Type.Enum([...new Set(listed.map((each) => each.unit))]),
})

const averages = instrumentQuantities.filter((name) => name !== 'rain_mm')
type Average = (typeof averages)[number]

export type StationNow = Static<typeof StationNow>
export const StationNow = Type.Object(
  {
    station_id: Type.Integer({ minimum: 0 }),
    logger_id: LoggerId,
    name: Type.String(),
    ...frame,
    ...(Object.fromEntries(averages.map((name) => [name, quantity(name)])) as Record<
      Average,
      ReturnType<typeof quantity>
    >),
    sensors: Type.Array(InstrumentNow, { description: 'Every instrument in service.' }),
  },
  {
    ...closed,
    $id: 'StationNow',
    description:
      'The latest reading: means over all instruments of the station. /weather rejects implausible ' +
      'instruments, which needs their history.',
  },
)

export function stationNow(row: StationRow, { now, poll }: Situation): StationNow {
  const { station_id, logger_id, name, instruments, instrument_values } = row
  return {
    station_id,
    logger_id,
    name,
    ...frameOf(row, poll.weather_s, now),
    ...(Object.fromEntries(averages.map((each) => [each, row[each]])) as Pick<StationRow, Average>),
    sensors: instruments.map((instrument, index) =>
      instrumentNow(instrument, instrument_values?.[index] ?? null),
    ),
  }
}

const instrumentNow = ({ sensor_id, name, quantity }: Instrument, value: number | null) => ({
  sensor_id,
  name,
  ...sensorQuantities[quantity],
  value,
})
