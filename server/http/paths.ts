import type { Endpoint } from './endpoint.ts'

/** The full path with parameters in braces, as in OpenAPI. */
export function pathOf({ path, role }: Pick<Endpoint<never>, 'path' | 'role'>): string {
  return role !== undefined || path === '/v1/sites' || path.startsWith('/mcp/')
    ? path
    : `/v1/sites/{site_id}${path}`
}

/** The path in the syntax of the router. */
export const patternOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1')
