/** The metrics of a site that are stored in `site_status`, as of now, and their totals. */
import { rounded, significant } from '@heliograph/domain/significant'
import type { AlertCounts } from '../../alerts/counts.ts'
import { mayRead } from '../../http/authorize.ts'
import type { Caller } from '../../http/endpoint.ts'
import { ageInSeconds, iso, isStale } from '../../plant/frame.ts'
import type { Site } from '../../plant/site.ts'
import { counted_s_max, type SiteStatus, type SiteTotals } from '../../plant/site-status.ts'
import type { Situation } from '../../plant/situation.ts'
import type { StatusRow } from './store.ts'

/** A higher ratio means that a part of the day is not summed up yet, %. */
const plausible_max_pct = 105

/** The metrics of a site before scopes apply. */
export interface Metrics {
  power: Pick<SiteStatus, 'ac_power_kw' | 'power_at'> & { is_counted: boolean }
  energy: Pick<SiteStatus, 'energy_today_kwh' | 'energy_to_expected_pct' | 'energy_at'> & {
    compared_kwh: number
    expected_kwh: number
  }
  revenue: Pick<SiteStatus, 'revenue_today_amount' | 'currency' | 'revenue_at'>
  open_alert_count: number
}

/** The present date in a time zone. */
export type DateIn = (timezone: string) => string

export const metricsOf = (
  row: StatusRow & { timezone: string },
  alerts: AlertCounts,
  situation: Situation,
  dateIn: DateIn,
): Metrics => ({
  power: powerOf(row, situation),
  energy: energyOf(row, dateIn),
  revenue: revenueOf(row, dateIn),
  open_alert_count: alerts.active + alerts.acknowledged,
})

/** By the rule of the plant status, inverters produce nothing while the sun is down. */
function powerOf({ ac_power_kw, power_at }: StatusRow, situation: Situation): Metrics['power'] {
  const { now, sun_elevation_deg, poll } = situation
  if (power_at === null) return { ac_power_kw: null, power_at: null, is_counted: false }
  const is_dark = sun_elevation_deg !== null && sun_elevation_deg < 0
  if (is_dark && isStale(power_at, poll.inverter_s, now)) {
    return { ac_power_kw: 0, power_at: iso(now), is_counted: true }
  }
  return {
    ac_power_kw: significant(ac_power_kw),
    power_at: iso(power_at),
    is_counted: ac_power_kw !== null && ageInSeconds(power_at, now) <= counted_s_max,
  }
}

const unknown_energy = {
  energy_today_kwh: null,
  energy_to_expected_pct: null,
  energy_at: null,
  compared_kwh: 0,
  expected_kwh: 0,
}

function energyOf(row: StatusRow & { timezone: string }, dateIn: DateIn): Metrics['energy'] {
  const { energy_date, compared_energy_kwh, expected_energy_kwh } = row
  if (energy_date !== dateIn(row.timezone)) return unknown_energy
  const ratio_pct = ratioOf(compared_energy_kwh ?? 0, expected_energy_kwh ?? 0)
  return {
    energy_today_kwh: rounded(row.energy_today_kwh, 3),
    energy_to_expected_pct: ratio_pct,
    energy_at: iso(row.energy_at),
    compared_kwh: ratio_pct === null ? 0 : compared_energy_kwh!,
    expected_kwh: ratio_pct === null ? 0 : expected_energy_kwh!,
  }
}

/** Null without expected energy, and for a negative or implausible ratio. */
function ratioOf(energy_kwh: number, expected_kwh: number): number | null {
  if (!(expected_kwh > 0)) return null
  const ratio_pct = (100 * energy_kwh) / expected_kwh
  return ratio_pct < 0 || ratio_pct > plausible_max_pct ? null : rounded(ratio_pct, 2)
}

