/** Decisions of an administrator about a site of the client. */
import { Type } from 'typebox'
import { endpoint } from '../http/endpoint.ts'
import { badField } from '../http/errors.ts'
import { Closed, Named } from '../http/params.ts'
import { adminOf } from './admin.ts'
import { forAdministrators, type PlatformNeeds } from './platform-operation.ts'
import { SiteId } from './schemas.ts'
import { clearSafeMode } from './sites.ts'

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
