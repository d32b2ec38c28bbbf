/** A met station with its latest reading; needs no history. */

import type { Instrument } from '@heliograph/domain/site'
import { type Static, Type } from 'typebox'
import { LoggerId, Named } from '../http/params.ts'
import { frame, frameOf } from '../plant/frame.ts'
import { sensorQuantities } from '../plant/sensor-quantities.ts'
import type { Situation } from '../plant/situation.ts'
import { averageFields, WeatherSensor } from '../telemetry/weather/schemas.ts'
import type { StationRow } from '../telemetry/weather/store.ts'

const { sensor_id, name, quantity, value, unit } = WeatherSensor.properties
const InstrumentNow = Named('InstrumentNow', { sensor_id, name, quantity, value, unit })

const averages = Object.keys(averageFields) as (keyof typeof averageFields)[]

export type StationNow = Static<typeof StationNow>
export const StationNow = Named(
  'StationNow',
  {
    station_id: Type.Integer({ minimum: 0 }),
    logger_id: LoggerId,
    name: Type.String(),
    ...frame,
    ...averageFields,
    sensors: Type.Array(InstrumentNow, { description: 'Every instrument in service.' }),
  },
  {
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
    ...(Object.fromEntries(averages.map((each) => [each, row[each]])) as Pick<
      StationRow,
      (typeof averages)[number]
    >),
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
