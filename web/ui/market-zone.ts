/** Amounts are summed by market days, as prices are published by market days. */
import type { MarketAssignment } from '@heliograph/sdk'

/** Time zone of the market of most contracts; the zone of the site without contracts. */
export function marketZone(
  contracts: readonly Pick<MarketAssignment, 'timezone'>[],
  site_timezone: string,
): string {
  const counts = new Map<string, number>()
  for (const { timezone } of contracts) counts.set(timezone, (counts.get(timezone) ?? 0) + 1)
  const [most] = [...counts].sort(([, a], [, b]) => b - a)
  return most?.[0] ?? site_timezone
}
