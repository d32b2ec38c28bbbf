/** Panel models, and what a string should deliver beside what it does. */
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
  description: 'A panel model: of the site, or of the library.',
  examples: [1],
})

const panelSources = ['site', 'cec', 'fitted'] as const

const ofCircuit = 'Where the site announced the circuit: computed from it.'

const modelFields = {
  params_id: Type.Integer({
    description:
      'The same for good. Ids below 1048576 are of the site; the others name a model of the ' +
      'library, and are the same on every server.',
  }),
  name: Type.String({ description: 'Maker and model.' }),
  manufacturer: Type.String({ description: 'The maker, as the list or the inventory calls it.' }),
  model: Text('The name without its maker.'),
  technology: Type.String({
    description:
      'Of the library: `mono_c_si`, `multi_c_si`, `thin_film`, `cdte`, `cigs`, `hjt`, `topcon`, ' +
      '`other`; of a site as its inventory says.',
  }),
  bifacial: Nullable(Type.Boolean({ description: 'Whether its back makes power, too.' })),
  power_stc_w: Type.Number({ description: 'Power at 1000 W/m² and 25 °C (STC), W.' }),
  power_ptc_w: Known('Power at PVUSA test conditions: 1000 W/m², air of 20 °C, wind of 1 m/s, W.'),
  area_m2: Known('Area, m².'),
  length_m: Known('Length, m.'),
  width_m: Known('Width, m.'),
  cells_in_series: Nullable(Type.Integer({ description: 'Of half-cut cells, those of one half.' })),
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
    'Modified ideality factor of the single-diode circuit, V; this and the five that follow are ' +
      'those of the CEC model at STC.',
  ),
  i_l_ref_a: Known('Photocurrent, A.'),
  i_o_ref_a: Known('Saturation current of the diode, A.'),
  r_s_ohm: Known('Series resistance, Ω.'),
  r_sh_ref_ohm: Known('Shunt resistance, Ω.'),
  adjust_pct: Known('Correction of the temperature coefficient of the current, %.'),
  source: Type.Enum([...panelSources], {
    description:
      'Where the circuit is from. `site`: announced with the inventory of the site; `cec`: an ' +
      'imported list of CEC modules; `fitted`: fitted to the datasheet.',
  }),
  source_version: Text('The edition of the list, or the datasheet.'),
  source_date: Nullable(Type.String({ format: 'date', description: 'When that appeared.' })),
} as const satisfies Record<string, TSchema>

const PanelFields = Type.Object(modelFields)
export type PanelFields = Static<typeof PanelFields>

export const PanelModel = Type.Object(
  {
    ...modelFields,
    used_by_string_count: Type.Integer({
      minimum: 0,
      description:
        'Strings in service at the site that are made of it; inputs to which nothing is ' +
        'connected do not count.',
    }),
  },
  { ...closed, $id: 'PanelModel' },
)

export const PanelModelMatch = Type.Object(
  {
    ...modelFields,
    in_library: Type.Boolean({
      description:
        'Whether strings of the site are made of it: `GET /iv/modules` lists a model of this ' +
        'id or name.',
    }),
    rank: Type.Integer({ minimum: 1, description: '1 is the best match.' }),
  },
  { ...closed, $id: 'PanelModelMatch' },
)

/** `inverter_off` beside those of the comparison itself. */
const pointFlags = [...ivFlags, 'inverter_off'] as const

const Expected = (what: string) => Known(`Expected ${what}; null without irradiance, 0 at night.`)
const atMaximum = 'null while limited, stale, or below 5 % of the rated power.'

