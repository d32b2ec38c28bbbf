import type { Clock } from '@heliograph/domain/clock'
import type { Context } from '../http/context.ts'
import type { Caller, Request, WriteParts } from '../http/endpoint.ts'

export interface Actor extends Pick<Caller, 'key_id' | 'key_name'> {
  site_id: string
  if_match: string | null
  /** Read-only fields of the object in the request body. */
  read_only: Readonly<Record<string, unknown>>
  now: Date
  clock: Clock
}

export const actorOf = (
  { site, caller, if_match, read_only }: Request<unknown, unknown, unknown> & WriteParts,
  { clock }: Context,
): Actor => ({
  site_id: site.site_id,
  key_id: caller.key_id,
  key_name: caller.key_name,
  if_match,
  read_only,
  now: clock.now(),
  clock,
})
