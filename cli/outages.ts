import {
  addOutage,
  listOutages,
  type NewOutage,
  type Outage,
  removeOutage,
} from '@heliograph/server/forecasts/outage-admin'
import type { Command } from 'commander'
import { type Cli, command, decimal, type JsonOption, utcInstant, wholeNumber } from './command.ts'
import { minute, print, table } from './terminal.ts'

interface AddOptions extends JsonOption {
  site: string
  logger?: number
  startAt: Date
  endAt: Date
  unavailablePct: number
  reason?: string
}

export function addOutageCommands(program: Command, { terminal, withAdmin }: Cli): void {
  const outages = program
    .command('outages')
    .description('planned outages, which forecasts take into account')

  command(
    outages,
    'add',
    'Add a planned outage of plants, or of a share of each.',
    'outages add --site pv-south --logger 3 --start-at 2027-06-21T06:00Z ' +
      '--end-at 2027-06-21T14:00Z --unavailable-pct 50 --reason "transformer 2"',
  )
    .requiredOption('--site <site_id>', 'the site')
    .option('--logger <logger_id>', 'the plant; defaults to all plants of the site', wholeNumber)
    .requiredOption('--start-at <time>', 'start, UTC', utcInstant)
    .requiredOption('--end-at <time>', 'end, UTC', utcInstant)
    .option('--unavailable-pct <percent>', 'unavailable share of the plant', decimal, 100)
    .option('--reason <text>', 'reason')
    .action(async (options: AddOptions) => {
      const order: NewOutage = {
        site_id: options.site,
        logger_id: options.logger ?? null,
        start_at: options.startAt,
        end_at: options.endAt,
        unavailable_pct: options.unavailablePct,
        reason: options.reason ?? null,
      }
      const added = await withAdmin((admin) => addOutage(admin, order))
      print(terminal, { json: added, text: outageTable([added]) }, !!options.json)
    })

  command(
    outages,
    'list',
    'List present and future outages of a site.',
    'outages list --site pv-south',
  )
    .requiredOption('--site <site_id>', 'the site')
    .option('--all', 'include past outages')
    .action(async (options: JsonOption & { site: string; all?: boolean }) => {
      const asked = { site_id: options.site, with_past: !!options.all }
      const found = await withAdmin((admin) => listOutages(admin, asked))
      const text = found.length > 0 ? outageTable(found) : 'There are no outages.'
      print(terminal, { json: found, text }, !!options.json)
    })

  command(
    outages,
    'remove',
    'Remove an outage by its id, including past ones.',
    'outages remove 12 --site pv-south',
  )
    .argument('<outage_id>', 'id of the outage', wholeNumber)
    .requiredOption('--site <site_id>', 'the site')
    .action(async (outage_id: number, options: JsonOption & { site: string }) => {
      const order = { site_id: options.site, outage_id }
      const removed = await withAdmin((admin) => removeOutage(admin, order))
      const text = `${outageTable([removed])}\nRemoved.`
      print(terminal, { json: removed, text }, !!options.json)
    })
}

function outageTable(outages: readonly Outage[]): string {
  return table(
    ['OUTAGE', 'LOGGER', 'FROM', 'TO', 'UNAVAILABLE', 'REASON'],
    outages.map(({ outage_id, logger_id, start_at, end_at, unavailable_pct, reason }) => [
      String(outage_id),
      logger_id === null ? 'all' : String(logger_id),
      minute(start_at),
      minute(end_at),
      `${unavailable_pct} %`,
      reason ?? '-',
    ]),
  )
}
