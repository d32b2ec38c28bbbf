import { instrumentTypes } from '@heliograph/domain/site'
import { type Static, Type } from 'typebox'
import { LoggerId, Nullable } from '../../http/params.ts'
import { At, frame, liveQualities } from '../../plant/frame.ts'
import { quantity } from '../../plant/quantities.ts'
import { sensorQuantities } from '../../plant/sensor-quantities.ts'
import { rejectionRule, rejectReasons } from './station-screening.ts'

const closed = { additionalProperties: false } as const
const Maybe = (description: string) => Nullable(Type.Number({ description }))
const Count = (description: string) => Type.Integer({ minimum: 0, description })

/** Plot averages over the accepted instruments of a plant. */
const averages = {
  poa_irradiance_w_m2: quantity('poa_irradiance_w_m2'),
  ghi_w_m2: quantity('ghi_w_m2'),
  dhi_w_m2: quantity('dhi_w_m2'),
  module_temperature_c: quantity('module_temperature_c'),
  ambient_temperature_c: quantity('ambient_temperature_c'),
  relative_humidity_pct: quantity('relative_humidity_pct'),
  pressure_hpa: quantity('pressure_hpa'),
  wind_speed_m_s: quantity('wind_speed_m_s'),
  wind_direction_deg: quantity('wind_direction_deg'),
}

const listed = Object.values(sensorQuantities)

export type WeatherSensor = Static<typeof WeatherSensor>
export const WeatherSensor = Type.Object(
  {
    sensor_id: Type.String({ description: 'Unique within its station.' }),
    station_id: Type.Integer({ minimum: 0, description: 'The met station of the instrument.' }),
    name: Type.String(),
    type: Type.Enum([...instrumentTypes]),
    quantity: Type.Enum(
      listed.map((each) => each.quantity),
      { description: 'The measured quantity; `rain` is the counter of the gauge.' },
    ),
    value: Nullable(Type.Number({ description: 'Latest value in `unit`.' })),
    unit: Type.Enum([...new Set(listed.map((each) => each.unit))]),
    azimuth_deg: Maybe('Azimuth, degrees clockwise from north; null if missing in site.yaml.'),
    tilt_deg: Maybe('Tilt, degrees from the horizontal; null if missing in site.yaml.'),
    accuracy_class: Nullable(
      Type.Enum(['a', 'b', 'c'], { description: 'Class by ISO 9060 or a similar standard.' }),
    ),
    calibrated_date: Nullable(Type.String({ format: 'date' })),
    serial_number: Nullable(Type.String()),
    measured_at: Nullable(At('When `value` was measured.')),
    quality: Type.Enum([...liveQualities], {
      description: '`suspect` for a rejected instrument; else the quality of the reading.',
    }),
    deviation_from_average_pct: Maybe(
      'Deviation from the plot average, %; null for temperatures, directions and rain.',
    ),
    included_in_average: Type.Boolean({ description: 'Whether the value is in the plot average.' }),
    reject_reason: Nullable(Type.Enum([...rejectReasons], { description: rejectionRule })),
  },
  { ...closed, $id: 'WeatherSensor' },
)

export type Weather = Static<typeof Weather>
export const Weather = Type.Object(
  {
    logger_id: LoggerId,
    ...frame,
    ...averages,
    effective_irradiance_w_m2: Maybe(
      'Irradiance behind the glass, W/m², in the plane with most of the DC capacity; modelled ' +
        'unless a reference cell measures it.',
    ),
    cell_temperature_c: Maybe(
      'Cell temperature in that plane, °C: modelled from the temperature of the back of the ' +
        'panels, else from air temperature and wind.',
    ),
    rain_today_mm: Maybe('Measured rain since local midnight, mm.'),
    poa_insolation_today_kwh_m2: Maybe(
      'Measured irradiation in the plane of the panels since local midnight, kWh/m²: the sum of ' +
        'the buckets of the history.',
    ),
    ghi_insolation_today_kwh_m2: Maybe(
      'Measured global horizontal irradiation since local midnight, kWh/m².',
    ),
    clear_sky_poa_w_m2: Maybe(
      'Clear-sky irradiance in the planes of the instruments at `measured_at`, W/m² (Ineichen and ' +
        'Perez, Linke turbidity 3).',
    ),
    clear_sky_index: Maybe(
      '`poa_irradiance_w_m2` by `clear_sky_poa_w_m2`; null below 50 W/m² of clear-sky irradiance.',
    ),
    sun_elevation_deg: Maybe(
      'Current elevation of the sun at the site; null without the position of the site.',
    ),
    sun_azimuth_deg: Maybe('Current azimuth of the sun, clockwise from north.'),
    sensors_used: Count('Instruments in the averages.'),
    sensors_rejected: Count('Instruments that are not in the averages.'),
    sensors: Type.Array(WeatherSensor, { description: 'Every instrument in service.' }),
  },
  { ...closed, $id: 'Weather' },
)

export type WeatherBucketRecord = Static<typeof WeatherBucketRecord>
export const WeatherBucketRecord = Type.Object(
  {
    start_at: At('Start of the bucket, inclusive; whole five minutes in UTC.'),
    end_at: At('End of the bucket, exclusive.'),
    ...averages,
    poa_irradiance_max_w_m2: Maybe('Highest sample of the plot average, W/m².'),
    poa_irradiance_min_w_m2: Maybe('Lowest sample of the plot average, W/m².'),
    poa_irradiance_stddev_w_m2: Maybe(
      'Standard deviation of the plot average, W/m²; null for fewer than two samples.',
    ),
    poa_insolation_kwh_m2: Maybe(
      'Irradiation in the plane of the panels, kWh/m², by the accepted instruments; 0 at night. If ' +
        'all instruments face as the panels do, a day adds up to that of `/plant/summary`.',
    ),
    ghi_insolation_kwh_m2: Maybe('Global horizontal irradiation, kWh/m².'),
    rain_mm: Maybe('Rain counted in the bucket, mm.'),
    sample_count: Count('Readings in the bucket.'),
    completeness_pct: Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'Part of the five minutes between neighbouring readings, %.',
    }),
    is_partial: Type.Boolean({
      description: 'Whether the bucket is still running or `completeness_pct` is below 100.',
    }),
    sensors_rejected: Count('Instruments rejected for any part of the bucket.'),
    quality: Type.Enum(['good', 'suspect'], {
      description: '`suspect`: a reading was suspect or an instrument was rejected.',
    }),
  },
  { ...closed, $id: 'WeatherBucket' },
)