export type IvExpectedPoint = Static<typeof IvExpectedPoint>
export const IvExpectedPoint = Type.Object(
  {
    measured_at: At('When the string was measured.'),
    poa_irradiance_w_m2: Known('Irradiance in the plane of the string, W/m².'),
    effective_irradiance_w_m2: Known('What of it reaches the cells, W/m².'),
    cell_temperature_c: Known('Temperature of the cells, °C.'),
    expected_i_mp_a: Expected('current of the maximum power point, A'),
    expected_v_mp_v: Expected('voltage of the maximum power point, V'),
    expected_p_mp_kw: Expected('power of the maximum power point, kW'),
    expected_i_sc_a: Expected('short circuit current, A'),
    expected_v_oc_v: Expected('open circuit voltage, V'),
    expected_current_at_voltage_a: Known(
      'Current of a sound string at the measured voltage, A; null near the open circuit voltage, ' +
        'where it says nothing.',
    ),
    measured_current_a: Known('Current of the string, A.'),
    measured_voltage_v: Known('Voltage of the string, that of its MPPT, V.'),
    measured_power_kw: Known('Current times voltage, kW.'),
    current_deviation_pct: Known(
      `Measured current against that of the maximum power point, %; ${atMaximum}`,
    ),
    voltage_deviation_pct: Known(
      `Measured voltage against that of the maximum power point, %; ${atMaximum}`,
    ),
    power_deviation_pct: Known(`Measured against expected power, %; ${atMaximum}`),
    current_deviation_at_voltage_pct: Known(
      'Measured current against that of a sound string at the measured voltage, %; holds while ' +
        'limited, too.',
    ),
    curtailed: Type.Boolean({
      description:
        'Whether a limit, its rating or its temperature held the inverter, so that it did not ' +
        'seek the maximum power point; `flags` says which.',
    }),
    flags: Type.Array(Type.Enum([...pointFlags]), {
      description:
        '`night`: the sun below the horizon. `no_irradiance`: irradiance or cell temperature not ' +
        'known. `low_irradiance`: below 200 W/m². `curtailed`: held by a limit. `clipped`: held ' +
        'by the rating of the inverter, or by its temperature. `stale`: the measured current ' +
        'stands still. `missing`: current or voltage not measured. `inverter_off`: the inverter ' +
        'feeds nothing, nothing is compared.',
    }),
    quality: Type.Enum([...qualities], {
      description: '`suspect`: measured, but it may not be right; `estimated`: not measured.',
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
    model: Type.Enum(['cec_single_diode'], { description: 'How the expectation is computed.' }),
    params_id: Type.Integer({ description: 'The panel model of the string; see /iv/modules.' }),
    module_count: Type.Integer({ minimum: 0, description: 'Panels in series.' }),
    reason: Nullable(
      Type.Enum([...noExpectationReasons], {
        description:
          'Why nothing is expected, and `data` is empty. `not_connected`: nothing is connected ' +
          'to the input. `no_panel_model`: nobody knows the circuit of its panels. ' +
          '`no_position`: the position of the site is not known. `no_irradiance`: no met station ' +
          'of the site measures irradiance.',
      }),
    ),
    diagnosis: Nullable(
      Type.Enum([...ivDiagnoses], {
        description:
          'What the points of this page say of the string: `normal`; `current_loss` at every ' +
          'voltage (soiling, even shade); `voltage_loss` (bypassed substrings); ' +
          '`series_resistance` (connectors, ageing); `shading_or_mismatch` at the same hours ' +
          'every day; `open`: no current.',
      }),
    ),
    diagnosis_reason: Nullable(
      Type.Enum([...noDiagnosisReasons], {
        description:
          'Why there is no diagnosis. `insufficient_data`: fewer than 12 good points at 200 W/m² ' +
          'or more. `more_than_expected`: it gives so much more that the irradiance or the panel ' +
          'model must be wrong. `ambiguous`: neither a fault nor soundness is likely enough, as ' +
          'with the little that all strings lose to dust and age; see how it does beside its ' +
          'peers in /efficiency/health-matrix.',
      }),
    ),
    current_loss_pct: Known('Of the diagnosis: the loss of current, mean over its points, %.'),
    voltage_loss_pct: Known('Of the diagnosis: the loss of voltage, mean over its points, %.'),
    confidence_pct: Known('Probability of the diagnosis among those listed, %.'),
    diagnosed_point_count: Type.Integer({
      minimum: 0,
      description: 'Points of the page that were good enough for the diagnosis.',
    }),
  },
  { ...closed, $id: 'IvExpectedMeta' },
)

export const IvExpectedSeries = Type.Object(
  { data: Type.Array(IvExpectedPoint), meta: IvExpectedMeta },
  closed,
)
