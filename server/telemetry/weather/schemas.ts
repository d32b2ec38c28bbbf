import { instrumentTypes } from '@heliograph/domain/site'
import { type Static, Type } from 'typebox'
import * as field from '../../http/fields.ts'
import { LoggerId, Metric, Named, Nullable } from '../../http/params.ts'
import { frame, liveQualities } from '../../plant/frame.ts'
import { quantity } from '../../plant/quantities.ts'
import { sensorQuantities } from '../../plant/sensor-quantities.ts'
import { rejectionRule, rejectReasons } from './station-screening.ts'

/** Plot averages over the accepted instruments of a plant. */
export const averageFields = {
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
export const WeatherSensor = Named('WeatherSensor', {
  sensor_id: field.Text('Unique within its station.', 'poa-1'),
  station_id: field.Count('The met station of the instrument.', 1),
  name: Type.String({ examples: ['Pyranometer in the plane of the modules'] }),
  type: Type.Enum([...instrumentTypes]),
  quantity: field.OneOf(
    listed.map((each) => each.quantity),
    'The measured quantity; `rain` is the counter of the gauge.',
  ),
  value: Metric('Latest value in `unit`.', 861),
  unit: Type.Enum([...new Set(listed.map((each) => each.unit))]),
  azimuth_deg: Metric('Azimuth, degrees clockwise from north; null if missing in site.yaml.', 180),
  tilt_deg: Metric('Tilt, degrees from the horizontal; null if missing in site.yaml.', 25),
  accuracy_class: field.OneOfOrNull(
    ['a', 'b', 'c'],
    'Class by ISO 9060 or a similar standard.',
    'a',
  ),
  calibrated_date: Nullable(Type.String({ format: 'date', examples: ['2025-09-12'] })),
  serial_number: Nullable(Type.String()),
  measured_at: field.AtOrNull('When `value` was measured.', '2026-06-21T10:00:00.000Z'),
  quality: field.OneOf(
    liveQualities,
    '`suspect` for a rejected instrument; else the quality of the reading.',
  ),
  deviation_from_average_pct: Metric(
    'Deviation from the plot average, %; null for temperatures, directions and rain.',
    0,
  ),
  included_in_average: field.Flag('Whether the value is in the plot average.', true),
  reject_reason: field.OneOfOrNull(rejectReasons, rejectionRule),
})

export type Weather = Static<typeof Weather>
export const Weather = Named('Weather', {
  logger_id: LoggerId,
  ...frame,
  ...averageFields,
  effective_irradiance_w_m2: Metric(
    'Irradiance behind the glass, W/m², in the plane with most of the DC capacity; modelled ' +
      'unless a reference cell measures it.',
    848.1,
  ),
  cell_temperature_c: Metric(
    'Cell temperature in that plane, °C: modelled from the temperature of the back of the ' +
      'panels, else from air temperature and wind.',
    49.8,
  ),
  rain_today_mm: Metric('Measured rain since local midnight, mm.', 0),
  poa_insolation_today_kwh_m2: Metric(
    'Measured irradiation in the plane of the panels since local midnight, kWh/m²: the sum of ' +
      'the buckets of the history.',
    2.71,
  ),
  ghi_insolation_today_kwh_m2: Metric(
    'Measured global horizontal irradiation since local midnight, kWh/m².',
    2.64,
  ),
  clear_sky_poa_w_m2: Metric(
    'Clear-sky irradiance in the planes of the instruments at `measured_at`, W/m² (Ineichen and ' +
      'Perez, Linke turbidity 3).',
    934.6,
  ),
  clear_sky_index: Metric(
    '`poa_irradiance_w_m2` by `clear_sky_poa_w_m2`; null below 50 W/m² of clear-sky irradiance.',
    0.921,
  ),
  sun_elevation_deg: Metric(
    'Current elevation of the sun at the site; null without the position of the site.',
    58.2,
  ),
  sun_azimuth_deg: Metric('Current azimuth of the sun, clockwise from north.', 141.7),
  sensors_used: field.Count('Instruments in the averages.', 1),
  sensors_rejected: field.Count('Instruments that are not in the averages.', 0),
  sensors: Type.Array(WeatherSensor, { description: 'Every instrument in service.' }),
})

export type WeatherBucketRecord = Static<typeof WeatherBucketRecord>
export const WeatherBucketRecord = Named('WeatherBucket', {
  start_at: field.At('Start of the bucket, inclusive; whole five minutes in UTC.'),
  end_at: field.At('End of the bucket, exclusive.'),
  ...averageFields,
  poa_irradiance_max_w_m2: Metric('Highest sample of the plot average, W/m².', 866),
  poa_irradiance_min_w_m2: Metric('Lowest sample of the plot average, W/m².', 841),
  poa_irradiance_stddev_w_m2: Metric(
    'Standard deviation of the plot average, W/m²; null for fewer than two samples.',
    6.3,
  ),
  poa_insolation_kwh_m2: Metric(
    'Irradiation in the plane of the panels, kWh/m², by the accepted instruments; 0 at night. If ' +
      'all instruments face as the panels do, a day adds up to that of `/plant/summary`.',
    0.0710333333,
  ),
  ghi_insolation_kwh_m2: Metric('Global horizontal irradiation, kWh/m².', 0.0669916667),
  rain_mm: Metric('Rain counted in the bucket, mm.', 0),
  sample_count: field.Count('Readings in the bucket.', 30),
  completeness_pct: field.Percent(
    'Part of the five minutes between neighbouring readings, %.',
    100,
  ),
  is_partial: field.Flag('Whether the bucket is still running or `completeness_pct` is below 100.'),
  sensors_rejected: field.Count('Instruments rejected for any part of the bucket.', 0),
  quality: field.OneOf(
    ['good', 'suspect'],
    '`suspect`: a reading was suspect or an instrument was rejected.',
  ),
})
