/** Inspection categories with frequency, standard and default checklist. */
import {
  arrayInspection,
  battery,
  type ChecklistLine,
  civilWorks,
  cleaning,
  curveTest,
  earthingTest,
  inverterService,
  metStation,
  stringTest,
  thermography,
  transformer,
  vegetation,
} from './category-checklists.ts'

export const inspectedThings = [
  'site',
  'logger',
  'inverter',
  'string',
  'transformer',
  'bess',
  'met',
  'civil',
] as const
export const frequencies = ['monthly', 'quarterly', 'semiannual', 'annual', 'on_demand'] as const

interface Category {
  category_id: number
  code: string
  name: string
  description: string | null
  parent_category_id: number | null
  applies_to: (typeof inspectedThings)[number][]
  frequency: (typeof frequencies)[number] | null
  standard_reference: string | null
  default_checklist: readonly ChecklistLine[]
  is_active: boolean
}

/** Ids are permanent because work orders refer to them. Obsolete categories become inactive. */
export const categories: readonly Category[] = [
  {
    category_id: 1,
    code: 'pv_array',
    name: 'PV array',
    parent_category_id: null,
    description: 'Visual inspection of modules, connectors, cables and combiner boxes.',
    applies_to: ['logger', 'inverter', 'string'],
    frequency: 'annual',
    standard_reference: 'IEC 62446-1',
    default_checklist: arrayInspection,
    is_active: true,
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
    default_checklist: stringTest,
    is_active: true,
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
    default_checklist: earthingTest,
    is_active: true,
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
    default_checklist: curveTest,
    is_active: true,
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
    default_checklist: thermography,
    is_active: true,
  },
  {
    category_id: 6,
    code: 'inverter_service',
    name: 'Inverter',
    parent_category_id: null,
    description: 'Preventive maintenance of an inverter.',
    applies_to: ['inverter'],
    frequency: 'annual',
    standard_reference: 'IEC 62446-2',
    default_checklist: inverterService,
    is_active: true,
  },
  {
    category_id: 7,
    code: 'cleaning',
    name: 'Cleaning',
    parent_category_id: null,
    description: 'Cleaning of modules.',
    applies_to: ['site', 'logger', 'inverter'],
    frequency: 'on_demand',
    standard_reference: 'IEC 62446-2',
    default_checklist: cleaning,
    is_active: true,
  },
  {
    category_id: 8,
    code: 'vegetation',
    name: 'Vegetation',
    parent_category_id: null,
    description: 'Mowing and cutting back.',
    applies_to: ['site', 'logger', 'civil'],
    frequency: 'quarterly',
    standard_reference: 'IEC 62446-2',
    default_checklist: vegetation,
    is_active: true,
  },
  {
    category_id: 9,
    code: 'transformer',
    name: 'Transformer',
    parent_category_id: null,
    description: 'Transformer and its station.',
    applies_to: ['transformer'],
    frequency: 'semiannual',
    standard_reference: 'IEC 60076-2',
    default_checklist: transformer,
    is_active: true,
  },
  {
    category_id: 10,
    code: 'bess',
    name: 'Battery',
    parent_category_id: null,
    description: 'Battery container with cooling, detection and extinguishing.',
    applies_to: ['bess'],
    frequency: 'quarterly',
    standard_reference: 'IEC 62933-5-2',
    default_checklist: battery,
    is_active: true,
  },
  {
    category_id: 11,
    code: 'met',
    name: 'Met station',
    parent_category_id: null,
    description: 'Cleaning and checking of the instruments.',
    applies_to: ['met'],
    frequency: 'monthly',
    standard_reference: 'IEC 61724-1',
    default_checklist: metStation,
    is_active: true,
  },
  {
    category_id: 12,
    code: 'civil',
    name: 'Site and structures',
    parent_category_id: null,
    description: 'Fence, roads, drains, structures, fire lanes.',
    applies_to: ['site', 'civil'],
    frequency: 'semiannual',
    standard_reference: 'IEC 62446-2',
    default_checklist: civilWorks,
    is_active: true,
  },
]

export const categoryById = (category_id: number): Category | undefined =>
  categories.find((category) => category.category_id === category_id)
