/** A met station with its latest reading; needs no history. */

import type { Instrument } from '@heliograph/domain/site'
import { Type } from 'typebox'
import { LoggerId, Named } from '../http/params.ts'
import { frame, frameOf } from '../plant/frame.ts'
import { sensorQuantities } from '../plant/sensor-quantities.ts'
import type { Situation } from '../plant/situation.ts'
import { served } from '../storage/records.ts'
import { averageFields, WeatherSensor } from '../telemetry/weather/schemas.ts'
import type { StationRow } from '../telemetry/weather/store.ts'

const { sensor_id, name, quantity, value, unit } = WeatherSensor.properties
const InstrumentNow = Named('InstrumentNow', { sensor_id, name, quantity, value, unit })

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

export const stationNow = (row: StationRow, { now, poll }: Situation) =>
  served(StationNow, {
    ...row,
    ...frameOf(row, poll.weather_s, now),
    sensors: row.instruments.map((instrument, index) =>
      instrumentNow(instrument, row.instrument_values?.[index] ?? null),
    ),
  })

const instrumentNow = ({ sensor_id, name, quantity }: Instrument, value: number | null) => ({
  sensor_id,
  name,
  ...sensorQuantities[quantity],
  value,
})
