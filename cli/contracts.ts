import {
  type Contracts,
  type ContractsImport,
  importContracts,
  listContracts,
} from '@heliograph/server/contracts/admin'
import type { Command } from 'commander'
import { type Cli, command, type JsonOption } from './command.ts'
import { print, table } from './terminal.ts'

export function addContractCommands(program: Command, { terminal, withAdmin }: Cli): void {
  const contracts = program.command('contracts').description('contracts and fees of plants')

  command(
    contracts,
    'import <file>',
    'Replace the contracts and fees of a site by those of a YAML file, all or nothing.',
    'contracts import contracts.yaml --site pv-south --dry-run',
  )
    .requiredOption('--site <site_id>', 'the site')
    .option('--dry-run', 'only show the changes')
    .action(async (file: string, options: JsonOption & { site: string; dryRun?: boolean }) => {
      const dry_run = !!options.dryRun
      const order = { file, site_id: options.site, dry_run }
      const report = await withAdmin((admin) => importContracts(admin, order))
      const text = `${importText(report)}${dry_run ? '\nNothing was changed.' : ''}`
      print(terminal, { json: { dry_run, ...report }, text }, !!options.json)
    })

  command(
    contracts,
    'list',
    'List the contracts and fees of a site.',
    'contracts list --site pv-south',
  )
    .requiredOption('--site <site_id>', 'the site')
    .action(async (options: JsonOption & { site: string }) => {
      const site_id = options.site
      const found = await withAdmin((admin) => listContracts(admin, { site_id }))
      print(terminal, { json: found, text: listText(found) }, !!options.json)
    })
}

function importText({ assignments, fees }: ContractsImport): string {
  const line = (what: string, { added, changed, unchanged, removed }: typeof fees) =>
    `${what}: ${added} new, ${changed} changed, ${unchanged} unchanged, ${removed} removed.`
  return `${line('Contracts', assignments)}\n${line('Fees', fees)}`
}

function listText({ assignments, fees }: Contracts): string {
  if (assignments.length === 0) return 'The site has no contracts.'
  const of_plants = table(
    ['LOGGER', 'FROM', 'TO', 'MARKET', 'TYPE', 'FIXED', 'FLOOR', 'CURRENCY', 'OFFTAKER'],
    assignments.map((item) => [
      String(item.logger_id),
      item.valid_from,
      item.valid_to ?? '-',
      item.sold_market_code === null
        ? item.market_code
        : `${item.market_code} > ${item.sold_market_code}`,
      item.contract_type,
      item.fixed_price ?? '-',
      item.floor_price ?? '-',
      item.currency,
      item.offtaker ?? '-',
    ]),
  )
  if (fees.length === 0) return `${of_plants}\n\nThe site has no fees.`
  const of_fees = table(
    ['LOGGER', 'FROM', 'TO', 'CODE', 'BASIS', 'VALUE', 'NAME'],
    fees.map((fee) => [
      fee.logger_id === null ? 'each' : String(fee.logger_id),
      fee.valid_from,
      fee.valid_to ?? '-',
      fee.code,
      fee.basis,
      `${fee.value} ${fee.currency ?? '%'}`,
      fee.name,
    ]),
  )
  return `${of_plants}\n\n${of_fees}`
}
