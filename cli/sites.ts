import {
  clearSafeMode,
  createSite,
  findSite,
  listSites,
  type Site,
  setSafeMode,
} from '@heliograph/server/access/sites'
import { sumAgain } from '@heliograph/server/performance/rollups/admin'
import { type Cli, command, type Reporting, wholeNumber, type YesOption, yes } from './command.ts'
import { listOf, minute } from './terminal.ts'

export function addSiteCommands(program: Reporting, cli: Cli): void {
  const { withAdmin } = cli
  const sites = program.command('sites').description('the sites of clients, and their safe mode')

  command(
    sites,
    'create <site_id>',
    'Create a site in safe mode. Its devices are reported by its edge.',
    'sites create sunny-fields-1 --client "Sunny Fields" --name "Sunny Fields, north"',
  )
    .requiredOption('--client <name>', 'client of the site')
    .requiredOption('--name <name>', 'name of the site')
    .fromDatabase(
      (site: Site) =>
        `${siteTable([site])}\nSafe mode is on: writes are refused. When commissioning is complete, an ` +
        `administrator ends it on the platform, or: heliograph sites safe-mode off ${site.site_id}`,
      (admin, site_id: string, { client, name }: { client: string; name: string }) =>
        createSite(admin, { client, site_id, name }),
    )

  command(sites, 'list', 'List the sites of one client or of all.', 'sites list')
    .option('--client <name>', 'only the sites of this client')
    .fromDatabase(siteTable, (admin, { client }: { client?: string }) =>
      listSites(admin, { client }),
    )

  command(
    sites,
    'sum-again <site_id>',
    'Recompute hourly sums after a correction of site.yaml.',
    'sites sum-again sunny-fields-1 --days 90',
  )
    .option('--days <days>', 'number of days', wholeNumber, 30)
    .result(async (site_id: string, options: { days: number }) => {
      const { days } = options
      const done = await withAdmin((admin) => sumAgain(admin, site_id, days))
      const { hours, final_before_at } = done
      const marked = `${hours} device hours are queued for a running server.`
      const final = final_before_at
        ? `\nWeeks before ${minute(final_before_at)} are skipped: their readings were downsampled.`
        : ''
      return { json: { site_id, days, ...done }, text: marked + final }
    })

  addSafeMode(sites, cli)
}

function addSafeMode(sites: Reporting, { confirm, withAdmin }: Cli): void {
  const safe_mode = sites
    .command('safe-mode')
    .description('commissioning safe mode, in which all writes to the site are refused')

  command(
    safe_mode,
    'on <site_id>',
    'Refuse all writes to the site. Reads are unaffected.',
    'sites safe-mode on sunny-fields-1',
  ).fromDatabase(
    (site: Site) => siteTable([site]),
    (admin, site_id: string) => setSafeMode(admin, site_id),
  )

  command(
    safe_mode,
    'off <site_id>',
    'End safe mode: accept writes, including curtailment and dispatch.',
    'sites safe-mode off sunny-fields-1',
  )
    .option(...yes)
    .result(async (site_id: string, options: YesOption) => {
      const { name, safe_mode_since_at } = await withAdmin((admin) => findSite(admin, site_id))
      if (safe_mode_since_at && !options.yes) {
        const since = minute(safe_mode_since_at)
        await confirm(
          `End the safe mode of site ${site_id} (${name}), on since ${since}? ` +
            'Writes, including curtailment and dispatch, will be accepted.',
        )
      }
      const site = await withAdmin((admin) => clearSafeMode(admin, site_id))
      return { json: site, text: siteTable([site]) }
    })
}

const siteTable = (sites: readonly Site[]) =>
  listOf('There are no sites.', sites, {
    SITE: 'site_id',
    CLIENT: 'client',
    NAME: 'name',
    'SAFE MODE': ({ safe_mode_since_at: at }) => (at ? `since ${minute(at)}` : 'off'),
    INVENTORY: 'inventory_at',
  })
