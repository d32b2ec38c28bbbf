/** Tools about forecasts, prices, batteries, curtailment and revenue. */
import { type Static, Type } from 'typebox'
import type { BatteryNow } from '../batteries/current.ts'
import type { Schedule } from '../batteries/schedules.ts'
import type { BatteryUnit } from '../batteries/units.ts'
import type { CurtailmentRow } from '../control/curtailment-row.ts'
import type { EarningsSummary } from '../earnings/schemas.ts'
import type { Production } from '../forecasts/schemas.ts'
import * as field from '../http/fields.ts'
import type { MarketDay, MarketRecord } from '../markets/schemas.ts'
import { Id, period, site_id } from './inputs.ts'
import {
  type Agent,
  type Listed,
  lines,
  moneyOf,
  Refusal,
  siteUrl,
  sumOf,
  table,
  tool,
} from './tool.ts'

const forecastCheck = tool({
  name: 'forecast_check',
  title: 'Forecast against what came',
  description:
    'Energy that was forecast before the gate closure of the market, and what came, by day (UTC). ' +
    'Energy lost to curtailment counts as available. The period defaults to 48 hours from today.',
  scopes: ['predictions:read'],
  input: { site_id, ...period, logger_id: Type.Optional(Id('A plant of the site.')) },
  async run({ site_id, ...query }, agent) {
    const path = siteUrl(site_id, '/predictions/production')
    const { data } = await agent.read<Listed<Production>>(path, query)
    const days = [...Map.groupBy(data, ({ start_at }) => start_at.slice(0, 10))]
    const rows = days.map(([date, steps]) => {
      const known = steps.filter(({ inside_band }) => inside_band !== null)
      return {
        date,
        p50_kwh: sumOf(steps, 'p50_kwh'),
        known_p50_kwh: sumOf(known, 'p50_kwh'),
        actual_kwh: sumOf(steps, 'actual_kwh'),
        actual_available_kwh: sumOf(known, 'actual_available_kwh'),
        error_kwh: sumOf(known, 'error_kwh'),
        steps_inside_p10_p90: known.filter(({ inside_band }) => inside_band).length,
        known_steps: known.length,
      }
    })
    const actual_available_kwh = sumOf(rows, 'actual_available_kwh')
    const error_kwh = sumOf(rows, 'error_kwh')
    const share =
      error_kwh !== null && actual_available_kwh
        ? `The median was ${((100 * error_kwh) / actual_available_kwh).toFixed(1)} % above what was available.`
        : 'Nothing has come yet that a forecast covers.'
    const fields = Object.keys(rows[0] ?? {}) as (keyof (typeof rows)[number])[]
    return [share, table(rows, fields), agent.page(site_id, '/predictions')].join('\n\n')
  },
})

const marketPrices = tool({
  name: 'market_prices',
  title: 'Day-ahead prices',
  description:
    'Day-ahead prices of the market of the site by hour. Next: battery_plan, which shows what a ' +
    'battery does with them.',
  scopes: ['markets:read'],
  input: {
    site_id,
    target_date: field.UtcDay,
    market_code: Type.Optional(
      field.Text('Defaults to the market of the plants.', { maxLength: 20 }),
    ),
  },
  async run({ site_id, target_date, market_code }, agent) {
    const code = market_code ?? (await homeMarket(agent, site_id))
    const path = siteUrl(site_id, `/markets/${encodeURIComponent(code)}/prices`)
    const { data, meta } = await agent.read<Static<typeof MarketDay>>(path, { target_date })
    const hours = [...Map.groupBy(data, ({ start_at }) => `${start_at.slice(0, 13)}:00Z`)]
    const rows = hours.map(([hour_at, periods]) => {
      const known = periods.filter(({ price_per_mwh }) => price_per_mwh !== null)
      const sum = sumOf(known, 'price_per_mwh')
      return { hour_at, price_per_mwh: sum === null ? null : sum / known.length }
    })
    return [
      lines(meta, [
        'market_code',
        'target_date',
        'currency',
        'status',
        'base_price_per_mwh',
        'min_price_per_mwh',
        'max_price_per_mwh',
        'negative_period_count',
        'solar_weighted_price_per_mwh',
      ]),
      table(rows, ['hour_at', 'price_per_mwh']),
      agent.page(site_id, '/markets'),
    ].join('\n\n')
  },
})

async function homeMarket(agent: Agent, site_id: string): Promise<string> {
  const { data } = await agent.read<Listed<MarketRecord>>(siteUrl(site_id, '/markets'))
  const [home] = data.toSorted(
    (a, b) => b.assigned_logger_ids.length - a.assigned_logger_ids.length,
  )
  if (home && home.assigned_logger_ids.length > 0) return home.market_code
  const codes = data.map(({ market_code }) => market_code).join(', ')
  throw new Refusal(`no_market: no plant has a market; give market_code, one of ${codes}`)
}

