/**
 * Revenue of a year of battery plans on the shared prices: `npm run score:plans -- --data de|bg`.
 * Each day is planned once, when its prices are published, and starts with the charge that the day
 * before left. The revenue is compared by the rule for the end of the day. The prices of the next
 * day are the P10 of forecasts by a model trained on earlier prices; training takes minutes.
 * `--outlook perfect` uses the real prices in place of forecasts, and takes a minute.
 */

import { parseArgs } from 'node:util'
import { hour_ms } from '@heliograph/domain/durations'
import type { MarketDay } from '@heliograph/forecast/market-days'
import { seededRandom } from '@heliograph/forecast/seeded-random'
import { planDispatch } from '@heliograph/optimize/dispatch'
import type { Period } from '@heliograph/optimize/dispatch-problem'
import { measure } from '@heliograph/optimize/goals'
import { bestEnds } from '@heliograph/optimize/outlook'
import { loadSolver } from '@heliograph/optimize/solver'
import { battery, periodsOf, problemOf } from './battery-problem.ts'
import { type PriceData, readScoredYear, replay } from './price-replay.ts'

const soc_first_pct = battery.soc_start_pct

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: 'de' },
    year: { type: 'string' },
    days: { type: 'string' },
    outlook: { type: 'string', default: 'forecast' },
    retrain: { type: 'string', default: '14' },
  },
})
if (values.outlook !== 'forecast' && values.outlook !== 'perfect') {
  throw new Error('--outlook: forecast or perfect')
}
const highs = await loadSolver()

/** State of charge at the end of a day, %, from that at its start. */
type EndRule = (day: Day, soc_start_pct: number) => number

interface Day {
  periods: Period[]
  /** Prices of the next day, as known when the day is planned. */
  outlook: Period[]
}

function main(data: PriceData): void {
  const { all, year, first, end } = readScoredYear(data, values)
  const days = daysOf(all, first, end)
  print(
    `${data} ${year}: ${days.length} days, 1 MW and 2 MWh, from ${soc_first_pct} % of charge on; ` +
      `outlook: ${values.outlook}`,
  )
  const before = printYear('ends as it began (before)', days, (_, soc_start_pct) => soc_start_pct)
  const ending = (outlook: (day: Day) => readonly Period[]): EndRule => {
    return (day, soc_start_pct) => endOf(day, soc_start_pct, outlook(day))
  }
  const free = printYear('ends empty', days, () => battery.soc_min_pct, before)
  printYear('what is left has a value', days, ending(noOutlook), before)
  const after = printYear('and the day after is planned', days, ending(outlookOf), before)
  const periods = days.flatMap((day) => day.periods)
  const whole = problemOf(periods, [{ ...battery, soc_end_pct: battery.soc_min_pct }])
  const { units } = planDispatch(highs, whole, { time_limit_s: 120 })
  printRow('whole year, planned at once', -measure(whole, units, 'money'), before)
  process.exitCode = after >= before && after >= free ? 0 : 1
}

const noOutlook = () => []
const outlookOf = ({ outlook }: Day) => outlook

/** Hours are counted from 0, independent of clock changes. */
function daysOf(all: readonly MarketDay[], first: number, end: number): Day[] {
  const forecasts =
    values.outlook === 'forecast'
      ? replay(all, { first, end, retrain_days: Number(values.retrain) }, seededRandom(1))
      : null
  let hours = 0
  const periodsFrom = (prices: readonly number[], hour: number) =>
    periodsOf(prices, { from_ms: hour * hour_ms, length_ms: hour_ms })
  const pricesOf = ({ periods }: MarketDay) => periods.map(({ price_per_mwh }) => price_per_mwh!)
  return all.slice(first, end).map((day, nth) => {
    const periods = periodsFrom(pricesOf(day), hours)
    hours += periods.length
    const next = first + nth + 1
    const prices = forecasts
      ? (forecasts[nth + 1]?.forecasts.map(({ p10 }) => p10) ?? [])
      : next < end
        ? pricesOf(all[next]!)
        : []
    return { periods, outlook: periodsFrom(prices, hours) }
  })
}

function endOf({ periods }: Day, soc_start_pct: number, outlook: readonly Period[]): number {
  const problem = problemOf(periods, [{ ...battery, soc_start_pct }])
  return bestEnds(highs, problem, { periods: outlook, cycles_max: [null] })![0]!
}

/** Prints and returns the revenue of a year, with the change of the charge at the mean price. */
function printYear(name: string, days: readonly Day[], rule: EndRule, before?: number): number {
  let earned = 0
  let soc_pct = soc_first_pct
  for (const day of days) {
    const unit = { ...battery, soc_start_pct: soc_pct, soc_end_pct: rule(day, soc_pct) }
    const problem = problemOf(day.periods, [unit])
    const { units, demands } = planDispatch(highs, problem)
    if (demands !== 'met') throw new Error(`${name}: ${demands}`)
    earned -= measure(problem, units, 'money')
    const { soc_min_pct, soc_max_pct } = battery
    soc_pct = Math.min(soc_max_pct, Math.max(soc_min_pct, units[0]!.soc_pct.at(-1)!))
  }
  const prices = days.flatMap(({ periods }) => periods.map(({ price }) => price!))
  const mean = prices.reduce((sum, price) => sum + price, 0) / prices.length
  const left_mwh = ((soc_pct - soc_first_pct) * battery.capacity_kwh) / 1e5
  const total = earned + left_mwh * battery.discharge_efficiency * mean
  printRow(name, total, before)
  return total
}

function printRow(name: string, total: number, before: number | undefined): void {
  const more = before === undefined ? '' : `${((total / before - 1) * 100).toFixed(2)} % more`
  print(`  ${name.padEnd(32)}${total.toFixed(0).padStart(10)} ${more.padStart(16)}`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

if (values.data !== 'de' && values.data !== 'bg') throw new Error('--data: de or bg')
main(values.data)
