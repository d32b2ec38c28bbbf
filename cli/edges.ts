import {
  createEdge,
  type Edge,
  findEdge,
  listEdges,
  revokeEdge,
} from '@heliograph/server/access/edges'
import type { Command } from 'commander'
import { type Cli, command, type JsonOption, type YesOption, yes } from './command.ts'
import { confirm, minute, print, table } from './terminal.ts'

export function addEdgeCommands(program: Command, { terminal, withAdmin }: Cli): void {
  const edges = program.command('edges').description('edge agents of sites')

  command(
    edges,
    'enrol',
    'Create the token of an edge agent. It is shown only once.',
    'edges enrol --site sunny-fields-1 --name "cabinet 1"',
  )
    .requiredOption('--site <site_id>', 'site of the edge')
    .requiredOption('--name <name>', 'name of the edge')
    .action(async (options: JsonOption & { site: string; name: string }) => {
      const order = { site_id: options.site, name: options.name }
      const edge = await withAdmin((admin) => createEdge(admin, order))
      const text =
        `Token of edge ${edge.edge_id} (${edge.name}) of site ${edge.site_id}:\n\n` +
        `  ${edge.token}\n\nThe token is shown only once.`
      print(terminal, { json: edge, text }, !!options.json)
    })

  command(edges, 'list', 'List the edges of one site or of all.', 'edges list')
    .option('--site <site_id>', 'only the edges of this site')
    .action(async (options: JsonOption & { site?: string }) => {
      const found = await withAdmin((admin) => listEdges(admin, { site_id: options.site }))
      const text = found.length > 0 ? edgeTable(found) : 'There are no edges.'
      print(terminal, { json: found, text }, !!options.json)
    })

  command(
    edges,
    'revoke <edge_id>',
    'Revoke an edge agent permanently. Limits in force at the site stay in force.',
    'edges revoke 0123456789ab --site sunny-fields-1',
  )
    .requiredOption('--site <site_id>', 'site of the edge')
    .option(...yes)
    .action(async (edge_id: string, options: JsonOption & YesOption & { site: string }) => {
      const which = { site_id: options.site, edge_id }
      const { name, revoked_at } = await withAdmin((admin) => findEdge(admin, which))
      if (!revoked_at && !options.yes) {
        await confirm(
          terminal,
          `Revoke edge ${edge_id} (${name}) of site ${options.site}? Its readings and its ` +
            'control by the server end. This cannot be undone.',
        )
      }
      const edge = await withAdmin((admin) => revokeEdge(admin, which))
      print(terminal, { json: edge, text: edgeTable([edge]) }, !!options.json)
    })
}

function edgeTable(edges: readonly Edge[]): string {
  return table(
    ['EDGE', 'SITE', 'NAME', 'STATE', 'CREATED', 'LAST SEEN', 'VERSION'],
    edges.map(({ edge_id, site_id, name, revoked_at, created_at, last_seen_at, agent_version }) => [
      edge_id,
      site_id,
      name,
      revoked_at ? 'revoked' : 'active',
      minute(created_at),
      minute(last_seen_at),
      agent_version ?? '-',
    ]),
  )
}
