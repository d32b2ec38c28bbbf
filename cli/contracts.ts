import {
  type Contracts,
  type ContractsImport,
  importContracts,
  listContracts,
} from '@heliograph/server/contracts/admin'
import { type Cli, command, type Reporting } from './command.ts'
import { tableOf } from './terminal.ts'

export function addContractCommands(program: Reporting, { withAdmin }: Cli): void {
  const contracts = program.command('contracts').description('contracts and fees of plants')

  command(
    contracts,
    'import <file>',
    'Replace the contracts and fees of a site by those of a YAML file, all or nothing.',
    'contracts import contracts.yaml --site pv-south --dry-run',
  )
    .requiredOption('--site <site_id>', 'the site')
    .option('--dry-run', 'only show the changes')
    .result(async (file: string, options: { site: string; dryRun?: boolean }) => {
      const dry_run = !!options.dryRun
      const order = { file, site_id: options.site, dry_run }
      const report = await withAdmin((admin) => importContracts(admin, order))
      const text = `${importText(report)}${dry_run ? '\nNothing was changed.' : ''}`
      return { json: { dry_run, ...report }, text }
    })

  command(
    contracts,
    'list',
    'List the contracts and fees of a site.',
    'contracts list --site pv-south',
  )
    .requiredOption('--site <site_id>', 'the site')
    .fromDatabase(listText, (admin, { site }: { site: string }) =>
      listContracts(admin, { site_id: site }),
    )
}

function importText({ assignments, fees }: ContractsImport): string {
  const line = (what: string, { added, changed, unchanged, removed }: typeof fees) =>
    `${what}: ${added} new, ${changed} changed, ${unchanged} unchanged, ${removed} removed.`
  return `${line('Contracts', assignments)}\n${line('Fees', fees)}`
}

function listText({ assignments, fees }: Contracts): string {
  if (assignments.length === 0) return 'The site has no contracts.'
  const of_plants = tableOf(assignments, {
    LOGGER: 'logger_id',
    FROM: 'valid_from',
    TO: 'valid_to',
    MARKET: ({ market_code, sold_market_code }) =>
      sold_market_code === null ? market_code : `${market_code} > ${sold_market_code}`,
    TYPE: 'contract_type',
    FIXED: 'fixed_price',
    FLOOR: 'floor_price',
    CURRENCY: 'currency',
    OFFTAKER: 'offtaker',
  })
  if (fees.length === 0) return `${of_plants}\n\nThe site has no fees.`
  const of_fees = tableOf(fees, {
    LOGGER: ({ logger_id }) => logger_id ?? 'each',
    FROM: 'valid_from',
    TO: 'valid_to',
    CODE: 'code',
    BASIS: 'basis',
    VALUE: ({ value, currency }) => `${value} ${currency ?? '%'}`,
    NAME: 'name',
  })
  return `${of_plants}\n\n${of_fees}`
}
