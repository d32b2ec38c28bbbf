/** What an administrator decides about a site of the client. */
import { Type } from 'typebox'
import { endpoint } from '../http/endpoint.ts'
import { invalid } from '../http/errors.ts'
import { adminOf } from './admin-of.ts'
import type { PlatformNeeds } from './people-endpoints.ts'
import { SiteId } from './schemas.ts'
import { clearSafeMode } from './sites.ts'

const closed = { additionalProperties: false } as const

export const endSafeMode = endpoint({
  tag: 'Platform',
  scope: null,
  module: null,
  role: 'administrator',
  method: 'POST',
  path: '/platform/safe-mode/end',
  operation_id: 'platform_safe_mode_end',
  summary: 'End the commissioning safe mode of a site',
  description:
    'From then on the site accepts writes, curtailment and dispatch among them. `confirmation` is ' +
    "the site's name, typed by the person. A site that is not in safe mode stays as it is.",
  body: Type.Object(
    { site_id: SiteId, confirmation: Type.String({ minLength: 1, maxLength: 200 }) },
    closed,
  ),
  returns: Type.Object(
    { site_id: SiteId, commissioning_safe_mode: Type.Boolean() },
    { ...closed, $id: 'PlatformSafeMode' },
  ),
  example: {
    body: { site_id: 'demo', confirmation: 'Sunny Fields' },
    answer: { site_id: 'demo', commissioning_safe_mode: false },
  },
  async handle({ tx, caller, body: { site_id, confirmation } }, needs: PlatformNeeds) {
    const [site] = await tx.query<{ name: string }>(
      'select name from sites where client_id = $1 and site_id = $2 for update',
      [caller.client_id, site_id],
    )
    if (!site) {
      throw invalid({
        location: 'body',
        field: 'site_id',
        code: 'unknown_reference',
        message: 'is no site of the client',
      })
    }
    if (confirmation !== site.name) {
      throw invalid({
        location: 'body',
        field: 'confirmation',
        code: 'not_confirmed',
        message: "must be the site's name",
      })
    }
    await clearSafeMode(adminOf(tx, needs), site_id)
    return { site_id, commissioning_safe_mode: false }
  },
})
