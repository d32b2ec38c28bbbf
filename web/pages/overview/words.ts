import type { StringHealth } from '@heliograph/sdk'
import { healthNames } from '../../ui/health-names.ts'

/** Higher shares mean that a part of the day is not summed up yet, %. */
const plausible_max_pct = 105

export function shareOf(energy_kwh: unknown, expected_kwh: unknown): number | null {
  if (typeof energy_kwh !== 'number' || typeof expected_kwh !== 'number') return null
  if (expected_kwh <= 0) return null
  const share_pct = (energy_kwh / expected_kwh) * 100
  return share_pct > plausible_max_pct ? null : share_pct
}

const weak = ['dead', 'critical', 'underperforming', 'watch'] as const

export const isWeak = (status: StringHealth['status']) => weak.some((one) => one === status)

/** `5 strings are unhealthy over 7 days: 1 dead, 4 watch`; null when all are healthy. */
export function weakWords(statuses: readonly StringHealth['status'][]): string | null {
  const counts = weak
    .map((status) => ({ status, count: statuses.filter((one) => one === status).length }))
    .filter(({ count }) => count > 0)
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  if (total === 0) return null
  const parts = counts.map(({ status, count }) => `${count} ${healthNames[status].toLowerCase()}`)
  const subject = total === 1 ? '1 string is' : `${total} strings are`
  return `${subject} unhealthy over 7 days: ${parts.join(', ')}`
}
