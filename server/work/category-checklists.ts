/** Default checklists of the inspection categories. */
import type { itemTypes } from './checklists.ts'

/** A line of a default checklist. */
export interface ChecklistLine {
  /** Name of the measured or stated quantity, ending in its unit; null for other lines. */
  code: string | null
  title: string
  instruction: string | null
  type: (typeof itemTypes)[number]
  required: boolean
  unit: string | null
  min_value: number | null
  max_value: number | null
}

type Extras = Partial<Pick<ChecklistLine, 'instruction' | 'required' | 'min_value' | 'max_value'>>

const blank = { instruction: null, required: true, unit: null, min_value: null, max_value: null }

const check = (title: string, extras: Extras = {}): ChecklistLine => ({
  code: null,
  title,
  type: 'check',
  ...blank,
  ...extras,
})
const photo = (title: string, extras: Extras = {}): ChecklistLine => ({
  code: null,
  title,
  type: 'photo',
  ...blank,
  required: false,
  ...extras,
})
const text = (title: string, extras: Extras = {}): ChecklistLine => ({
  code: null,
  title,
  type: 'text',
  ...blank,
  ...extras,
})
const measured = (
  code: string,
  title: string,
  unit: string,
  extras: Extras = {},
): ChecklistLine => ({ code, title, type: 'measurement', ...blank, unit, ...extras })

const signature: ChecklistLine = {
  code: null,
  title: 'Inspected and recorded by',
  type: 'signature',
  ...blank,
}

const irradiance = (min_value: number, instruction: string) =>
  measured('poa_irradiance_w_m2', 'Irradiance in the plane of the array', 'W/m2', {
    min_value,
    instruction,
  })
const module_temperature = measured('module_temperature_c', 'Temperature of the modules', '°C')

/**
 * IEC 62446-1, tests of category 1 on a string. Insulation: at least 1 MΩ where the open-circuit
 * voltage is 120 V or more, tested with 250 V below 120 V, 500 V up to 500 V, 1000 V above and
 * 1500 V beyond 1000 V. Voltage and current are held against what the data sheet gives at the
 * conditions of the moment, so that their limits are set on site.
 */
export const stringTest: readonly ChecklistLine[] = [
  irradiance(400, 'Stable while the current is measured.'),
  module_temperature,
  {
    ...check('Polarity of the string', { instruction: 'Before anything is connected.' }),
    code: 'polarity_ok',
    type: 'pass_fail',
  },
  measured('voc_v', 'Open-circuit voltage', 'V', {
    instruction: 'Limits: 5 % around the expected voltage at this temperature.',
  }),
  measured('isc_a', 'Short-circuit current', 'A', {
    instruction: 'Limits: 5 % around the expected current at this irradiance.',
  }),
  measured('insulation_test_voltage_v', 'Test voltage of the insulation', 'V', {
    min_value: 250,
    max_value: 1500,
    instruction: '250 V below 120 V of the string, 500 V up to 500 V, 1000 V above, 1500 V beyond.',
  }),
  measured('insulation_positive_mohm', 'Insulation of the positive pole to earth', 'MΩ', {
    min_value: 1,
  }),
  measured('insulation_negative_mohm', 'Insulation of the negative pole to earth', 'MΩ', {
    min_value: 1,
  }),
  measured('fuse_rating_a', 'Rating of the string fuses', 'A', {
    required: false,
    instruction: 'Limits: the range that the modules allow.',
  }),
  signature,
]

/** The standard demands continuity and names no figure: 1 Ω is ours. */
export const earthingTest: readonly ChecklistLine[] = [
  check('Protective and bonding conductors connected, undamaged, free of corrosion'),
  measured('earth_continuity_ohm', 'Continuity to the main earthing terminal', 'Ω', {
    max_value: 1,
  }),
  check('Surge protection shows no fault'),
  signature,
]

export const curveTest: readonly ChecklistLine[] = [
  irradiance(400, 'Stable while the curve is traced; the sensor in the plane of the array.'),
  module_temperature,
  check('Curve without steps, notches or a lowered knee'),
  measured('pmax_deviation_pct', 'Power at the maximum beside the expected one', '%', {
    instruction: 'Negative where it is less. Limits: the tolerance that was agreed.',
  }),
  text('File of the traced curve', { required: false }),
  signature,
]

export const arrayInspection: readonly ChecklistLine[] = [
  check('Modules free of breakage, burns, delamination and discoloured cells'),
  check('Frames and clamps tight, none missing'),
  check('Connectors of one make mated, dry, free of heat marks'),
  check('Cables fastened, unchafed, clear of sharp edges and standing water'),
  check('Combiner boxes tight, dry, labelled'),
  check('Disconnectors operable and labelled'),
  check('Shading: nothing new in front of the array'),
  photo('Photographs of what was found'),
]

