import { useMay } from '../../queries.ts'
import { useSite } from '../../shell/site-shell.tsx'

/** What role and plan allow, and the site has. */
export function useMayRead(): (scope: string) => boolean {
  const may = useMay()
  const scopes: readonly string[] = useSite().scopes
  return (scope) => may(scope) && scopes.includes(scope)
}
