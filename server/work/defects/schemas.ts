import { type Static, Type } from 'typebox'
import { id_max, Nullable, page } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { Attachment, GivenAttachments } from '../attachments.ts'
import { defectSeverities, defectStates } from '../defect-states.ts'
import {
  Amount,
  Currency,
  Id,
  Ids,
  Name,
  nullable,
  optional,
  Tags,
  Text,
  Time,
  Title as TitleOf,
} from '../fields.ts'

const closed = { additionalProperties: false } as const

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

export const DefectId = Type.Integer({
  minimum: 0,
  maximum: id_max,
  description: 'A defect of the site.',
  examples: [7],
})

const Severity = Type.Enum([...defectSeverities], { description: 'How bad it is.' })
const Status = Type.Enum([...defectStates])
const Title = TitleOf('Hot spot on a module of string 3 of inverter 1')

/** What a client may set, and take back with null. */
const nullables = {
  description: Text(20_000, '21 K above its neighbours.', 'Any text; kept as it is.'),
  type: Type.Enum([...defectTypes], { description: '`pid` is potential-induced degradation.' }),
  location_id: Id('A place of the site. Where none is given, that of the device.', 2),
  logger_id: Id('The plant. Where an inverter is given and no plant, that of the inverter.', 1),
  inverter_id: Id('An inverter, of the plant where that is given.', 1),
  string_index: Id('A string of the inverter, counted from 0.', 3),
  module_position: Text(100, 'row 12, table 3, module 7', 'Which module, as people find it.'),
  bess_id: Id('A battery unit.', 1),
  latitude: Type.Number({
    minimum: -90,
    maximum: 90,
    examples: [48.6213],
    description: 'WGS 84, in degrees; with `longitude`.',
  }),
  longitude: Type.Number({
    minimum: -180,
    maximum: 180,
    examples: [12.1702],
    description: 'WGS 84, in degrees; with `latitude`.',
  }),
  detection_method: Type.Enum([...detectionMethods], {
    description: 'How it was found; `el` is electroluminescence.',
  }),
  temperature_delta_k: Amount(2000, 21, 'Above comparable parts around it: IEC TS 62446-3.'),
  affected_module_count: Type.Integer({ minimum: 0, maximum: id_max, examples: [1] }),
  affected_power_kw: Amount(1e9, 0.4, 'What could be produced without it, and is not.'),
  estimated_loss_kwh_year: Amount(1e12, 310, 'As who reported it estimates.'),
  estimated_loss_amount_year: Amount(1e12, 22, 'In `currency`, as who reported it estimates.'),
  currency: Currency,
  warranty_reference: Text(200, 'RMA-2026-118', 'What the maker calls the claim.'),
  wo_id: Id(
    'The work order that sees to it; one that is not over when it is given, and keeps it once ' +
      'approved.',
    42,
  ),
  assigned_to: Name('ada@example.com', 'Whose it is, by any name.'),
  resolution: Text(20_000, 'Module replaced.', 'What was done, or why nothing is.'),
} as const

/** What a client may set, and what is never null. */
const valued = {
  safety_relevant: Type.Boolean({
    description: 'Whether it endangers people or property.',
    examples: [false],
  }),
  detected_at: Time(
    'When it was found; the time of the request unless given.',
    '2026-06-20T08:30:00Z',
  ),
  warranty_claim: Type.Boolean({
    description: 'Whether it is claimed from the maker.',
    examples: [false],
  }),
  alert_ids: Ids('Alerts that it explains. A new one without a device has that of its alerts.'),
  tags: Tags,
} as const

const given = {
  ...optional({ ...nullable(nullables), ...valued }),
  attachments: Type.Optional(GivenAttachments),
}

export type NewDefect = Static<typeof NewDefect>
export const NewDefect = Type.Object(
  { title: Title, severity: Severity, ...given },
  { ...closed, $id: 'NewDefect' },
)

export type DefectChange = Static<typeof DefectChange>
export const DefectChange = Type.Object(
  { ...optional({ title: Title, severity: Severity, status: Status }), ...given },
  { ...closed, $id: 'DefectChange' },
)

export type Defect = Static<typeof Defect>
export const Defect = Type.Object(
  {
    defect_id: DefectId,
    number: Type.String({ description: 'What people call it.', examples: ['DEF-2026-00007'] }),
    title: Title,
    severity: Severity,
    status: Status,
    ...nullable(nullables),
    ...valued,
    reported_by: Type.String({ description: 'Name of the key; `system` for the system itself.' }),
    resolved_at: Nullable(At('Null again where it was taken up once more.')),
    resolved_by: Nullable(Type.String()),
    verified_at: Nullable(At('When it was seen to be repaired.')),
    verified_by: Nullable(Type.String()),
    attachments: Type.Array(Attachment),
    created_at: At('When it was reported here.'),
    updated_at: At('When it was changed last.'),
    version: Type.Integer({ minimum: 1, description: 'Goes up with every change of it.' }),
  },
  { ...closed, $id: 'Defect' },
)

/** What the list is filtered by. */
export const filters = {
  status: Type.Optional(Type.Enum([...defectStates], { description: 'Only those in this state.' })),
  severity: Type.Optional(
    Type.Enum([...defectSeverities], { description: 'Only those of this severity.' }),
  ),
  location_id: Type.Optional(
    Type.Integer({ minimum: 0, maximum: id_max, description: 'Only those at this place itself.' }),
  ),
  logger_id: Type.Optional(
    Type.Integer({ minimum: 0, maximum: id_max, description: 'Only those of this plant.' }),
  ),
  ...page,
}
