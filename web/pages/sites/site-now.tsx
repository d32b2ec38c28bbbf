import type { Site } from '@heliograph/sdk'
import { Group, Text } from '@mantine/core'
import { useInViewport } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { heliograph } from '../../api.ts'
import { useMay } from '../../queries.ts'
import { formatEnergy, formatMoney, formatNumber, formatPower, none } from '../../ui/format.ts'
import { useEarnedToday } from '../overview/earned-today.ts'

/** What a site does now and made today; of those alone that are on the screen. */
export function SiteNow({ site }: { site: Site }) {
  const { ref, inViewport } = useInViewport()
  const may = useMay()
  const mayRead = (scope: string) => may(scope) && site.scopes.some((one) => one === scope)
  const { site_id } = site
  const { data: status, isError } = useQuery({
    queryKey: ['plant-status', site_id],
    queryFn: ({ signal }) => heliograph.plantStatusGet({ site_id }, { signal }),
    refetchInterval: 15_000,
    enabled: inViewport && mayRead('plant:read'),
  })
  const earned = useEarnedToday(site_id, inViewport && mayRead('earnings:read'))
  const power_kw = status?.ac_power_kw ?? null
  const share =
    power_kw === null || !site.ac_capacity_kw ? null : (100 * power_kw) / site.ac_capacity_kw
  const net = earned.data?.net_amount ?? earned.data?.known?.net_amount
  return (
    <Group ref={ref} mt="sm" gap="lg" align="flex-start">
      <Now
        label="Power now"
        value={isError && !status ? none : formatPower(power_kw)}
        note={share === null ? undefined : `${formatNumber(share, 0)} % of AC`}
      />
      <Now
        label="Energy today"
        value={formatEnergy(status?.energy_today_kwh ?? null)}
        note={yieldWords(status?.specific_yield_today_kwh_kwp ?? null)}
      />
      {mayRead('earnings:read') && (
        <Now
          label="Earned today"
          value={formatMoney(net, earned.data?.currency ?? null)}
          note="since midnight UTC"
        />
      )}
    </Group>
  )
}

const yieldWords = (kwh_kwp: number | null) =>
  kwh_kwp === null ? undefined : `${formatNumber(kwh_kwp, 2)} kWh/kWp`

function Now({ label, value, note }: { label: string; value: string; note?: string | undefined }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text className="figure" fw={600}>
        {value}
      </Text>
      {note && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </div>
  )
}
