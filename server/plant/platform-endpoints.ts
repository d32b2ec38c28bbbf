/** Operations of the pages about exchanged devices: the open questions and their answers. */
import { Type } from 'typebox'
import { checkSite, type PlatformNeeds, platformOperation } from '../access/platform-operation.ts'
import { SiteId } from '../access/schemas.ts'
import { requireModule, requireScope } from '../http/authorize.ts'
import { endpoint } from '../http/endpoint.ts'
import { List, list } from '../http/envelope.ts'
import { badField } from '../http/errors.ts'
import * as field from '../http/fields.ts'
import { Closed, Named } from '../http/params.ts'
import { served } from '../storage/records.ts'
import { answerExchange, exchangeAnswers, readOpenExchanges } from './exchange-questions.ts'

const device = {
  kind: field.Text('The kind of the device, as in `source_kind` of events.', {
    minLength: 1,
    maxLength: 40,
    examples: ['inverter'],
  }),
  device_id: field.Text('The id of the device.', {
    minLength: 1,
    maxLength: 120,
    examples: ['7'],
  }),
}

const SerialNumber = field.Text('The serial number that answers now.', {
  minLength: 1,
  maxLength: 200,
  examples: ['SN-2207'],
})

const DeviceExchange = Named('PlatformDeviceExchange', {
  ...device,
  old_serial_number: field.Text('The accepted serial number.', 'SN-1041'),
  serial_number: SerialNumber,
  since_at: field.At('When the edge found the serial number.', '2036-06-21T11:00:00Z'),
  wrong_wiring_at: field.AtOrNull('When a person reported wrong wiring; null for not yet.'),
  wrong_wiring_by: field.TextOrNull('Who reported it.'),
})

export const listDeviceExchanges = endpoint({
  ...platformOperation,
  role: 'viewer',
  method: 'GET',
  path: '/platform/device-exchanges',
  operation_id: 'platform_device_exchanges_list',
  summary: 'List the open questions about exchanged devices of a site',
  description:
    'Returns the devices in service at whose address another serial number answers than the ' +
    'accepted one. A question closes when a person or `site.yaml` confirms the new device, and ' +
    'when the former one answers again. Needs the scope `alerts:read` of the role and the module ' +
    '`basic_scada` of the plan.',
  query: { site_id: SiteId },
  returns: List(DeviceExchange),
  async handle({ caller, query: { site_id } }, { db }: PlatformNeeds) {
    requireScope(caller, 'alerts:read')
    requireModule(caller, 'basic_scada')
    await checkSite(db, caller, site_id)
    const exchanges = await readOpenExchanges(db, site_id)
    return list(exchanges.map((one) => served(DeviceExchange, one)))
  },
})

const example = { site_id: 'demo', kind: 'inverter', device_id: '7', serial_number: 'SN-2207' }

export const answerDeviceExchange = endpoint({
  ...platformOperation,
  role: 'operator',
  method: 'POST',
  path: '/platform/device-exchanges/answer',
  operation_id: 'platform_device_exchange_answer',
  summary: 'Answer the question about an exchanged device',
  description:
    '`same_place` confirms a new device in the place of the former one: the device keeps its id ' +
    'and gets the serial number in the inventory. `wrong_wiring` is noted, and the question stays ' +
    'open until the former device answers again. Neither changes a reading, and nothing is sent ' +
    'to the site. Rejected with 422 without an open question about the serial number.',
  body: Closed({
    site_id: SiteId,
    ...device,
    serial_number: SerialNumber,
    answer: field.OneOf(exchangeAnswers, 'What a person found out.', 'same_place'),
  }),
  returns: Named('PlatformDeviceExchangeAnswer', {
    site_file_is_outdated: Type.Boolean({
      description:
        '`site.yaml` names another serial number and must be changed; until then the edge may ' +
        'refuse the device, and its next inventory has the former serial number again.',
    }),
  }),
  example: {
    body: { ...example, answer: 'same_place' },
    answer: { site_file_is_outdated: false },
  },
  async handle({ tx, caller, body }, { clock }: PlatformNeeds) {
    await checkSite(tx, caller, body.site_id)
    const answered = await answerExchange(tx, { ...body, now: clock.now(), by: caller.key_name })
    if (answered) return answered
    throw badField(
      'serial_number',
      'unknown_reference',
      'must be the serial number of an open question about the device',
    )
  },
})
