/** Operations of the page of curtailment beside the API: warnings of a limit, closing a record. */

import { Type } from 'typebox'
import { checkSite, type PlatformNeeds } from '../access/platform-operation.ts'
import { SiteId } from '../access/schemas.ts'
import { endpoint } from '../http/endpoint.ts'
import { badField } from '../http/errors.ts'
import * as field from '../http/fields.ts'
import { Closed, id_max, Named } from '../http/params.ts'
import { closeGroup, isFromOutside } from '../storage/curtailment.ts'
import { foresee } from './commands.ts'
import { group_id_example } from './curtailment-row.ts'
import { CurtailmentGroup, limitFields } from './schemas.ts'

const GroupId = field.Text('The command.', { minLength: 1, maxLength: 100 })

const example = { site_id: 'demo', group_id: group_id_example }

export const closeCurtailment = endpoint({
  tag: 'Platform',
  scope: null,
  module: null,
  role: 'operator',
  method: 'POST',
  path: '/platform/curtailment/close',
  operation_id: 'platform_curtailment_close',
  summary: 'Close the record of a curtailment that the edge does not confirm',
  description:
    'Returns the number of rows closed. Closes the rows of a group that are `releasing`, with the ' +
    'reason in `note`. Nothing is sent to the plant, which may still be limited. Other rows are ' +
    'not changed; `closed_count` is 0 for a group without a releasing row. A later confirmation ' +
    'by the edge is still recorded.',
  body: Closed({
    site_id: SiteId,
    group_id: GroupId,
    note: field.Text('Reason for closing the record.', {
      minLength: 3,
      maxLength: 500,
      pattern: '\\S.*\\S.*\\S',
    }),
  }),
  returns: Named('PlatformCurtailmentClosing', {
    site_id: SiteId,
    group_id: GroupId,
    closed_count: Type.Integer({ minimum: 0 }),
  }),
  example: {
    body: { ...example, note: 'Edge destroyed by lightning; inverters checked on site.' },
    answer: { ...example, closed_count: 1 },
  },
  async handle({ tx, caller, body: { site_id, group_id, note } }, { clock }: PlatformNeeds) {
    await checkSite(tx, caller, site_id)
    const groups = await tx.query(
      `select from curtailment_groups g
       where site_id = $1 and group_id = $2 and not ${isFromOutside}`,
      [site_id, group_id],
    )
    if (groups.length === 0)
      throw badField('group_id', 'unknown_reference', 'must be a command of the site')
    const order = { site_id, group_id, now: clock.now(), by: caller.key_name, note }
    return { site_id, group_id, closed_count: await closeGroup(tx, order) }
  },
})

export const curtailmentWarnings = endpoint({
  tag: 'Platform',
  scope: null,
  module: null,
  role: 'operator',
  method: 'GET',
  path: '/platform/curtailment/warnings',
  operation_id: 'platform_curtailment_warnings',
  summary: 'Warnings of a curtailment before it is created',
  description:
    'Returns the warnings that the command would have if it was created now. Creates nothing.',
  query: {
    site_id: SiteId,
    scope: limitFields.scope,
    logger_id: Type.Optional(
      field.Int('The plant. Required with scope `logger`.', { minimum: 1, maximum: id_max }),
    ),
    limit_mode: limitFields.limit_mode,
    limit_value: field.Num('In % or kW by `limit_mode`.', { exclusiveMinimum: 0, examples: [60] }),
    start_at: field.At('Start of the limit.', '2036-06-21T11:00:00Z'),
    end_at: field.At('End of the limit.', '2036-06-21T13:30:00Z'),
  },
  returns: Named('PlatformCurtailmentWarnings', { warnings: CurtailmentGroup.properties.warnings }),
  example: { answer: { warnings: ['no_permit_entry:3'] } },
  async handle({ caller, query }, { db, clock }: PlatformNeeds) {
    await checkSite(db, caller, query.site_id)
    const command = {
      ...query,
      start_at: new Date(query.start_at),
      end_at: new Date(query.end_at),
      now: clock.now(),
    }
    const { warnings } = await foresee(db, command)
    return { warnings }
  },
})
