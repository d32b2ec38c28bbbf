/** SunSpec models of an AC meter: 201 to 204 with scale factors, 211 to 214 in floats. */
import { consecutive, inFloats, type Model, type PointType } from './point.ts'

/** A total and its three phases; the models write the phase as `phA` or `PhA`. */
const phases = <Name extends string, Ph extends 'ph' | 'Ph', Type extends PointType>(
  name: Name,
  ph: Ph,
  type: Type,
  unit: string,
  scale: string,
) =>
  [
    [name, type, unit, scale],
    [`${name}${ph}A`, type, unit, scale],
    [`${name}${ph}B`, type, unit, scale],
    [`${name}${ph}C`, type, unit, scale],
  ] as const

interface Spelling<Line, Ph> {
  /** Line voltages are `PhVphAB` or, in 201 and 211 to 214, `PPVphAB`. */
  line: Line
  varh: Ph
  pf: string
}

const meter = <Line extends 'PhVph' | 'PPVph', Ph extends 'ph' | 'Ph'>({
  line,
  varh,
  pf,
}: Spelling<Line, Ph>) =>
  consecutive([
    ...phases('A', 'ph', 'int16', 'A', 'A_SF'),
    ['A_SF', 'sunssf'],
    ...phases('PhV', 'ph', 'int16', 'V', 'V_SF'),
    ['PPV', 'int16', 'V', 'V_SF'],
    [`${line}AB`, 'int16', 'V', 'V_SF'],
    [`${line}BC`, 'int16', 'V', 'V_SF'],
    [`${line}CA`, 'int16', 'V', 'V_SF'],
    ['V_SF', 'sunssf'],
    ['Hz', 'int16', 'Hz', 'Hz_SF'],
    ['Hz_SF', 'sunssf'],
    ...phases('W', 'ph', 'int16', 'W', 'W_SF'),
    ['W_SF', 'sunssf'],
    ...phases('VA', 'ph', 'int16', 'VA', 'VA_SF'),
    ['VA_SF', 'sunssf'],
    ...phases('VAR', 'ph', 'int16', 'var', 'VAR_SF'),
    ['VAR_SF', 'sunssf'],
    ...phases('PF', 'ph', 'int16', pf, 'PF_SF'),
    ['PF_SF', 'sunssf'],
    ...phases('TotWhExp', 'Ph', 'acc32', 'Wh', 'TotWh_SF'),
    ...phases('TotWhImp', 'Ph', 'acc32', 'Wh', 'TotWh_SF'),
    ['TotWh_SF', 'sunssf'],
    ...phases('TotVAhExp', 'Ph', 'acc32', 'VAh', 'TotVAh_SF'),
    ...phases('TotVAhImp', 'Ph', 'acc32', 'VAh', 'TotVAh_SF'),
    ['TotVAh_SF', 'sunssf'],
    ...phases('TotVArhImpQ1', varh, 'acc32', 'varh', 'TotVArh_SF'),
    ...phases('TotVArhImpQ2', varh, 'acc32', 'varh', 'TotVArh_SF'),
    ...phases('TotVArhExpQ3', varh, 'acc32', 'varh', 'TotVArh_SF'),
    ...phases('TotVArhExpQ4', varh, 'acc32', 'varh', 'TotVArh_SF'),
    ['TotVArh_SF', 'sunssf'],
    ['Evt', 'bitfield32'],
  ] as const)

const of201 = meter({ line: 'PPVph', varh: 'Ph', pf: 'Pct' })
const withScaleFactors = meter({ line: 'PhVph', varh: 'Ph', pf: 'Pct' })
const floats = inFloats(meter({ line: 'PPVph', varh: 'ph', pf: 'PF' }))

/** 201 single phase, 202 split phase, 203 wye, 204 delta; 211 to 214 the same in floats. */
export const meterModels = {
  201: { id: 201, points: of201 },
  202: { id: 202, points: withScaleFactors },
  203: { id: 203, points: withScaleFactors },
  204: { id: 204, points: withScaleFactors },
  211: { id: 211, points: floats },
  212: { id: 212, points: floats },
  213: { id: 213, points: floats },
  214: { id: 214, points: floats },
} as const satisfies Record<number, Model>
