/**
 * What standing orders save at the shared prices: `npm run score:standing-orders`. A plant of 1 MWp
 * with the shape of clear days, at a constant share of their energy. Each order is compared with no
 * action and with the perfect one, which delivers nothing wherever delivery costs money.
 */
import { existsSync, readFileSync } from 'node:fs'
import { quarter_ms } from '@heliograph/domain/durations'
import { hoursOfLocalDate, localInstant } from '@heliograph/domain/local-day'
import type { Place } from '@heliograph/domain/place'
import { contractPrice, type PriceTerms } from '@heliograph/server/contracts/contract-price'
import { clearSkyEnergy } from '@heliograph/server/control/clear-sky-energy'
import { periodsBelow } from '@heliograph/server/control/standing-plan'

const auction_timezone = 'Europe/Berlin'
const rated_power_kw = 800
/** Energy of a year by that of clear days: about 1100 kWh per kWp in the south of Germany. */
const clearness = 0.6
/** A command cannot set 0. */
const least_limit_pct = 1
/** Part of the perfect saving that the order without a bound on hours must reach. */
const share_min = 0.95

interface Priced {
  start_ms: number
  /** Length of the period that has this price. */
  quarters: number
  price: number
}

/** Rows of a date in the order of its periods: their numbers are wrong when the clock changes. */
const bulgarian =
  (quarters: number): ReadRows =>
  (rows) =>
    [...Map.groupBy(rows, ([date]) => date!)].flatMap(([date, periods]) => {
      const { from_ms } = hoursOfLocalDate(date, auction_timezone)
      return periods.map(([, , price], nth) => {
        return { start_ms: from_ms + nth * quarters * quarter_ms, quarters, price: Number(price) }
      })
    })
const plovdiv = { latitude: 42.1, longitude: 24.7, elevation_m: 160 }

const markets: readonly { name: string; file: string; place: Place; priced: ReadRows }[] = [
  {
    name: 'Germany, hours of 2023 from 30 January',
    file: 'europe_hourly_2023_cet.csv',
    place: { latitude: 48.6, longitude: 12.1, elevation_m: 400 },
    // The columns are times and zones; Germany is the eighth zone.
    priced: (rows) =>
      rows.flatMap(([time, ...zones]) => {
        const [date, clock] = time!.split(' ') as [string, string]
        const start_ms = localInstant(date, clock, auction_timezone)
        return zones[7] ? [{ start_ms, quarters: 4, price: Number(zones[7]) }] : []
      }),
  },
  {
    name: 'Bulgaria, hours of 2022 to 2024',
    file: 'ibex_bg_hourly_2022_2024.csv',
    place: plovdiv,
    priced: bulgarian(4),
  },
  {
    name: 'Bulgaria, quarter hours of October to December 2025',
    file: 'ibex_bg_15min_2025-10_2025-12.csv',
    place: plovdiv,
    priced: bulgarian(1),
  },
]
type ReadRows = (rows: readonly string[][]) => Priced[]

const none = { fixed_price: null, floor_price: null }
const contracts: readonly { name: string; terms: PriceTerms; fee: number }[] = [
  { name: 'spot', terms: { contract_type: 'spot', ...none, pays_at_negative_price: true }, fee: 0 },
  {
    name: 'spot, fee of 3 per MWh',
    terms: { contract_type: 'spot', ...none, pays_at_negative_price: true },
    fee: 3,
  },
  {
    name: 'premium of 20, not at negative prices',
    terms: {
      contract_type: 'feed_in_premium',
      fixed_price: 20e6,
      floor_price: null,
      pays_at_negative_price: false,
    },
    fee: 0,
  },
  {
    name: 'premium of 20, also at negative prices',
    terms: {
      contract_type: 'feed_in_premium',
      fixed_price: 20e6,
      floor_price: null,
      pays_at_negative_price: true,
    },
    fee: 0,
  },
]

const orders = [
  { name: 'below 0', below: 0, limit_pct: least_limit_pct, hours_max: Infinity },
  { name: 'below 0, 4 h a day', below: 0, limit_pct: least_limit_pct, hours_max: 4 },
  { name: 'below 0, 2 h a day', below: 0, limit_pct: least_limit_pct, hours_max: 2 },
  { name: 'below -10', below: -10, limit_pct: least_limit_pct, hours_max: Infinity },
  { name: 'below 0, limit 30 %', below: 0, limit_pct: 30, hours_max: Infinity },
]

