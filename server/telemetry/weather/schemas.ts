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

/** What is averaged over the instruments of a plant. */
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
    station_id: Type.Integer({ minimum: 0, description: 'The met station that it belongs to.' }),
    name: Type.String(),
    type: Type.Enum([...instrumentTypes]),
    quantity: Type.Enum(
      listed.map((each) => each.quantity),
      { description: 'What it measures; `rain` is the counter of the gauge as it stands.' },
    ),
    value: Nullable(Type.Number({ description: 'Measured last, in `unit`.' })),
    unit: Type.Enum([...new Set(listed.map((each) => each.unit))]),
    azimuth_deg: Maybe('Where it faces, clockwise from north; null where site.yaml is silent.'),
    tilt_deg: Maybe('From the horizontal; null where site.yaml is silent.'),
    accuracy_class: Nullable(Type.Enum(['a', 'b', 'c'], { description: 'Of ISO 9060 or alike.' })),
    calibrated_date: Nullable(Type.String({ format: 'date' })),
    serial_number: Nullable(Type.String()),
    measured_at: Nullable(At('When `value` was measured.')),
    quality: Type.Enum([...liveQualities], {
      description: '`suspect` where it was rejected; else as of the reading.',
    }),
    deviation_from_average_pct: Maybe(
      'From the plot average; null for temperatures, directions and rain, whose zero says nothing.',
    ),
    included_in_average: Type.Boolean({ description: 'Whether it is in the plot average.' }),
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
      'Irradiance behind the glass of the panels, W/m², in the plane in which most of the ' +
        "plant's power stands; modelled unless a reference cell measures it.",
    ),
    cell_temperature_c: Maybe(
      'Temperature of the cells in that plane, °C: modelled from the back of the panels, else ' +
        'from air and wind.',
    ),
    rain_today_mm: Maybe('Rain since midnight at the site, mm, as far as it was counted.'),
    poa_insolation_today_kwh_m2: Maybe(
      'Irradiation in the plane of the panels since midnight at the site, kWh/m², as far as it ' +
        'was measured; the sum of the buckets of the history.',
    ),
    ghi_insolation_today_kwh_m2: Maybe('Global horizontal irradiation since then, kWh/m².'),
    clear_sky_poa_w_m2: Maybe(
      'What a cloudless sky would give in the planes of the instruments, W/m², at `measured_at` ' +
        '(Ineichen and Perez, Linke turbidity 3).',
    ),
    clear_sky_index: Maybe(
      '`poa_irradiance_w_m2` by `clear_sky_poa_w_m2`; null where the latter is below 50 W/m².',
    ),
    sun_elevation_deg: Maybe(
      'Of the sun now, as seen from the site; null where its place is unknown.',
    ),
    sun_azimuth_deg: Maybe('Of the sun now, clockwise from north.'),
    sensors_used: Count('Instruments in the averages.'),
    sensors_rejected: Count('Instruments that are not.'),
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
      'Standard deviation of these samples, W/m²; null of fewer than two.',
    ),
    poa_insolation_kwh_m2: Maybe(
      'Irradiation in the plane of the panels, kWh/m², by the instruments that are believed; none ' +
        'at night. Where all face as the panels do, a day of it is that of `/plant/summary`.',
    ),
    ghi_insolation_kwh_m2: Maybe('Global horizontal irradiation, kWh/m².'),
    rain_mm: Maybe('Rain that the gauges counted in the bucket, mm.'),
    sample_count: Count('Readings in the bucket.'),
    completeness_pct: Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'Part of the five minutes that lies between readings next to each other, %.',
    }),
    is_partial: Type.Boolean({
      description: 'The bucket is still running, or `completeness_pct` is below 100.',
    }),
    sensors_rejected: Count('Instruments that were left out, for any part of it.'),
    quality: Type.Enum(['good', 'suspect'], {
      description: '`suspect`: a reading was, or an instrument was rejected.',
    }),
  },
  { ...closed, $id: 'WeatherBucket' },
)
