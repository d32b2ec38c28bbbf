import {
  addOutage,
  listOutages,
  type NewOutage,
  type Outage,
  removeOutage,
} from '@heliograph/server/forecasts/outage-admin'
import { type Cli, command, decimal, type Reporting, utcInstant, wholeNumber } from './command.ts'
import { listOf } from './terminal.ts'

interface AddOptions {
  site: string
  logger?: number
  startAt: Date
  endAt: Date
  unavailablePct: number
  reason?: string
}

export function addOutageCommands(program: Reporting, { withAdmin }: Cli): void {
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
    .result(async (options: AddOptions) => {
      const order: NewOutage = {
        site_id: options.site,
        logger_id: options.logger ?? null,
        start_at: options.startAt,
        end_at: options.endAt,
        unavailable_pct: options.unavailablePct,
        reason: options.reason ?? null,
      }
      const added = await withAdmin((admin) => addOutage(admin, order))
      return { json: added, text: outageTable([added]) }
    })

  command(
    outages,
    'list',
    'List present and future outages of a site.',
    'outages list --site pv-south',
  )
    .requiredOption('--site <site_id>', 'the site')
    .option('--all', 'include past outages')
    .result(async (options: { site: string; all?: boolean }) => {
      const asked = { site_id: options.site, with_past: !!options.all }
      const found = await withAdmin((admin) => listOutages(admin, asked))
      return { json: found, text: outageTable(found) }
    })

  command(
    outages,
    'remove',
    'Remove an outage by its id, including past ones.',
    'outages remove 12 --site pv-south',
  )
    .argument('<outage_id>', 'id of the outage', wholeNumber)
    .requiredOption('--site <site_id>', 'the site')
    .result(async (outage_id: number, options: { site: string }) => {
      const order = { site_id: options.site, outage_id }
      const removed = await withAdmin((admin) => removeOutage(admin, order))
      const text = `${outageTable([removed])}\nRemoved.`
      return { json: removed, text }
    })
}

const outageTable = (outages: readonly Outage[]) =>
  listOf('There are no outages.', outages, {
    OUTAGE: 'outage_id',
    LOGGER: ({ logger_id }) => logger_id ?? 'all',
    FROM: 'start_at',
    TO: 'end_at',
    UNAVAILABLE: ({ unavailable_pct }) => `${unavailable_pct} %`,
    REASON: 'reason',
  })
