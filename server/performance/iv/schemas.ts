/** Panel models, and the comparison of a string with its expectation. */
import { qualities } from '@heliograph/domain/readings'
import { type Static, type TSchema, Type } from 'typebox'
import { SeriesMeta } from '../../http/envelope.ts'
import { Nullable } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { ivDiagnoses } from '../diagnostics/iv-diagnosis.ts'
import { ivFlags } from '../diagnostics/iv-points.ts'

const closed = { additionalProperties: false } as const
const Known = (description: string) => Nullable(Type.Number({ description }))
const Text = (description: string) => Nullable(Type.String({ description }))

export const ParamsId = Type.Integer({
  minimum: 0,
  maximum: 2_147_483_647,
  description: 'Id of a panel model of the site or the library.',
  examples: [1],
})

const panelSources = ['site', 'cec', 'fitted'] as const

const ofCircuit = 'Computed from the circuit when the site announced one.'

const modelFields = {
  params_id: Type.Integer({
    description:
      'Permanent id. Ids below 1048576 belong to the site; others identify a model of the library ' +
      'and are the same on every server.',
  }),
  name: Type.String({ description: 'Manufacturer and model.' }),
  manufacturer: Type.String({ description: 'Manufacturer as named in the list or the inventory.' }),
  model: Text('Name without the manufacturer.'),
  technology: Type.String({
    description:
      'Cell technology. Library models: `mono_c_si`, `multi_c_si`, `thin_film`, `cdte`, `cigs`, ' +
      '`hjt`, `topcon`, `other`; site models: as in the inventory.',
  }),
  bifacial: Nullable(Type.Boolean({ description: 'Whether the module is bifacial.' })),
  power_stc_w: Type.Number({ description: 'Power at 1000 W/m² and 25 °C (STC), W.' }),
  power_ptc_w: Known('Power at PVUSA test conditions: 1000 W/m², air of 20 °C, wind of 1 m/s, W.'),
  area_m2: Known('Area, m².'),
  length_m: Known('Length, m.'),
  width_m: Known('Width, m.'),
  cells_in_series: Nullable(
    Type.Integer({ description: 'Cells in series; for half-cut cells those of one half.' }),
  ),
  i_sc_a: Known(`Short circuit current at STC, A, as listed. ${ofCircuit}`),
  v_oc_v: Known(`Open circuit voltage at STC, V, as listed. ${ofCircuit}`),
  i_mp_a: Known(`Current of the maximum power point at STC, A, as listed. ${ofCircuit}`),
  v_mp_v: Known(`Voltage of the maximum power point at STC, V, as listed. ${ofCircuit}`),
  alpha_sc_a_per_c: Known('Temperature coefficient of the short circuit current.'),
  beta_oc_v_per_c: Known(
    `Temperature coefficient of the open circuit voltage, as listed. ${ofCircuit}`,
  ),
  gamma_pmp_pct_per_c: Known(
    `Temperature coefficient of the maximum power, % of that at STC, as listed. ${ofCircuit}`,
  ),
  noct_c: Known('Cell temperature at 800 W/m², air of 20 °C, wind of 1 m/s (NOCT), °C.'),
  a_ref_v: Known(
    'Modified ideality factor of the single-diode circuit, V. This and the next five fields are ' +
      'the parameters of the CEC model at STC.',
  ),
  i_l_ref_a: Known('Photocurrent, A.'),
  i_o_ref_a: Known('Saturation current of the diode, A.'),
  r_s_ohm: Known('Series resistance, Ω.'),
  r_sh_ref_ohm: Known('Shunt resistance, Ω.'),
  adjust_pct: Known('Correction of the temperature coefficient of the current, %.'),
  source: Type.Enum([...panelSources], {
    description:
      'Source of the circuit. `site`: announced with the inventory; `cec`: imported list of CEC ' +
      'modules; `fitted`: fitted to the datasheet.',
  }),
  source_version: Text('Edition of the list, or the datasheet.'),
  source_date: Nullable(Type.String({ format: 'date', description: 'Date of that edition.' })),
} as const satisfies Record<string, TSchema>

const PanelFields = Type.Object(modelFields)
export type PanelFields = Static<typeof PanelFields>

export const PanelModel = Type.Object(
  {
    ...modelFields,
    used_by_string_count: Type.Integer({
      minimum: 0,
      description: 'Connected strings in service at the site with this model.',
    }),
  },
  { ...closed, $id: 'PanelModel' },
)

export const PanelModelMatch = Type.Object(
  {
    ...modelFields,
    in_library: Type.Boolean({
      description:
        'Whether strings of the site use the model: `GET /iv/modules` lists a model with this id ' +
        'or name.',
    }),
    rank: Type.Integer({ minimum: 1, description: '1 is the best match.' }),
  },
  { ...closed, $id: 'PanelModelMatch' },
)

const pointFlags = [...ivFlags, 'inverter_off'] as const

const Expected = (what: string) => Known(`Expected ${what}; null without irradiance, 0 at night.`)
const atMaximum = 'null while limited, stale, or below 5 % of the rated power.'

