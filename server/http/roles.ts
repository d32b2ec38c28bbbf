/** What people of each role may do, in the scopes of keys. */
import { type Role, type Scope, scopes } from './endpoint.ts'

const reads = scopes.filter((scope) => scope.endsWith(':read'))

/** Keys, people and invitations are the administrator's beyond these. */
export const scopesOf: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: reads,
  operator: scopes,
  administrator: scopes,
}
