import type { Overview } from '@heliograph/sdk'
import { Anchor, SimpleGrid } from '@mantine/core'
import { Link } from 'wouter'
import { Figure } from '../../ui/figure.tsx'
import { formatEnergy, formatMoney, formatNumber, formatPower, none } from '../../ui/format.ts'
import { inWords } from '../../ui/words.ts'
import { netOf, useEarnedToday } from './earned-today.ts'
import { useMayRead } from './may-read.ts'
import { useShareToday } from './share-today.ts'

export function Figures({ overview }: { overview: Overview }) {
  const mayRead = useMayRead()
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing={{ base: 'xs', sm: 'md' }}>
      <PowerNow overview={overview} />
      <EnergyToday overview={overview} />
      {mayRead('earnings:read') && <MoneyToday site={overview.site} />}
      {overview.alerts && <AlertCount overview={overview} />}
    </SimpleGrid>
  )
}

function PowerNow({ overview: { status, predictions, generated_at } }: { overview: Overview }) {
  const now = Date.parse(generated_at)
  const hour = predictions?.next_hours.find(
    ({ start_at, end_at }) => Date.parse(start_at) <= now && now < Date.parse(end_at),
  )
  const isCurtailed = (status.curtailed_power_kw ?? 0) >= 0.5
  return (
    <Figure
      label="Power now"
      value={formatPower(status.ac_power_kw)}
      note={
        <>
          {isCurtailed && <>available {formatPower(status.available_power_kw)} </>}
          {predictions && <>forecast {formatPower(hour?.p50_kw)}</>}
        </>
      }
    />
  )
}

function EnergyToday({ overview: { site, status, predictions } }: { overview: Overview }) {
  const share = useShareToday(site.site_id)
  const is_low = share !== null && share < 85
  return (
    <Figure
      label="Energy today"
      value={formatEnergy(status.energy_today_kwh)}
      {...(is_low && { tone: 'bad' as const })}
      note={
        <>
          {share !== null && `${formatNumber(share, 0)} % of the expected energy so far. `}
          {predictions && status.is_daylight && (
            <>Forecast for the day {formatEnergy(predictions.today_p50_kwh)}</>
          )}
        </>
      }
    />
  )
}

const reasons: Record<string, string> = {
  no_contract: 'the plants have no contract',
  no_price: 'the market has no price yet',
  no_exchange_rate: 'an exchange rate is missing',
  no_energy: 'energy unknown',
  not_yet: 'not available yet',
}

function MoneyToday({ site }: { site: Overview['site'] }) {
  const { site_id, timezone } = site
  const { data, isError } = useEarnedToday(site)
  const per_mwh = data?.average_price_per_mwh
  return (
    <Figure
      label="Net revenue today"
      value={formatMoney(netOf(data), data?.currency ?? null)}
      note={
        <>
          {isError && !data && 'Unavailable. '}
          {data?.reason && <>Incomplete: {reasons[data.reason] ?? inWords(data.reason)}. </>}
          {per_mwh !== null && per_mwh !== undefined && data?.currency && (
            <>{formatMoney(per_mwh, data.currency)}/MWh on average. </>
          )}
          {data?.price_status === 'provisional' && 'Provisional. '}
          {data && data.timezone !== timezone && `Market day (${data.timezone}). `}
          <Anchor size="sm" component={Link} href={`/sites/${site_id}/earnings`} underline="always">
            Earnings
          </Anchor>
        </>
      }
    />
  )
}

function AlertCount({ overview: { site, alerts, status } }: { overview: Overview }) {
  // Acknowledged alerts stay open until their cause ends.
  const open = alerts ? alerts.active + alerts.acknowledged : null
  const worst = site.highest_alert_severity
  return (
    <Figure
      label="Open alerts"
      value={open ?? none}
      {...((worst === 'critical' || worst === 'major') && { tone: 'bad' as const })}
      note={
        <>
          {worst && `Highest severity: ${inWords(worst).toLowerCase()}. `}
          {open === 0 && status.health_status === 'healthy' && 'No action needed. '}
          {alerts && alerts.acknowledged > 0 && `${alerts.acknowledged} acknowledged. `}
          <Anchor
            size="sm"
            component={Link}
            href={`/sites/${site.site_id}/alerts`}
            underline="always"
          >
            Alerts
          </Anchor>
        </>
      }
    />
  )
}
