/** Inspection categories with frequency, standard and default checklist. */

import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { Named, Nullable } from '../http/params.ts'
import { itemTypes } from './checklists.ts'

export type ChecklistLine = Static<typeof ChecklistLine>
const ChecklistLine = Named('DefaultChecklistItem', {
  code: field.TextOrNull(
    'Name of the measured quantity, ending in its unit; null for other items.',
  ),
  title: Type.String(),
  instruction: Nullable(Type.String()),
  type: Type.Enum([...itemTypes]),
  required: Type.Boolean(),
  unit: Nullable(Type.String({ examples: ['MΩ'] })),
  min_value: field.NumOrNull('Lowest value that passes, in `unit`.'),
  max_value: field.NumOrNull('Highest value that passes, in `unit`.'),
})

type InspectionCategory = Static<typeof InspectionCategory>
export const InspectionCategory = Named('InspectionCategory', {
  category_id: field.Int('Id of the category in work orders.', 2),
  code: Type.String({ examples: ['pv_string_test'] }),
  name: Type.String(),
  description: Nullable(Type.String()),
  parent_category_id: Nullable(Type.Integer()),
  applies_to: Type.Array(
    Type.Enum(['site', 'logger', 'inverter', 'string', 'transformer', 'bess', 'met', 'civil']),
  ),
  frequency: field.OneOfOrNull(
    ['monthly', 'quarterly', 'semiannual', 'annual', 'on_demand'],
    'Usual interval.',
  ),
  standard_reference: field.TextOrNull('The standard of the checklist.'),
  default_checklist: Type.Array(ChecklistLine, {
    description: 'The checklist of a new work order of this category, in this order.',
  }),
  is_active: field.Flag('Whether new work orders may use the category.'),
})

const line =
  (type: ChecklistLine['type'], code: string | null = null) =>
  (title: string, given: Partial<ChecklistLine> = {}): ChecklistLine => ({
    code,
    title,
    type,
    instruction: null,
    required: type !== 'photo',
    unit: null,
    min_value: null,
    max_value: null,
    ...given,
  })
const check = line('check')
const photo = line('photo')
const text = line('text')
const signature = line('signature')('Inspected and recorded by')
const measured = (
  code: string,
  title: string,
  unit: string,
  limits: Partial<ChecklistLine> = {},
): ChecklistLine => line('measurement', code)(title, { unit, ...limits })

const irradiance = (min_value: number, instruction: string) =>
  measured('poa_irradiance_w_m2', 'Irradiance in the plane of the array', 'W/m2', {
    min_value,
    instruction,
  })
const module_temperature = measured('module_temperature_c', 'Temperature of the modules', '°C')

type Defaults = 'parent_category_id' | 'is_active'