export type IvExpectedPoint = Static<typeof IvExpectedPoint>
export const IvExpectedPoint = Type.Object(
  {
    measured_at: At('Time of the string reading.'),
    poa_irradiance_w_m2: Known('Plane-of-array irradiance of the string, W/m².'),
    effective_irradiance_w_m2: Known('Effective irradiance behind the glass, W/m².'),
    cell_temperature_c: Known('Cell temperature, °C.'),
    expected_i_mp_a: Expected('current of the maximum power point, A'),
    expected_v_mp_v: Expected('voltage of the maximum power point, V'),
    expected_p_mp_kw: Expected('power of the maximum power point, kW'),
    expected_i_sc_a: Expected('short circuit current, A'),
    expected_v_oc_v: Expected('open circuit voltage, V'),
    expected_current_at_voltage_a: Known(
      'Expected current at the measured voltage, A; null near the open circuit voltage, where it ' +
        'is not significant.',
    ),
    measured_current_a: Known('Current of the string, A.'),
    measured_voltage_v: Known('Voltage of the MPPT of the string, V.'),
    measured_power_kw: Known('Current times voltage, kW.'),
    current_deviation_pct: Known(
      `Deviation of the current from the maximum power point, %; ${atMaximum}`,
    ),
    voltage_deviation_pct: Known(
      `Deviation of the voltage from the maximum power point, %; ${atMaximum}`,
    ),
    power_deviation_pct: Known(`Deviation of the power from the expected power, %; ${atMaximum}`),
    current_deviation_at_voltage_pct: Known(
      'Deviation of the current from the expected current at the measured voltage, %; valid while ' +
        'limited, too.',
    ),
    curtailed: Type.Boolean({
      description:
        'Whether a power limit, the rating or the temperature limited the inverter, so that it was ' +
        'not at the maximum power point; see `flags`.',
    }),
    flags: Type.Array(Type.Enum([...pointFlags]), {
      description:
        '`night`: sun below the horizon. `no_irradiance`: irradiance or cell temperature unknown. ' +
        '`low_irradiance`: below 200 W/m². `curtailed`: limited by a power limit. `clipped`: ' +
        'limited by the rating or the temperature of the inverter. `stale`: the measured current ' +
        'does not change. `missing`: current or voltage not measured. `inverter_off`: the inverter ' +
        'does not feed, deviations are null.',
    }),
    quality: Type.Enum([...qualities], {
      description: '`suspect`: measured, possibly wrong; `estimated`: not measured.',
    }),
  },
  { ...closed, $id: 'IvExpectedPoint' },
)

const noExpectationReasons = [
  'not_connected',
  'no_panel_model',
  'no_position',
  'no_irradiance',
] as const
export type NoExpectationReason = (typeof noExpectationReasons)[number]

const noDiagnosisReasons = ['insufficient_data', 'more_than_expected', 'ambiguous'] as const

export type IvExpectedMeta = Static<typeof IvExpectedMeta>
export const IvExpectedMeta = Type.Object(
  {
    ...SeriesMeta.properties,
    model: Type.Enum(['cec_single_diode'], { description: 'Model of the expectation.' }),
    params_id: Type.Integer({ description: 'Panel model of the string; see /iv/modules.' }),
    module_count: Type.Integer({ minimum: 0, description: 'Panels in series.' }),
    reason: Nullable(
      Type.Enum([...noExpectationReasons], {
        description:
          'Reason why there is no expectation and `data` is empty. `not_connected`: the input has no ' +
          'string. `no_panel_model`: the circuit of the panels is unknown. `no_position`: the ' +
          'position of the site is unknown. `no_irradiance`: no met station of the site measures ' +
          'irradiance.',
      }),
    ),
    diagnosis: Nullable(
      Type.Enum([...ivDiagnoses], {
        description:
          'Diagnosis from the points of this page: `normal`; `current_loss` at every voltage ' +
          '(soiling, uniform shade); `voltage_loss` (bypassed substrings); `series_resistance` ' +
          '(connectors, ageing); `shading_or_mismatch` at the same hours every day; `open`: no ' +
          'current.',
      }),
    ),
    diagnosis_reason: Nullable(
      Type.Enum([...noDiagnosisReasons], {
        description:
          'Reason why there is no diagnosis. `insufficient_data`: fewer than 12 good points at 200 ' +
          'W/m² or more. `more_than_expected`: the string exceeds the expectation, so that the ' +
          'irradiance or the panel model must be wrong. `ambiguous`: neither a fault nor a healthy ' +
          'string is likely enough, as with small losses by soiling and ageing of all strings; ' +
          'compare with its peers in /efficiency/health-matrix.',
      }),
    ),
    current_loss_pct: Known('Mean current loss of the diagnosis, %.'),
    voltage_loss_pct: Known('Mean voltage loss of the diagnosis, %.'),
    confidence_pct: Known('Probability of the diagnosis among the listed ones, %.'),
    diagnosed_point_count: Type.Integer({
      minimum: 0,
      description: 'Points of the page used for the diagnosis.',
    }),
  },
  { ...closed, $id: 'IvExpectedMeta' },
)

export const IvExpectedSeries = Type.Object(
  { data: Type.Array(IvExpectedPoint), meta: IvExpectedMeta },
  closed,
)