const batteryPlan = tool({
  name: 'battery_plan',
  title: 'Batteries, and what they will do',
  description:
    'State of charge of each battery, and its schedule of a day by hour with prices and expected ' +
    'revenue. Power is positive when discharging. Next: propose_battery_plan.',
  scopes: ['bess:read'],
  input: { site_id, target_date: field.UtcDay },
  async run({ site_id, target_date }, agent) {
    const units = await agent.read<Listed<BatteryUnit>>(siteUrl(site_id, '/bess'))
    const parts: string[] = []
    for (const { bess_id, name } of units.data.filter(({ retired_at }) => retired_at === null)) {
      const unit = siteUrl(site_id, `/bess/${bess_id}`)
      const now = await agent.read<BatteryNow>(`${unit}/current`)
      const days = await agent.read<Listed<Schedule>>(`${unit}/schedules`, { target_date })
      const inForce = days.data.find(
        ({ approved_at, superseded_at }) => approved_at && !superseded_at,
      )
      const open = days.data.find(({ status }) => status === 'proposed')
      parts.push(
        `## Battery ${bess_id}: ${name}`,
        lines(now, ['measured_at', 'quality', 'state', 'power_kw', 'setpoint_kw', 'soc_pct']),
        inForce ? scheduleText(inForce) : 'No approved schedule for the day.',
        ...(open ? [scheduleText(open)] : []),
        agent.page(site_id, `/batteries/${bess_id}/day`),
      )
    }
    return parts.join('\n\n') || 'The site has no battery in service.'
  },
})

const scheduleText = (schedule: Schedule) =>
  [
    lines(schedule, ['schedule_id', 'target_date', 'status', 'objective', 'created_by']),
    lines(schedule.totals, [
      'charge_kwh',
      'discharge_kwh',
      'expected_net_amount',
      'expected_without_battery_amount',
      'currency',
    ]),
    table(
      schedule.hours.filter(({ power_kw }) => power_kw !== 0),
      [
        'start_at',
        'power_kw',
        'actual_power_kw',
        'soc_end_pct',
        'price_per_mwh',
        'expected_amount',
      ],
    ),
  ].join('\n')

const curtailmentCost = tool({
  name: 'curtailment_cost',
  title: 'What curtailment cost',
  description:
    'Curtailment orders of the last days, in force and ended, with lost energy and revenue. ' +
    'Next: propose_curtailment.',
  scopes: ['curtailment:read'],
  input: {
    site_id,
    days: Type.Optional(
      field.Int('Days to go back. Defaults to 90.', { minimum: 1, maximum: 365 }),
    ),
  },
  async run({ site_id, days }, agent) {
    const path = siteUrl(site_id, '/curtailment')
    const open = await agent.read<Listed<CurtailmentRow>>(path)
    const past = await agent.read<Listed<CurtailmentRow>>(`${path}/history`, { days })
    const rows = [...open.data, ...past.data]
    return [
      `${rows.length} orders, lost energy ${Math.round(sumOf(rows, 'curtailed_energy_kwh') ?? 0)} kWh, ` +
        `lost revenue ${moneyOf(rows, 'lost_revenue_amount')}, ` +
        `avoided cost ${moneyOf(rows, 'avoided_cost_amount')}.`,
      table(rows, [
        'group_id',
        'logger_id',
        'status',
        'start_at',
        'end_at',
        'max_power_kw',
        'curtailed_energy_kwh',
        'lost_revenue_amount',
        'avoided_cost_amount',
        'currency',
        'created_by',
        'releasing_reason',
      ]),
      agent.page(site_id, '/curtailment'),
    ].join('\n\n')
  },
})

const revenue = tool({
  name: 'revenue',
  title: 'Revenue of a period',
  description:
    'Gross, fees and net revenue, prices achieved against the market, and cost of negative prices ' +
    'and curtailment. Dates are UTC days, both inclusive; the period defaults to the month to date.',
  scopes: ['earnings:read'],
  input: {
    site_id,
    start: Type.Optional(field.Day('First day.', '2026-06-01')),
    end: Type.Optional(field.Day('Last day.', '2026-06-21')),
  },
  async run({ site_id, ...query }, agent) {
    const path = siteUrl(site_id, '/earnings/summary')
    const summary = await agent.read<Static<typeof EarningsSummary>>(path, query)
    const known = Object.keys(summary) as (keyof typeof summary)[]
    const shown = known.filter((name) => typeof summary[name] !== 'object')
    const plants = summary.by_logger ?? []
    return [
      lines(summary, shown),
      table(plants, ['logger_id', 'energy_sold_kwh', 'net_amount', 'capture_rate_pct']),
      agent.page(site_id, '/earnings'),
    ].join('\n\n')
  },
})

export const marketTools = [forecastCheck, marketPrices, batteryPlan, curtailmentCost, revenue]
