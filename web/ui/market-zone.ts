/** Money is counted by the days of the market: its prices are published for them. */
import type { MarketAssignment } from '@heliograph/sdk'

/** The zone of the market that most contracts sell into; that of the site without a contract. */
export function marketZone(
  contracts: readonly Pick<MarketAssignment, 'timezone'>[],
  site_timezone: string,
): string {
  const counts = new Map<string, number>()
  for (const { timezone } of contracts) counts.set(timezone, (counts.get(timezone) ?? 0) + 1)
  const [most] = [...counts].sort(([, a], [, b]) => b - a)
  return most?.[0] ?? site_timezone
}