/** IEC TS 62446-3: at least 600 W/m² in the plane of the array, wind up to 28 km/h, few clouds. */
export const thermography: readonly ChecklistLine[] = [
  irradiance(600, 'Stable for ten minutes before and during the survey.'),
  measured('wind_speed_m_s', 'Wind', 'm/s', { max_value: 7.7 }),
  measured('ambient_temperature_c', 'Temperature of the air', '°C'),
  check('Sky without clouds moving before the sun; modules clean enough'),
  check('Modules: no hot cells, strings or junction boxes beyond what was known'),
  measured('temperature_delta_k', 'Largest difference to like cells or connections', 'K', {
    required: false,
    instruction: 'Record a defect for each abnormality.',
  }),
  check('Combiner boxes, fuses and connections at load'),
  photo('Infrared and visible pictures of each abnormality'),
  signature,
]

export const inverterService: readonly ChecklistLine[] = [
  check('Event log read; alarms since the last visit explained'),
  check('Air filters and ducts clean; fans turn freely and quietly'),
  check('Cabinet clean, dry, its seals whole'),
  check('Connections at the torque of the maker, marked; no heat marks'),
  check('Surge protection and fuses show no fault'),
  check('Emergency stop and disconnectors tested'),
  text('Firmware as found and as left', { required: false }),
]

export const cleaning: readonly ChecklistLine[] = [
  text('Rows or plants that were cleaned'),
  measured('soiling_before_pct', 'Loss by soiling before', '%', { required: false }),
  measured('soiling_after_pct', 'Loss by soiling after', '%', { required: false }),
  check('Water and brushes as the maker of the modules allows'),
  check('No module was damaged; none was walked on'),
  photo('Before and after'),
]

export const vegetation: readonly ChecklistLine[] = [
  check('Nothing shades modules or instruments'),
  check('Access, stations and cable routes clear'),
  check('Nothing was hit by stones or blades'),
  photo('Before and after'),
]

/** IEC 60076-2: top oil at most 60 K above air of 40 °C. */
export const transformer: readonly ChecklistLine[] = [
  check('Safety: isolated, earthed and tagged where the work demands it'),
  check('Tank, radiators and bushings free of leaks, cracks and corrosion'),
  check('Oil level within its marks; breather dry'),
  measured('top_oil_temperature_c', 'Temperature of the top oil', '°C', { max_value: 100 }),
  check('Cooling fans, door contacts and lighting of the station work'),
  check('Buchholz relay, pressure relief and thermometer contacts tested', { required: false }),
  check('Low- and medium-voltage connections free of heat marks and partial discharge'),
  text('Result of the oil analysis', { required: false }),
  measured('earth_resistance_ohm', 'Resistance of the station earth', 'Ω', {
    required: false,
    instruction: 'Limit: that of the earthing design.',
  }),
  signature,
]

export const battery: readonly ChecklistLine[] = [
  check('Alarms since the last visit explained; none is set'),
  check('Container dry, clean, its doors and seals whole; no smell of electrolyte'),
  check('Cooling: level, pressure and filters in order; no leaks'),
  measured('room_temperature_c', 'Temperature inside', '°C', {
    instruction: 'Limits: those of the maker.',
  }),
  measured('cell_voltage_spread_mv', 'Spread of the cell voltages at rest', 'mV', {
    instruction: 'Limit: that of the maker, at the state of charge of the moment.',
  }),
  measured('insulation_kohm', 'Insulation of the battery to earth', 'kΩ', {
    instruction: 'Limit: that of the maker, for this voltage.',
  }),
  check('Smoke, gas and heat detectors tested; alarm arrives at the control room'),
  check('Extinguishing system within its pressure and its date'),
  check('Emergency stop opens the contactors'),
  check('Connections at the torque of the maker, marked; no heat marks'),
  signature,
]

export const metStation: readonly ChecklistLine[] = [
  check('Domes and cells of the irradiance sensors cleaned'),
  check('Sensors level, or in the plane of the array'),
  check('Nothing shades them; desiccant dry'),
  measured('irradiance_deviation_pct', 'Deviation from a reference sensor', '%', {
    required: false,
    instruction: 'Limits: both uncertainties together.',
  }),
  check('Temperature sensors stick to the modules; wind and rain sensors move freely'),
  text('Instruments whose calibration is due, with the date', { required: false }),
]

export const civilWorks: readonly ChecklistLine[] = [
  check('Fence, gates and locks whole; signs legible'),
  check('Cameras and intrusion detection work'),
  check('Roads and drains passable; no erosion at posts and foundations'),
  check('Structures upright; bolts at their torque; no corrosion through the coating'),
  check('Trackers: no noise, play or leaks; stow position tested', { required: false }),
  check('Fire lanes open; extinguishers within their date'),
  photo('Photographs of what was found'),
]
