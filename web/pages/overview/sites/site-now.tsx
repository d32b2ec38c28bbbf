import type { Site } from '@heliograph/sdk'
import { Group } from '@mantine/core'
import { useInViewport } from '@mantine/hooks'
import { useRead } from '../../../queries.ts'
import {
  formatEnergy,
  formatMoney,
  formatNumber,
  formatPower,
  formatQuantity,
  isKnown,
} from '../../../ui/format.ts'
import { NamedFigure } from '../../../ui/named-figure.tsx'
import { netOf, useEarnedToday } from '../earned-today.ts'
import { useMayReadAt } from '../may-read.ts'

/** Present values of a site, read only while its card is visible. */
export function SiteNow({ site }: { site: Site }) {
  const { ref, inViewport } = useInViewport()
  const mayRead = useMayReadAt(site)
  const { site_id, ac_capacity_kw } = site
  const { data: status } = useRead(
    'plant-status',
    'plantStatusGet',
    { site_id },
    { refetchInterval: 15_000, enabled: inViewport && mayRead('plant:read') },
  )
  const { data: earned } = useEarnedToday(site, inViewport && mayRead('earnings:read'))
  const power_kw = status?.ac_power_kw
  const kwh_kwp = status?.specific_yield_today_kwh_kwp
  const share_pct = isKnown(power_kw) && ac_capacity_kw ? (100 * power_kw) / ac_capacity_kw : null
  return (
    <Group ref={ref} mt="sm" gap="lg" align="flex-start">
      <NamedFigure
        size="xs"
        name="Power now"
        value={formatPower(power_kw)}
        note={share_pct === null ? null : `${formatNumber(share_pct, 0)} % of AC`}
      />
      <NamedFigure
        size="xs"
        name="Energy today"
        value={formatEnergy(status?.energy_today_kwh)}
        note={isKnown(kwh_kwp) ? formatQuantity(kwh_kwp, 'kWh/kWp', 2) : null}
      />
      {mayRead('earnings:read') && (
        <NamedFigure
          size="xs"
          name="Revenue today"
          value={formatMoney(netOf(earned), earned?.currency ?? null)}
          note={earned ? `since midnight, ${earned.timezone}` : null}
        />
      )}
    </Group>
  )
}
