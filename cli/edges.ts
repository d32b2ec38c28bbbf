import {
  createEdge,
  type Edge,
  findEdge,
  listEdges,
  revokeEdge,
} from '@heliograph/server/access/edges'
import { type Cli, command, type Reporting, type YesOption, yes } from './command.ts'
import { listOf } from './terminal.ts'

export function addEdgeCommands(program: Reporting, { confirm, withAdmin }: Cli): void {
  const edges = program.command('edges').description('edge agents of sites')

  command(
    edges,
    'enrol',
    'Create the token of an edge agent. It is shown only once.',
    'edges enrol --site sunny-fields-1 --name "cabinet 1"',
  )
    .requiredOption('--site <site_id>', 'site of the edge')
    .requiredOption('--name <name>', 'name of the edge')
    .fromDatabase(tokenText, (admin, { site, name }: { site: string; name: string }) =>
      createEdge(admin, { site_id: site, name }),
    )

  command(edges, 'list', 'List the edges of one site or of all.', 'edges list')
    .option('--site <site_id>', 'only the edges of this site')
    .fromDatabase(edgeTable, (admin, { site }: { site?: string }) =>
      listEdges(admin, { site_id: site }),
    )

  command(
    edges,
    'revoke <edge_id>',
    'Revoke an edge agent permanently. Limits in force at the site stay in force.',
    'edges revoke 0123456789ab --site sunny-fields-1',
  )
    .requiredOption('--site <site_id>', 'site of the edge')
    .option(...yes)
    .result(async (edge_id: string, options: YesOption & { site: string }) => {
      const which = { site_id: options.site, edge_id }
      const { name, revoked_at } = await withAdmin((admin) => findEdge(admin, which))
      if (!revoked_at && !options.yes) {
        await confirm(
          `Revoke edge ${edge_id} (${name}) of site ${options.site}? Its readings and its ` +
            'control by the server end. This cannot be undone.',
        )
      }
      const edge = await withAdmin((admin) => revokeEdge(admin, which))
      return { json: edge, text: edgeTable([edge]) }
    })
}

const tokenText = ({ edge_id, name, site_id, token }: Edge & { token: string }) =>
  `Token of edge ${edge_id} (${name}) of site ${site_id}:\n\n  ${token}\n\nThe token is shown only once.`

const edgeTable = (edges: readonly Edge[]) =>
  listOf('There are no edges.', edges, {
    EDGE: 'edge_id',
    SITE: 'site_id',
    NAME: 'name',
    STATE: ({ revoked_at }) => (revoked_at ? 'revoked' : 'active'),
    CREATED: 'created_at',
    'LAST SEEN': 'last_seen_at',
    VERSION: 'agent_version',
  })
