import { listRates, setRate } from '@heliograph/server/markets/admin'
import type { Command } from 'commander'
import { type Cli, command, type JsonOption } from './command.ts'
import { print, table } from './terminal.ts'

interface SetOptions extends JsonOption {
  from: string
}

export function addRateCommands(program: Command, { terminal, withAdmin }: Cli): void {
  const rates = program.command('rates').description('exchange rates against the euro')

  command(
    rates,
    'set <currency> <per-eur>',
    'Set the exchange rate of a currency against the euro from a day on.',
    'rates set PLN 4.2715 --from 2026-11-01',
  )
    .requiredOption('--from <date>', 'first day, UTC')
    .action(async (currency: string, per_eur: string, { from, json }: SetOptions) => {
      const rate = { currency, per_eur, valid_from: from }
      await withAdmin((admin) => setRate(admin, rate))
      const text = `From ${from}: 1 EUR = ${per_eur} ${currency}.`
      print(terminal, { json: rate, text }, !!json)
    })

  command(rates, 'list', 'List the rates, the newest of each currency first.', 'rates list').action(
    async ({ json }: JsonOption) => {
      const all = await withAdmin(listRates)
      const rows = all.map((rate) => [rate.currency, rate.valid_from, rate.per_eur])
      const text = table(['CURRENCY', 'FROM', 'PER_EUR'], rows)
      print(terminal, { json: all, text }, !!json)
    },
  )
}
