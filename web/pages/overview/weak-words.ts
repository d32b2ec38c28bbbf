import type { StringHealth } from '@heliograph/sdk'
import { healthNames } from '../../ui/health-names.ts'

const bad = ['dead', 'critical', 'underperforming', 'watch'] as const

/** `5 of 144 strings are unhealthy over 7 days: 1 dead, 4 watch`; null when all are healthy. */
export function weakWords(statuses: readonly StringHealth['status'][]): string | null {
  const counts = bad
    .map((status) => ({ status, count: statuses.filter((one) => one === status).length }))
    .filter(({ count }) => count > 0)
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  if (total === 0) return null
  const parts = counts.map(({ status, count }) => `${count} ${healthNames[status].toLowerCase()}`)
  const verb = total === 1 ? 'is' : 'are'
  return `${total} of ${statuses.length} strings ${verb} unhealthy over 7 days: ${parts.join(', ')}`
}
