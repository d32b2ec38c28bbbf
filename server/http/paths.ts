/** Where an endpoint stands. */
import type { Endpoint } from './endpoint.ts'

/** With its parameters in braces, as the OpenAPI document has it. */
export function pathOf({ path, role }: Pick<Endpoint<never>, 'path' | 'role'>): string {
  return role !== undefined || path === '/v1/sites' ? path : `/v1/sites/{site_id}${path}`
}

/** With its parameters as the router has them. */
export const patternOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1')
