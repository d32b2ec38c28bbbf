import { followMarket, type ListedMarket, listMarkets } from '@heliograph/server/markets/admin'
import type { Command } from 'commander'
import { type Cli, command, type JsonOption } from './command.ts'
import { minute, print, table } from './terminal.ts'

interface FollowOptions extends JsonOption {
  source: string
  from?: string | null
}

export function addMarketCommands(program: Command, { terminal, withAdmin }: Cli): void {
  const markets = program.command('markets').description('electricity markets')

  command(
    markets,
    'list',
    'List the markets, and the state of fetching their prices.',
    'markets list',
  ).action(async ({ json }: JsonOption) => {
    const all = await withAdmin(listMarkets)
    print(terminal, { json: all, text: marketTable(all) }, !!json)
  })

  command(
    markets,
    'follow <code>',
    'Set the source of the prices of a market, or none. Stored prices stay.',
    'markets follow DE-LU --source energy_charts --from 2026-01-01',
  )
    .requiredOption('--source <source>', 'entsoe, energy_charts, simulated or none')
    .option('--from <date>', 'first delivery day to fetch; defaults to today')
    .action(async (market_code: string, { source, from = null, json }: FollowOptions) => {
      const order = { market_code, source, from }
      const market = await withAdmin((admin) => followMarket(admin, order))
      const text = market.source
        ? `${market_code} follows ${market.source} from ${market.followed_from}.`
        : `${market_code} is not followed.`
      print(terminal, { json: market, text }, !!json)
    })
}

function marketTable(markets: readonly ListedMarket[]): string {
  return table(
    ['CODE', 'SOURCE', 'FROM', 'FETCHED', 'STATE', 'NAME'],
    markets.map(({ market_code, name, source, followed_from, ...fetch }) => [
      market_code,
      source ?? '-',
      followed_from ?? '-',
      minute(fetch.succeeded_at),
      fetch.failure_count > 0 ? `failed ${fetch.failure_count} times: ${fetch.last_failure}` : '-',
      name,
    ]),
  )
}
