/**
 * Score of price forecasts on the shared data: `npm run score:prices -- --data de|bg`. Takes
 * minutes. Every day is forecast by a model trained on earlier days. The models were tuned on the
 * German 2015 and the Bulgarian 2023, not on the years that are scored by default.
 */
import { parseArgs } from 'node:util'
import type { MarketDay } from '@heliograph/forecast/market-days'
import { coverage, meanAbsoluteError, pinballLoss } from '@heliograph/forecast/scores'
import { seededRandom } from '@heliograph/forecast/seeded-random'
import {
  type PriceData,
  type ReplayedDay,
  readScoredYear,
  replay,
  test_year,
} from './price-replay.ts'

const retrain_days = 14
/**
 * Mean absolute errors of 2016 by the published forecasts of J. Lago, G. Marcjasz, B. De Schutter
 * and R. Weron, Applied Energy 293, 2021.
 */
const published = { 'LEAR ensemble, published': 2.96, 'DNN ensemble, published': 2.94 }
/** Limits of the test years: German errors in EUR/MWh, Bulgarian relative to the naive one. */
const limits = { de_error: 3.0, bg_share: 0.8, coverage: [0.78, 0.82] } as const

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: 'de' },
    year: { type: 'string' },
    days: { type: 'string' },
  },
})

type Row = ReplayedDay['forecasts'][number] & {
  actual: number
  day_before: number
  week_before: number
}

function main(data: PriceData): void {
  const { all: days, year, first, end } = readScoredYear(data, values)
  const started = process.cpuUsage()
  const rows = rowsOf(days, replay(days, { first, end, retrain_days }, seededRandom(1)))
  const seconds = process.cpuUsage(started).user / 1e6
  const isTest = values.days === undefined && year === test_year[data]
  print(`${data} ${year}: ${end - first} days, a model every ${retrain_days} of them`)
  const errors = printErrors(rows)
  if (data === 'de' && isTest) {
    for (const [name, error] of Object.entries(published)) printFigure(name, error)
  }
  const covered = printQuantiles(rows)
  printNegative(rows)
  print(`${seconds.toFixed(0)} s of processor time`)
  if (!isTest) return
  const [low, high] = limits.coverage
  const error_max = data === 'de' ? limits.de_error : limits.bg_share * errors.day_before
  print(`limits: error ${error_max.toFixed(3)}, share within ${low} to ${high}`)
  const isGood = errors.p50 <= error_max && covered >= low && covered <= high
  process.exitCode = isGood ? 0 : 1
}

/** Forecasts, real prices, and the naive forecast. */
function rowsOf(days: readonly MarketDay[], replayed: readonly ReplayedDay[]): Row[] {
  const by_day = new Map(days.map((day) => [day.day, day]))
  return replayed.flatMap(({ day, forecasts }) =>
    forecasts.map((forecast, i) => {
      const { price_per_mwh, clock_minute } = day.periods[i]!
      const before = (lag: number) => by_day.get(day.day - lag)?.price?.[clock_minute / 15]
      return {
        ...forecast,
        actual: price_per_mwh!,
        day_before: before(1) ?? Number.NaN,
        week_before: before(7) ?? Number.NaN,
      }
    }),
  )
}

function printErrors(rows: readonly Row[]): { p50: number; day_before: number } {
  const error = (of: (row: Row) => number) =>
    meanAbsoluteError(
      column(rows, (row) => row.actual),
      column(rows, of),
    )!
  const p50 = error((row) => row.p50)
  const day_before = error((row) => row.day_before)
  print('mean absolute error per MWh')
  printFigure('this forecast, P50', p50)
  printFigure('price of the day before', day_before)
  printFigure(
    'price of the week before',
    error((row) => row.week_before),
  )
  return { p50, day_before }
}

/** Prints the coverage of the quantiles, and returns the share of prices between the outer two. */
function printQuantiles(rows: readonly Row[]): number {
  const actual = column(rows, (row) => row.actual)
  const [p10, p50, p90] = (['p10', 'p50', 'p90'] as const).map((quantile) =>
    column(rows, (row) => row[quantile]),
  )
  const covered = coverage(actual, p10!, p90!)!
  print('quantiles')
  printFigure('share within P10 to P90', covered)
  printFigure(
    'share below P10',
    mean(rows, (row) => Number(row.actual < row.p10)),
  )
  printFigure(
    'share above P90',
    mean(rows, (row) => Number(row.actual > row.p90)),
  )
  printFigure('pinball loss of P10', pinballLoss(actual, p10!, 0.1)!)
  printFigure('pinball loss of P50', pinballLoss(actual, p50!, 0.5)!)
  printFigure('pinball loss of P90', pinballLoss(actual, p90!, 0.9)!)
  printFigure(
    'rows out of order',
    rows.filter((row) => row.p10 > row.p50 || row.p50 > row.p90).length,
  )
  return covered
}

function printNegative(rows: readonly Row[]): void {
  const share = mean(rows, (row) => Number(row.actual < 0))
  print('prices below 0')
  printFigure('share', share)
  const brier = mean(rows, (row) => (row.negative_probability! - Number(row.actual < 0)) ** 2)
  printFigure('Brier score of their chance', brier)
  printFigure('Brier score of the share', share * (1 - share))
}

function column(rows: readonly Row[], of: (row: Row) => number): Float64Array {
  return Float64Array.from(rows, of)
}

function mean(rows: readonly Row[], of: (row: Row) => number): number {
  return rows.reduce((sum, row) => sum + of(row), 0) / rows.length
}

function printFigure(name: string, figure: number): void {
  print(`  ${name.padEnd(28)} ${figure.toFixed(3)}`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

if (values.data !== 'de' && values.data !== 'bg') throw new Error('--data: de or bg')
main(values.data)
