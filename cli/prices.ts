import { importPrices, type PriceImport } from '@heliograph/server/markets/admin'
import type { Command } from 'commander'
import { type Cli, command, type JsonOption } from './command.ts'
import { minute, print } from './terminal.ts'

interface ImportOptions extends JsonOption {
  market: string
  kind: string
}

export function addPriceCommands(program: Command, { terminal, withAdmin }: Cli): void {
  const prices = program.command('prices').description('prices of electricity')

  command(
    prices,
    'import <file>',
    'Import prices from a CSV file: start_at,end_at,price_per_mwh and optionally currency.',
    'prices import imbalance-2026.csv --market BG --kind imbalance',
  )
    .requiredOption('--market <code>', 'market code, see `markets list`')
    .option('--kind <kind>', 'day_ahead or imbalance', 'day_ahead')
    .action(async (file: string, { market, kind, json }: ImportOptions) => {
      const done = await withAdmin((admin) =>
        importPrices(admin, { file, market_code: market, kind }),
      )
      print(terminal, { json: done, text: importText(done) }, !!json)
    })
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
