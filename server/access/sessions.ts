/**
 * Authenticates sessions. A session is accepted from pages of the same origin only: its cookie is
 * SameSite=Strict, Sec-Fetch-Site and Origin must match, and the request needs a header that forms
 * and foreign pages cannot send. Cookies never carry keys, nor `Authorization` sessions.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { type CallerRow, callerOf } from '../http/authenticate.ts'
import type { Role } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import { scopesOf } from '../http/roles.ts'
import type { Sessions } from '../http/serve-options.ts'
import type { Queries } from '../storage/database.ts'
import type { Auth } from './auth.ts'

const session_header = 'x-heliograph-session'
const session_cookie = /(?:^|;\s*)(?:__Secure-)?heliograph\.session_token=/

/** Higher than for keys: a page sends many requests at once. */
const general_per_minute = 600
const write_per_minute = 60

export function createSessions(auth: Pick<Auth, 'api'>, db: Queries): Sessions {
  return {
    isPresent: ({ cookie }) => cookie !== undefined && session_cookie.test(cookie),
    async authenticate(headers) {
      if (!isFromOwnPage(headers)) throw new ApiError('cross_site_request')
      const cookie = headers.cookie ?? ''
      const found = session_cookie.test(cookie)
        ? await auth.api.getSession({ headers: new Headers({ cookie }) })
        : null
      const [person] = found
        ? await db.query<Omit<CallerRow, 'scopes'> & { role: Role }>(
            `select u.id as key_id, u.client_id, u.name, u.role, u.site_ids, c.modules
             from users u join clients c using (client_id)
             where u.id = $1 and u.disabled_at is null`,
            [found.user.id],
          )
        : []
      if (!person) throw new ApiError('not_signed_in')
      const caller = callerOf({ ...person, scopes: scopesOf[person.role] })
      return { caller, general_per_minute, write_per_minute }
    },
  }
}

/** Browsers send Sec-Fetch-Site or Origin; other clients hold no cookie of a user. */
function isFromOwnPage(headers: IncomingHttpHeaders): boolean {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (headers[session_header] !== '1') return false
  if (site !== undefined && site !== 'same-origin') return false
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === (host ?? '').toLowerCase()
}
