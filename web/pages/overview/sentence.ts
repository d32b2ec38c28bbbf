import type { Overview, StringHealth } from '@heliograph/sdk'
import { formatNumber, formatPower } from '../../ui/format.ts'
import { healthNames } from '../../ui/health-names.ts'

type Now = Pick<
  Overview['status'],
  'ac_power_kw' | 'available_power_kw' | 'is_daylight' | 'curtailed_power_kw'
>

/** Present production, and energy of today compared with the expected energy. */
export function sentence(status: Now, share_today_pct: number | null): string {
  const now = nowOf(status)
  if (share_today_pct === null) return now
  return `${now} Today so far: ${formatNumber(share_today_pct, 0)} % of the expected energy.`
}

function nowOf(status: Now): string {
  const { ac_power_kw, available_power_kw, is_daylight, curtailed_power_kw } = status
  if (ac_power_kw === null) return 'Present power unknown.'
  if (is_daylight === false && ac_power_kw <= 0) return 'Night: no production.'
  const power = `Producing ${formatPower(ac_power_kw)}`
  if (available_power_kw === null || available_power_kw < 1) return `${power}.`
  if (!isCurtailed(curtailed_power_kw)) return `${power}.`
  // Without a limit, inverters report their own power as available.
  const share = formatNumber(Math.min(100, (ac_power_kw / available_power_kw) * 100), 0)
  return `${power}, ${share} % of available power: curtailed.`
}

/** Smaller values are measurement noise, or consumption at night. */
const isCurtailed = (curtailed_kw: number | null) => (curtailed_kw ?? 0) >= 0.5

/** Present effect of the limits in force. */
export function curtailedWords(curtailed_kw: number | null): string {
  if (curtailed_kw === null) return 'present curtailment unknown'
  if (!isCurtailed(curtailed_kw)) return 'no curtailment now'
  return `${formatPower(curtailed_kw)} curtailed now`
}

/** Higher shares mean that a part of the day is not summed up yet, %. */
const plausible_max_pct = 105

export function shareOf(energy_kwh: unknown, expected_kwh: unknown): number | null {
  if (typeof energy_kwh !== 'number' || typeof expected_kwh !== 'number') return null
  if (expected_kwh <= 0) return null
  const share_pct = (energy_kwh / expected_kwh) * 100
  return share_pct > plausible_max_pct ? null : share_pct
}

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