function revenueOf(row: StatusRow, dateIn: DateIn): Metrics['revenue'] {
  const { revenue_date, revenue_timezone } = row
  if (revenue_timezone === null || revenue_date !== dateIn(revenue_timezone)) {
    return { revenue_today_amount: null, currency: null, revenue_at: null }
  }
  const { net_revenue, revenue_currency, revenue_at } = row
  return {
    revenue_today_amount: net_revenue,
    currency: revenue_currency,
    revenue_at: iso(revenue_at),
  }
}

export function statusFor(
  { power, energy, revenue, open_alert_count }: Metrics,
  caller: Caller,
): SiteStatus {
  const of_plant = mayRead(caller, 'plant:read')
  const of_money = mayRead(caller, 'earnings:read')
  return {
    ac_power_kw: of_plant ? power.ac_power_kw : null,
    power_at: of_plant ? power.power_at : null,
    energy_today_kwh: of_plant ? energy.energy_today_kwh : null,
    energy_to_expected_pct: of_plant ? energy.energy_to_expected_pct : null,
    energy_at: of_plant ? energy.energy_at : null,
    revenue_today_amount: of_money ? revenue.revenue_today_amount : null,
    currency: of_money ? revenue.currency : null,
    revenue_at: of_money ? revenue.revenue_at : null,
    open_alert_count: mayRead(caller, 'alerts:read') ? open_alert_count : null,
  }
}

type Counted = Pick<Site, 'ac_capacity_kw' | 'health_status'>

/** Sums over sites. A metric that the caller may not read is null, and counts no site. */
export function totalsFor(
  sites: readonly { site: Counted; metrics: Metrics }[],
  caller: Caller,
): SiteTotals {
  const may_read_plant = mayRead(caller, 'plant:read')
  const of_plant = may_read_plant ? sites.map(({ metrics }) => metrics) : []
  const powers = of_plant.flatMap(({ power }) => (power.is_counted ? power.ac_power_kw! : []))
  const energies = of_plant.flatMap(({ energy }) => energy.energy_today_kwh ?? [])
  const compared = of_plant.filter(({ energy }) => energy.energy_to_expected_pct !== null)
  const compared_kwh = sumOf(compared.map(({ energy }) => energy.compared_kwh)) ?? 0
  const expected_kwh = sumOf(compared.map(({ energy }) => energy.expected_kwh)) ?? 0
  const power_kw = sumOf(powers)
  const withHealth = (wanted: Site['health_status']) =>
    sites.filter(({ site }) => site.health_status === wanted).length
  return {
    ac_capacity_kw: rounded(sumOf(sites.map(({ site }) => site.ac_capacity_kw)), 3) ?? 0,
    ac_power_kw: significant(power_kw),
    power_site_count: powers.length,
    energy_today_kwh: rounded(sumOf(energies), 3),
    energy_site_count: energies.length,
    energy_to_expected_pct: ratioOf(compared_kwh, expected_kwh),
    expected_site_count: compared.length,
    revenue_today: mayRead(caller, 'earnings:read') ? revenueTotals(sites) : [],
    open_alert_count: mayRead(caller, 'alerts:read')
      ? (sumOf(sites.map(({ metrics }) => metrics.open_alert_count)) ?? 0)
      : null,
    healthy_count: withHealth('healthy'),
    degraded_count: withHealth('degraded'),
    offline_count: withHealth('offline'),
    unknown_count: withHealth('unknown'),
  }
}

function revenueTotals(sites: readonly { metrics: Metrics }[]): SiteTotals['revenue_today'] {
  const known = sites.flatMap(({ metrics: { revenue } }) => {
    const { currency, revenue_today_amount } = revenue
    return currency === null || revenue_today_amount === null
      ? []
      : { currency, revenue_today_amount }
  })
  return [...Map.groupBy(known, ({ currency }) => currency)]
    .map(([currency, of_currency]) => ({
      currency,
      net_amount: rounded(sumOf(of_currency.map((one) => one.revenue_today_amount)), 2)!,
      site_count: of_currency.length,
    }))
    .toSorted((a, b) => Number(a.currency > b.currency) - Number(a.currency < b.currency))
}

const sumOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0)
