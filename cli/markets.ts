import {
  followMarket,
  importPrices,
  type ListedMarket,
  listMarkets,
  listRates,
  type PriceImport,
  setRate,
} from '@heliograph/server/markets/admin'
import { type Cli, command, type Reporting } from './command.ts'
import { minute, tableOf } from './terminal.ts'

interface FollowOptions {
  source: string
  from?: string | null
}

export function addMarketCommands(program: Reporting, cli: Cli): void {
  addMarkets(program, cli)
  addPrices(program)
  addRates(program, cli)
}

function addMarkets(program: Reporting, { withAdmin }: Cli): void {
  const markets = program.command('markets').description('electricity markets')

  command(
    markets,
    'list',
    'List the markets, and the state of fetching their prices.',
    'markets list',
  ).fromDatabase(marketTable, listMarkets)

  command(
    markets,
    'follow <code>',
    'Set the source of the prices of a market, or none. Stored prices stay.',
    'markets follow DE-LU --source energy_charts --from 2026-01-01',
  )
    .requiredOption('--source <source>', 'entsoe, energy_charts, simulated or none')
    .option('--from <date>', 'first delivery day to fetch; defaults to today')
    .result(async (market_code: string, { source, from = null }: FollowOptions) => {
      const order = { market_code, source, from }
      const market = await withAdmin((admin) => followMarket(admin, order))
      const text = market.source
        ? `${market_code} follows ${market.source} from ${market.followed_from}.`
        : `${market_code} is not followed.`
      return { json: market, text }
    })
}

const marketTable = (markets: readonly ListedMarket[]) =>
  tableOf(markets, {
    CODE: 'market_code',
    SOURCE: 'source',
    FROM: 'followed_from',
    FETCHED: 'succeeded_at',
    STATE: ({ failure_count, last_failure }) =>
      failure_count > 0 ? `failed ${failure_count} times: ${last_failure}` : null,
    NAME: 'name',
  })

interface ImportOptions {
  market: string
  kind: string
}

function addPrices(program: Reporting): void {
  const prices = program.command('prices').description('prices of electricity')

  command(
    prices,
    'import <file>',
    'Import prices from a CSV file: start_at,end_at,price_per_mwh and optionally currency.',
    'prices import imbalance-2026.csv --market BG --kind imbalance',
  )
    .requiredOption('--market <code>', 'market code, see `markets list`')
    .option('--kind <kind>', 'day_ahead or imbalance', 'day_ahead')
    .fromDatabase(importText, (admin, file: string, { market, kind }: ImportOptions) =>
      importPrices(admin, { file, market_code: market, kind }),
    )
}

function importText(done: PriceImport): string {
  const { added_count, changed_count, unchanged_count, coarser_count } = done
  const counts =
    `${added_count} new, ${changed_count} changed (old values are stored), ` +
    `${unchanged_count} unchanged.`
  const coarser =
    coarser_count > 0 ? [`${coarser_count} skipped: prices with a finer resolution exist.`] : []
  const span = `${minute(done.start_at)} to ${minute(done.end_at)}`
  return [`${done.market_code}, ${span}: ${counts}`, ...coarser].join('\n')
}

function addRates(program: Reporting, { withAdmin }: Cli): void {
  const rates = program.command('rates').description('exchange rates against the euro')

  command(
    rates,
    'set <currency> <per-eur>',
    'Set the exchange rate of a currency against the euro from a day on.',
    'rates set PLN 4.2715 --from 2026-11-01',
  )
    .requiredOption('--from <date>', 'first day, UTC')
    .result(async (currency: string, per_eur: string, { from }: { from: string }) => {
      const rate = { currency, per_eur, valid_from: from }
      await withAdmin((admin) => setRate(admin, rate))
      const text = `From ${from}: 1 EUR = ${per_eur} ${currency}.`
      return { json: rate, text }
    })

  command(
    rates,
    'list',
    'List the rates, the newest of each currency first.',
    'rates list',
  ).fromDatabase(
    (all) => tableOf(all, { CURRENCY: 'currency', FROM: 'valid_from', PER_EUR: 'per_eur' }),
    listRates,
  )
}
