import { type Static, Type } from 'typebox'
import * as field from '../../http/fields.ts'
import { id_max, Named, Nullable, page } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { Attachment, GivenAttachments } from '../attachments.ts'
import { defectSeverities, defectStates } from '../defect-states.ts'
import {
  Amount,
  Currency,
  devices,
  Flag,
  Id,
  Ids,
  Name,
  nullable,
  optional,
  placeFilters,
  Tags,
  Text,
  Time,
  Title as TitleOf,
  Version,
} from '../fields.ts'

const defectTypes = [
  'hotspot',
  'cell_crack',
  'glass_breakage',
  'delamination',
  'pid',
  'snail_trail',
  'bypass_diode',
  'connector',
  'cable',
  'fuse',
  'corrosion',
  'soiling',
  'shading',
  'vegetation',
  'tracker',
  'inverter',
  'transformer',
  'bess',
  'civil',
  'security',
  'other',
] as const
const detectionMethods = [
  'visual',
  'thermography',
  'iv_curve',
  'el',
  'monitoring',
  'drone',
  'customer',
] as const

export const DefectId = Id('A defect of the site.', 7)

const Severity = field.OneOf(defectSeverities, 'Severity of the defect.')
const Status = Type.Enum([...defectStates])
const Title = TitleOf('Hot spot on a module of string 3 of inverter 1')

/** Optional fields that clients may clear with null. */
export const nullables = {
  description: Text(20_000, '21 K above its neighbours.', 'Free text.'),
  type: field.OneOf(defectTypes, '`pid` is potential-induced degradation.'),
  ...devices,
  module_position: Text(100, 'row 12, table 3, module 7', 'Position of the module on site.'),
  latitude: field.Num('WGS 84, in degrees; requires `longitude`.', {
    minimum: -90,
    maximum: 90,
    examples: [48.6213],
  }),
  longitude: field.Num('WGS 84, in degrees; requires `latitude`.', {
    minimum: -180,
    maximum: 180,
    examples: [12.1702],
  }),
  detection_method: field.OneOf(detectionMethods, 'Detection method; `el` is electroluminescence.'),
  temperature_delta_k: Amount(
    2000,
    21,
    'Temperature above comparable parts nearby, by IEC TS 62446-3.',
  ),
  affected_module_count: Type.Integer({ minimum: 0, maximum: id_max, examples: [1] }),
  affected_power_kw: Amount(1e9, 0.4, 'Power that could be produced without the defect.'),
  estimated_loss_kwh_year: Amount(1e12, 310, 'Estimate of the reporter.'),
  estimated_loss_amount_year: Amount(1e12, 22, 'Estimate of the reporter, in `currency`.'),
  currency: Currency,
  warranty_reference: Text(200, 'RMA-2026-118', 'Reference of the manufacturer for the claim.'),
  wo_id: Id(
    'The work order for the repair. Must not be finished when it is set; cannot be changed once it ' +
      'is approved.',
    42,
  ),
  assigned_to: Name('ada@example.com', 'The assignee, by any name.'),
  resolution: Text(20_000, 'Module replaced.', 'What was done, or why nothing was done.'),
} as const

/** Optional fields that are never null. */
const valued = {
  safety_relevant: Flag('Whether the defect endangers people or property.'),
  detected_at: Time(
    'When the defect was found. Defaults to the time of the request.',
    '2026-06-20T08:30:00Z',
  ),
  warranty_claim: Flag('Whether a claim is made under the warranty.'),
  alert_ids: Ids(
    'Alerts caused by the defect. A new defect without a device takes the device of its alerts.',
  ),
  tags: Tags,
} as const

const given = {
  ...optional({ ...nullable(nullables), ...valued }),
  attachments: Type.Optional(GivenAttachments),
}

export type NewDefect = Static<typeof NewDefect>
export const NewDefect = Named('NewDefect', { title: Title, severity: Severity, ...given })

export type DefectChange = Static<typeof DefectChange>
export const DefectChange = Named('DefectChange', {
  ...optional({ title: Title, severity: Severity, status: Status }),
  ...given,
})

export type Defect = Static<typeof Defect>
export const Defect = Named('Defect', {
  defect_id: DefectId,
  number: field.Text('Number for people.', 'DEF-2026-00007'),
  title: Title,
  severity: Severity,
  status: Status,
  ...nullable(nullables),
  ...valued,
  reported_by: field.Text('Name of the key; `system` for the system itself.', 'control room'),
  resolved_at: Nullable(At('When the defect was resolved; null after reopening.')),
  resolved_by: Nullable(Type.String()),
  verified_at: Nullable(At('When the repair was verified.')),
  verified_by: Nullable(Type.String()),
  attachments: Type.Array(Attachment),
  created_at: At('When the defect was reported.', '2026-06-20T09:05:00.000Z'),
  updated_at: At('When the defect was last changed.', '2026-06-21T08:40:00.000Z'),
  version: Version,
})

export const filters = {
  status: Type.Optional(field.OneOf(defectStates, 'Returns only defects in this state.')),
  severity: Type.Optional(field.OneOf(defectSeverities, 'Returns only defects of this severity.')),
  ...placeFilters('defects'),
  ...page,
}
