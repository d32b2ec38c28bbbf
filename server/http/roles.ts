/** Scopes of users by role. */
import { type Role, type Scope, scopes } from './endpoint.ts'

const reads = scopes.filter((scope) => scope.endsWith(':read'))

/** Administrators also manage keys, users and invitations. */
export const scopesOf: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: reads,
  operator: scopes,
  administrator: scopes,
}
