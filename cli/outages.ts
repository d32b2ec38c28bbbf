import {
  addOutage,
  listOutages,
  type Outage,
  removeOutage,
} from '@heliograph/server/forecasts/outage-admin'
import { command, decimal, type Reporting, utcInstant, wholeNumber } from './command.ts'
import { listOf } from './terminal.ts'

interface AddOptions {
  site: string
  logger?: number
  startAt: Date
  endAt: Date
  unavailablePct: number
  reason?: string
}

export function addOutageCommands(program: Reporting): void {
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
    .fromDatabase(
      (added: Outage) => outageTable([added]),
      (admin, options: AddOptions) =>
        addOutage(admin, {
          site_id: options.site,
          logger_id: options.logger ?? null,
          start_at: options.startAt,
          end_at: options.endAt,
          unavailable_pct: options.unavailablePct,
          reason: options.reason ?? null,
        }),
    )

  command(
    outages,
    'list',
    'List present and future outages of a site.',
    'outages list --site pv-south',
  )
    .requiredOption('--site <site_id>', 'the site')
    .option('--all', 'include past outages')
    .fromDatabase(outageTable, (admin, { site, all }: { site: string; all?: boolean }) =>
      listOutages(admin, { site_id: site, with_past: !!all }),
    )

  command(
    outages,
    'remove',
    'Remove an outage by its id, including past ones.',
    'outages remove 12 --site pv-south',
  )
    .argument('<outage_id>', 'id of the outage', wholeNumber)
    .requiredOption('--site <site_id>', 'the site')
    .fromDatabase(
      (removed: Outage) => `${outageTable([removed])}\nRemoved.`,
      (admin, outage_id: number, { site }: { site: string }) =>
        removeOutage(admin, { site_id: site, outage_id }),
    )
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
