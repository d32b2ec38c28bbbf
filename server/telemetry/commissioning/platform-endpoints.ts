/** A site in commissioning by its edge: devices found, values arriving, what is missing. */
import { Type } from 'typebox'
import {
  checkSite,
  type PlatformNeeds,
  platformOperation,
} from '../../access/platform-operation.ts'
import { SiteId } from '../../access/schemas.ts'
import { requireModule, requireScope } from '../../http/authorize.ts'
import { endpoint } from '../../http/endpoint.ts'
import * as field from '../../http/fields.ts'
import { Named } from '../../http/params.ts'
import { served } from '../../storage/records.ts'
import { commissionedKinds, readAnnounced, readDevices } from './store.ts'

const siteGaps = ['edge', 'site_file', 'position', 'grid_meter', 'irradiance'] as const

const Quantity = Named('PlatformCommissionedQuantity', {
  quantity: field.Text(
    'The quantity that a device of the kind should deliver: `power`, `reactive_power`, `voltage`, ' +
      '`current`, `frequency`, `energy`, `energy_export`, `energy_import`, `dc_input` or ' +
      '`state_of_charge`. The `sensor_id` of an instrument at a met station.',
    'frequency',
  ),
  column: field.TextOrNull(
    'The field of the latest reading with the value, its unit last. Null without a value.',
    'frequency_hz',
  ),
  value: field.NumOrNull('The value in the latest reading. Null: missing.', 50.02),
})

const Device = Named('PlatformCommissionedDevice', {
  kind: field.OneOf(
    commissionedKinds,
    'The kind of the device, as in `source_kind` of events. `logger` is the controller of a plant.',
    'inverter',
  ),
  device_id: field.Text('The id of the device.', '7'),
  name: field.Text('The name in `site.yaml`.', 'Huawei inverter 7'),
  manufacturer: field.TextOrNull(
    'As the device reports it; null before the first contact.',
    'Huawei',
  ),
  model: field.TextOrNull('As the device reports it.', 'SUN2000-100KTL-M1'),
  serial_number: field.TextOrNull('As the device reports it.', 'HV2140001'),
  comm_state: field.OneOf(
    ['connected', 'disconnected', 'unknown'],
    'Whether the device answers the edge. `unknown` before the first report.',
    'connected',
  ),
  last_ok_at: field.AtOrNull('When it last answered.', '2036-06-21T11:00:00Z'),
  error: field.TextOrNull('Why it does not answer; null while it does.'),
  measured_at: field.AtOrNull('The instant of its latest reading.', '2036-06-21T11:00:00Z'),
  quantities: Type.Array(Quantity),
})

export const getCommissioning = endpoint({
  ...platformOperation,
  role: 'viewer',
  method: 'GET',
  path: '/platform/commissioning',
  operation_id: 'platform_commissioning_get',
  summary: 'Get the state of commissioning of a site',
  description:
    'Returns each device of the announced `site.yaml` with its communication state and the ' +
    'quantities of its latest reading, and what the site lacks. Values are as the edge reported ' +
    'them, whatever their age. Needs the scope `plant:read` of the role and the module ' +
    '`basic_scada` of the plan.',
  query: { site_id: SiteId },
  returns: Named('PlatformCommissioning', {
    edge_seen_at: field.AtOrNull(
      'When the edge of the site was last seen.',
      '2036-06-21T11:00:00Z',
    ),
    missing: Type.Array(Type.Enum([...siteGaps]), {
      description:
        '`edge`: no edge was ever seen. `site_file`: no `site.yaml` was announced. `position`: ' +
        'latitude and longitude are 0. `grid_meter`: no meter has the role `grid_connection`. ' +
        '`irradiance`: no instrument measures irradiance.',
      examples: [['grid_meter']],
    }),
    devices: Type.Array(Device),
  }),
  async handle({ caller, query: { site_id } }, { db }: PlatformNeeds) {
    requireScope(caller, 'plant:read')
    requireModule(caller, 'basic_scada')
    await checkSite(db, caller, site_id)
    const [site, devices] = await Promise.all([
      readAnnounced(db, site_id),
      readDevices(db, site_id),
    ])
    const is_there: Record<(typeof siteGaps)[number], boolean> = {
      edge: site.edge_seen_at !== null,
      site_file: site.is_announced,
      position: site.is_placed,
      grid_meter: site.has_grid_meter,
      irradiance: site.has_irradiance,
    }
    return {
      edge_seen_at: site.edge_seen_at?.toISOString() ?? null,
      missing: siteGaps.filter((gap) => !is_there[gap]),
      devices: devices.map((one) => served(Device, one)),
    }
  },
})