interface Quarter {
  start_ms: number
  energy_kwh: number
  net_micro: number
}

function main(): void {
  for (const { name, file, place, priced } of markets) {
    print(`\n${name}`)
    const panels = [{ azimuth_deg: 180, tilt_deg: 25, dc_capacity_kwp: 1000 }]
    const energy = clearSkyEnergy(place, { panels, rated_power_kw })
    const rows = priced(readRows(file)).flatMap(({ start_ms, quarters, price }) =>
      Array.from({ length: quarters }, (_, nth) => {
        const at_ms = start_ms + nth * quarter_ms
        const energy_kwh = clearness * energy(at_ms, at_ms + quarter_ms)
        return { start_ms: at_ms, price, energy_kwh }
      }),
    )
    for (const { name, terms, fee } of contracts) {
      const quarters = rows.map(({ price, ...rest }) => {
        return { ...rest, net_micro: contractPrice(terms, Math.round(1e6 * price))! - 1e6 * fee }
      })
      score(name, quarters)
    }
  }
}

/** Amounts in EUR. */
const worthOf = (energy_kwh: number, net_micro: number) => (energy_kwh / 1000) * (net_micro / 1e6)

function score(contract: string, quarters: readonly Quarter[]): void {
  const revenue = sum(quarters, ({ energy_kwh, net_micro }) => worthOf(energy_kwh, net_micro))
  const perfect = sum(quarters, ({ energy_kwh, net_micro }) =>
    Math.max(0, -worthOf(energy_kwh, net_micro)),
  )
  print(`  ${contract}: no action ${revenue.toFixed(0)}, perfect saves ${perfect.toFixed(0)}`)
  for (const { name, below, limit_pct, hours_max } of orders) {
    const limit_kwh = (rated_power_kw * limit_pct) / 100 / 4
    const limited = limitedQuarters(quarters, { below, hours_max })
    const saved = sum(
      limited,
      ({ energy_kwh, net_micro }) => -worthOf(Math.max(0, energy_kwh - limit_kwh), net_micro),
    )
    const share = perfect > 0 ? saved / perfect : 1
    const hours = limited.length / 4
    print(
      `    ${name.padEnd(22)} saves ${saved.toFixed(0).padStart(6)}` +
        `  ${(100 * share).toFixed(1).padStart(5)} % of perfect, ${hours.toFixed(0)} h`,
    )
    if (below === 0 && limit_pct === least_limit_pct && hours_max === Infinity) {
      if (share < share_min) process.exitCode = 1
    }
  }
}

/** The daylight quarter hours that the order limits, day by day. */
function limitedQuarters(
  quarters: readonly Quarter[],
  { below, hours_max }: { below: number; hours_max: number },
): Quarter[] {
  const daylight = quarters.filter(({ energy_kwh }) => energy_kwh > 0)
  const dates = Map.groupBy(daylight, ({ start_ms }) => dateOf(start_ms))
  return [...dates.values()].flatMap((of_day) => {
    const bounds = { below_micro: 1e6 * below, quarters_max: 4 * hours_max }
    const periods = periodsBelow(of_day, bounds)
    return of_day.filter(({ start_ms }) =>
      periods.some((one) => one.start_ms <= start_ms && start_ms < one.end_ms),
    )
  })
}

const dates = new Intl.DateTimeFormat('sv', { timeZone: auction_timezone })
const dateOf = (at_ms: number) => dates.format(at_ms)

function readRows(file: string): string[][] {
  const path = new URL(`../../shared/data/prices/${file}`, import.meta.url)
  if (!existsSync(path)) throw new Error(`no prices at ../shared/data/prices/${file}`)
  const [, ...lines] = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line) => line.split(','))
}

const sum = <Item>(items: readonly Item[], of: (item: Item) => number) =>
  items.reduce((total, item) => total + of(item), 0)

const print = (line: string) => process.stdout.write(`${line}\n`)

main()
