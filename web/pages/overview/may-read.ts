import type { Site } from '@heliograph/sdk'
import { useMay } from '../../queries.ts'
import { useSite } from '../../shell/site-shell.tsx'

/** Tells whether role, plan and site allow a scope. */
export const useMayRead = () => useMayReadAt(useSite())

export function useMayReadAt(site: Pick<Site, 'scopes'>): (scope: string) => boolean {
  const may = useMay()
  const scopes: readonly string[] = site.scopes
  return (scope) => may(scope) && scopes.includes(scope)
}
