/** Sites of the client, added and taken into service by its administrators. */
import { Type } from 'typebox'
import { site_id_pattern } from '../http/authorize.ts'
import { endpoint } from '../http/endpoint.ts'
import { badField } from '../http/errors.ts'
import * as field from '../http/fields.ts'
import { Closed, Named } from '../http/params.ts'
import { adminOf } from './admin.ts'
import { asAnswer, forAdministrators, type PlatformNeeds } from './platform-operation.ts'
import { Name, NewSite, SiteId } from './schemas.ts'
import { clearSafeMode, createSite } from './sites.ts'
import { clientName } from './users.ts'

export const addSite = endpoint({
  ...forAdministrators,
  method: 'POST',
  path: '/platform/sites',
  operation_id: 'platform_site_add',
  summary: 'Add a site',
  description:
    'Creates a site of the client in commissioning safe mode. Position, time zone and devices come ' +
    'from `site.yaml` of its edge, markets from its contracts. Rejected with 422 when the id is ' +
    'taken: ids are unique on a server.',
  body: Closed({
    site_id: field.Text('Id of the site, also in `site.yaml`; it cannot be changed.', {
      pattern: site_id_pattern.source,
      examples: ['north-field'],
    }),
    name: Name,
  }),
  status: 201,
  returns: NewSite,
  example: { body: { site_id: 'north-field', name: 'North field' } },
  async handle({ tx, caller, body: { site_id, name } }, needs: PlatformNeeds) {
    const taken = await tx.query('select from sites where site_id = $1', [site_id])
    if (taken.length > 0) throw badField('site_id', 'invalid_value', 'is the id of another site')
    const client = await clientName(tx, caller)
    await asAnswer(() => createSite(adminOf(tx, needs), { client, site_id, name }), 'name')
    return { site_id, name, commissioning_safe_mode: true }
  },
})

export const endSafeMode = endpoint({
  ...forAdministrators,
  method: 'POST',
  path: '/platform/safe-mode/end',
  operation_id: 'platform_safe_mode_end',
  summary: 'End the commissioning safe mode of a site',
  description:
    'Lets the site accept writes, curtailment and dispatch included. `confirmation` must repeat ' +
    'the name of the site. Has no effect on a site that is not in safe mode.',
  body: Closed({ site_id: SiteId, confirmation: Type.String({ minLength: 1, maxLength: 200 }) }),
  returns: Named('PlatformSafeMode', { site_id: SiteId, commissioning_safe_mode: Type.Boolean() }),
  example: {
    body: { site_id: 'demo', confirmation: 'Sunny Fields' },
    answer: { site_id: 'demo', commissioning_safe_mode: false },
  },
  async handle({ tx, caller, body: { site_id, confirmation } }, needs: PlatformNeeds) {
    const [site] = await tx.query<{ name: string }>(
      'select name from sites where client_id = $1 and site_id = $2 for update',
      [caller.client_id, site_id],
    )
    if (!site) throw badField('site_id', 'unknown_reference', 'is not a site of the client')
    if (confirmation !== site.name) {
      throw badField('confirmation', 'not_confirmed', 'must be the name of the site')
    }
    await clearSafeMode(adminOf(tx, needs), site_id)
    return { site_id, commissioning_safe_mode: false }
  },
})
