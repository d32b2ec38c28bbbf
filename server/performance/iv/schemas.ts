/** Panel models, and the comparison of a string with its expectation. */

import { qualities } from '@heliograph/domain/readings'
import { type Static, Type } from 'typebox'
import { SeriesMeta } from '../../http/envelope.ts'
import * as field from '../../http/fields.ts'
import { Closed, Metric, Named } from '../../http/params.ts'
import { ivDiagnoses, noDiagnosisReasons } from '../diagnostics/iv-diagnosis.ts'
import { ivFlags } from '../diagnostics/iv-points.ts'
import { panelFields } from '../panels/model.ts'

export const ParamsId = field.Count('Id of a panel model of the site or the library.', {
  maximum: 2_147_483_647,
  examples: [1],
})

export const PanelModel = Named('PanelModel', {
  ...panelFields,
  used_by_string_count: field.Count(
    'Connected strings in service at the site with this model.',
    96,
  ),
})

export const PanelModelMatch = Named('PanelModelMatch', {
  ...panelFields,
  in_library: field.Flag(
    'Whether strings of the site use the model: `GET /iv/modules` lists a model with this id ' +
      'or name.',
    true,
  ),
  rank: field.Int('1 is the best match.', { minimum: 1 }),
})

const pointFlags = [...ivFlags, 'inverter_off'] as const

const Expected = (what: string, example: number) =>
  Metric(`Expected ${what}; null without irradiance, 0 at night.`, example)
const atMaximum = 'null while limited, stale, or below 5 % of the rated power.'

export type IvExpectedPoint = Static<typeof IvExpectedPoint>
export const IvExpectedPoint = Named('IvExpectedPoint', {
  measured_at: field.At('Time of the string reading.'),
  poa_irradiance_w_m2: Metric('Plane-of-array irradiance of the string, W/m².', 905.3),
  effective_irradiance_w_m2: Metric('Effective irradiance behind the glass, W/m².', 889.1),
  cell_temperature_c: Metric('Cell temperature, °C.', 47.8),
  expected_i_mp_a: Expected('current of the maximum power point, A', 9.6917),
  expected_v_mp_v: Expected('voltage of the maximum power point, V', 844.5475),
  expected_p_mp_kw: Expected('power of the maximum power point, kW', 8.1851),
  expected_i_sc_a: Expected('short circuit current, A', 10.2399),
  expected_v_oc_v: Expected('open circuit voltage, V', 1018.8753),
  expected_current_at_voltage_a: Metric(
    'Expected current at the measured voltage, A; null near the open circuit voltage, where it ' +
      'is not significant.',
    9.7373,
  ),
  measured_current_a: Metric('Current of the string, A.', 9.61),
  measured_voltage_v: Metric('Voltage of the MPPT of the string, V.', 840.4),
  measured_power_kw: Metric('Current times voltage, kW.', 8.0762),
  current_deviation_pct: Metric(
    `Deviation of the current from the maximum power point, %; ${atMaximum}`,
    -0.843,
  ),
  voltage_deviation_pct: Metric(
    `Deviation of the voltage from the maximum power point, %; ${atMaximum}`,
    -0.4911,
  ),
  power_deviation_pct: Metric(
    `Deviation of the power from the expected power, %; ${atMaximum}`,
    -1.33,
  ),
  current_deviation_at_voltage_pct: Metric(
    'Deviation of the current from the expected current at the measured voltage, %; valid while ' +
      'limited, too.',
    -1.3077,
  ),
  curtailed: field.Flag(
    'Whether a power limit, the rating or the temperature limited the inverter, so that it was ' +
      'not at the maximum power point; see `flags`.',
  ),
  flags: Type.Array(Type.Enum([...pointFlags]), {
    examples: [[]],
    description:
      '`night`: sun below the horizon. `no_irradiance`: irradiance or cell temperature unknown. ' +
      '`low_irradiance`: below 200 W/m². `curtailed`: limited by a power limit. `clipped`: ' +
      'limited by the rating or the temperature of the inverter. `stale`: the measured current ' +
      'does not change. `missing`: current or voltage not measured. `inverter_off`: the inverter ' +
      'does not feed, deviations are null.',
  }),
  quality: field.OneOf(
    qualities,
    '`suspect`: measured, possibly wrong; `estimated`: not measured.',
  ),
})

const noExpectationReasons = [
  'not_connected',
  'no_panel_model',
  'no_position',
  'no_irradiance',
] as const
export type NoExpectationReason = (typeof noExpectationReasons)[number]

const IvExpectedMeta = Named('IvExpectedMeta', {
  ...SeriesMeta.properties,
  model: field.OneOf(['cec_single_diode'], 'Model of the expectation.'),
  params_id: field.Int('Panel model of the string; see /iv/modules.', 1123933968),
  module_count: field.Count('Panels in series.', 22),
  reason: field.OneOfOrNull(
    noExpectationReasons,
    'Reason why there is no expectation and `data` is empty. `not_connected`: the input has no ' +
      'string. `no_panel_model`: the circuit of the panels is unknown. `no_position`: the ' +
      'position of the site is unknown. `no_irradiance`: no met station of the site measures ' +
      'irradiance.',
  ),
  diagnosis: field.OneOfOrNull(
    ivDiagnoses,
    'Diagnosis from the points of this page: `normal`; `current_loss` at every voltage ' +
      '(soiling, uniform shade); `voltage_loss` (bypassed substrings); `series_resistance` ' +
      '(connectors, ageing); `shading_or_mismatch` at the same hours every day; `open`: no ' +
      'current.',
    'normal',
  ),
  diagnosis_reason: field.OneOfOrNull(
    noDiagnosisReasons,
    'Reason why there is no diagnosis. `insufficient_data`: fewer than 12 good points at 200 ' +
      'W/m² or more. `more_than_expected`: the string exceeds the expectation, so that the ' +
      'irradiance or the panel model must be wrong. `ambiguous`: neither a fault nor a healthy ' +
      'string is likely enough, as with small losses by soiling and ageing of all strings; ' +
      'compare with its peers in /efficiency/health-matrix.',
  ),
  current_loss_pct: Metric('Mean current loss of the diagnosis, %.', 0.61),
  voltage_loss_pct: Metric('Mean voltage loss of the diagnosis, %.', -0.12),
  confidence_pct: Metric('Probability of the diagnosis among the listed ones, %.', 97.4),
  diagnosed_point_count: field.Count('Points of the page used for the diagnosis.', 611),
})

export const IvExpectedSeries = Closed({ data: Type.Array(IvExpectedPoint), meta: IvExpectedMeta })
