/** Closes the record of a curtailment whose restore no edge will confirm. */
import { Type } from 'typebox'
import type { PlatformNeeds } from '../access/platform-operation.ts'
import { isGiven } from '../http/authorize.ts'
import { endpoint } from '../http/endpoint.ts'
import { badField } from '../http/errors.ts'
import * as field from '../http/fields.ts'
import { Closed, Named } from '../http/params.ts'
import { closeGroup } from '../storage/curtailment.ts'
import { group_id_example } from './curtailment-row.ts'

const SiteId = field.Text('A site of the client.', { minLength: 1, maxLength: 64 })
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
    const sites = await tx.query('select from sites where client_id = $1 and site_id = $2', [
      caller.client_id,
      site_id,
    ])
    if (sites.length === 0 || !isGiven(site_id, caller)) {
      throw badField(
        'site_id',
        'unknown_reference',
        'must be a site of the client that you may see',
      )
    }
    const groups = await tx.query(
      'select from curtailment_groups where site_id = $1 and group_id = $2',
      [site_id, group_id],
    )
    if (groups.length === 0)
      throw badField('group_id', 'unknown_reference', 'must be a command of the site')
    const order = { site_id, group_id, now: clock.now(), by: caller.key_name, note }
    return { site_id, group_id, closed_count: await closeGroup(tx, order) }
  },
})