/** Ids are permanent because work orders refer to them. Obsolete categories become inactive. */
const rows: (Omit<InspectionCategory, Defaults> & Partial<InspectionCategory>)[] = [
  {
    category_id: 1,
    code: 'pv_array',
    name: 'PV array',
    description: 'Visual inspection of modules, connectors, cables and combiner boxes.',
    applies_to: ['logger', 'inverter', 'string'],
    frequency: 'annual',
    standard_reference: 'IEC 62446-1',
    default_checklist: [
      check('Modules free of breakage, burns, delamination and discoloured cells'),
      check('Frames and clamps tight, none missing'),
      check('Connectors of one make mated, dry, free of heat marks'),
      check('Cables fastened, unchafed, clear of sharp edges and standing water'),
      check('Combiner boxes tight, dry, labelled'),
      check('Disconnectors operable and labelled'),
      check('Shading: nothing new in front of the array'),
      photo('Photographs of what was found'),
    ],
  },
  {
    category_id: 2,
    code: 'pv_string_test',
    name: 'String test',
    parent_category_id: 1,
    description: 'Polarity, voltage, current and insulation of a string: tests of category 1.',
    applies_to: ['string'],
    frequency: 'on_demand',
    standard_reference: 'IEC 62446-1',
    /**
     * IEC 62446-1, tests of category 1 on a string. Insulation: at least 1 MΩ where the
     * open-circuit voltage is 120 V or more, tested with 250 V below 120 V, 500 V up to 500 V,
     * 1000 V above and 1500 V beyond 1000 V. Voltage and current are compared with the data sheet
     * at the present conditions, so that their limits are set on site.
     */
    default_checklist: [
      irradiance(400, 'Stable while the current is measured.'),
      module_temperature,
      line('pass_fail', 'polarity_ok')('Polarity of the string', {
        instruction: 'Before anything is connected.',
      }),
      measured('voc_v', 'Open-circuit voltage', 'V', {
        instruction: 'Limits: 5 % around the expected voltage at this temperature.',
      }),
      measured('isc_a', 'Short-circuit current', 'A', {
        instruction: 'Limits: 5 % around the expected current at this irradiance.',
      }),
      measured('insulation_test_voltage_v', 'Test voltage of the insulation', 'V', {
        min_value: 250,
        max_value: 1500,
        instruction:
          '250 V below 120 V of the string, 500 V up to 500 V, 1000 V above, 1500 V beyond.',
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
    ],
  },
  {
    category_id: 3,
    code: 'pv_earthing',
    name: 'Earthing',
    parent_category_id: 1,
    description: 'Continuity of earthing and bonding conductors.',
    applies_to: ['logger', 'inverter'],
    frequency: 'annual',
    standard_reference: 'IEC 62446-1',
    /** The standard demands continuity and names no figure: 1 Ω is ours. */
    default_checklist: [
      check('Protective and bonding conductors connected, undamaged, free of corrosion'),
      measured('earth_continuity_ohm', 'Continuity to the main earthing terminal', 'Ω', {
        max_value: 1,
      }),
      check('Surge protection shows no fault'),
      signature,
    ],
  },
  {
    category_id: 4,
    code: 'pv_iv_curve',
    name: 'I-V curve',
    parent_category_id: 1,
    description: 'Traced curves of strings beside the expected ones: tests of category 2.',
    applies_to: ['string'],
    frequency: 'on_demand',
    standard_reference: 'IEC 62446-1',
    default_checklist: [
      irradiance(400, 'Stable while the curve is traced; the sensor in the plane of the array.'),
      module_temperature,
      check('Curve without steps, notches or a lowered knee'),
      measured('pmax_deviation_pct', 'Power at the maximum beside the expected one', '%', {
        instruction: 'Negative where it is less. Limits: the tolerance that was agreed.',
      }),
      text('File of the traced curve', { required: false }),
      signature,
    ],
  },
  {
    category_id: 5,
    code: 'thermography',
    name: 'Thermography',
    parent_category_id: 1,
    description: 'Infrared survey of modules and connections at load.',
    applies_to: ['site', 'logger', 'inverter', 'string'],
    frequency: 'annual',
    standard_reference: 'IEC TS 62446-3',
    /** IEC TS 62446-3: at least 600 W/m² in the plane, wind up to 28 km/h, few clouds. */
    default_checklist: [
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
    ],
  },
  {
    category_id: 6,
    code: 'inverter_service',
    name: 'Inverter',
    description: 'Preventive maintenance of an inverter.',
    applies_to: ['inverter'],
    frequency: 'annual',
    standard_reference: 'IEC 62446-2',
    default_checklist: [
      check('Event log read; alarms since the last visit explained'),
      check('Air filters and ducts clean; fans turn freely and quietly'),
      check('Cabinet clean, dry, its seals whole'),
      check('Connections at the torque of the maker, marked; no heat marks'),
      check('Surge protection and fuses show no fault'),
      check('Emergency stop and disconnectors tested'),
      text('Firmware as found and as left', { required: false }),
    ],
  },
  {
    category_id: 7,
    code: 'cleaning',
    name: 'Cleaning',
    description: 'Cleaning of modules.',
    applies_to: ['site', 'logger', 'inverter'],
    frequency: 'on_demand',
    standard_reference: 'IEC 62446-2',
    default_checklist: [
      text('Rows or plants that were cleaned'),
      measured('soiling_before_pct', 'Loss by soiling before', '%', { required: false }),
      measured('soiling_after_pct', 'Loss by soiling after', '%', { required: false }),
      check('Water and brushes as the maker of the modules allows'),
      check('No module was damaged; none was walked on'),
      photo('Before and after'),
    ],
  },
  {
    category_id: 8,
    code: 'vegetation',
    name: 'Vegetation',
    description: 'Mowing and cutting back.',
    applies_to: ['site', 'logger', 'civil'],
    frequency: 'quarterly',
    standard_reference: 'IEC 62446-2',
    default_checklist: [
      check('Nothing shades modules or instruments'),
      check('Access, stations and cable routes clear'),
      check('Nothing was hit by stones or blades'),
      photo('Before and after'),
    ],
  },
  {
    category_id: 9,
    code: 'transformer',
    name: 'Transformer',
    description: 'Transformer and its station.',
    applies_to: ['transformer'],
    frequency: 'semiannual',
    standard_reference: 'IEC 60076-2',
    /** IEC 60076-2: top oil at most 60 K above air of 40 °C. */
    default_checklist: [
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
    ],
  },
  {
    category_id: 10,
    code: 'bess',
    name: 'Battery',
    description: 'Battery container with cooling, detection and extinguishing.',
    applies_to: ['bess'],
    frequency: 'quarterly',
    standard_reference: 'IEC 62933-5-2',
    default_checklist: [
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
    ],
  },
  {
    category_id: 11,
    code: 'met',
    name: 'Met station',
    description: 'Cleaning and checking of the instruments.',
    applies_to: ['met'],
    frequency: 'monthly',
    standard_reference: 'IEC 61724-1',
    default_checklist: [
      check('Domes and cells of the irradiance sensors cleaned'),
      check('Sensors level, or in the plane of the array'),
      check('Nothing shades them; desiccant dry'),
      measured('irradiance_deviation_pct', 'Deviation from a reference sensor', '%', {
        required: false,
        instruction: 'Limits: both uncertainties together.',
      }),
      check('Temperature sensors stick to the modules; wind and rain sensors move freely'),
      text('Instruments whose calibration is due, with the date', { required: false }),
    ],
  },
  {
    category_id: 12,
    code: 'civil',
    name: 'Site and structures',
    description: 'Fence, roads, drains, structures, fire lanes.',
    applies_to: ['site', 'civil'],
    frequency: 'semiannual',
    standard_reference: 'IEC 62446-2',
    default_checklist: [
      check('Fence, gates and locks whole; signs legible'),
      check('Cameras and intrusion detection work'),
      check('Roads and drains passable; no erosion at posts and foundations'),
      check('Structures upright; bolts at their torque; no corrosion through the coating'),
      check('Trackers: no noise, play or leaks; stow position tested', { required: false }),
      check('Fire lanes open; extinguishers within their date'),
      photo('Photographs of what was found'),
    ],
  },
]

export const categories: InspectionCategory[] = rows.map((row) => ({
  parent_category_id: null,
  is_active: true,
  ...row,
}))

export const categoryById = (category_id: number) =>
  categories.find((category) => category.category_id === category_id)
