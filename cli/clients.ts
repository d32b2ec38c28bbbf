import {
  type Client,
  changeModules,
  createClient,
  findClient,
  listClients,
} from '@heliograph/server/access/clients'
import type { Command } from 'commander'
import { type Cli, commaList, command, type JsonOption, type YesOption, yes } from './command.ts'
import { confirm, minute, print, table } from './terminal.ts'

export function addClientCommands(program: Command, { terminal, withAdmin }: Cli): void {
  const clients = program.command('clients').description('the owners of sites and keys')

  command(
    clients,
    'create <name>',
    'Create a client with its plan.',
    'clients create "Sunny Fields" --modules basic_scada,bess',
  )
    .requiredOption(
      '--modules <list>',
      'the plan: basic_scada, bess, om, ai_predictions, earnings',
      commaList,
    )
    .action(async (name: string, options: JsonOption & { modules: string[] }) => {
      const client = await withAdmin((admin) =>
        createClient(admin, { name, modules: options.modules }),
      )
      print(terminal, { json: client, text: clientTable([client]) }, !!options.json)
    })

  command(
    clients,
    'modules <name>',
    'Change the plan of a client. Requests of its keys beyond the plan are refused within a second.',
    'clients modules "Sunny Fields" --modules basic_scada,bess,om',
  )
    .requiredOption('--modules <list>', 'all modules of the new plan', commaList)
    .option(...yes)
    .action(async (name: string, options: JsonOption & YesOption & { modules: string[] }) => {
      const { modules } = options
      const known = await withAdmin(({ db }) => findClient(db, name))
      const removed = known.modules.filter((module) => !modules.includes(module))
      if (removed.length > 0 && !options.yes) {
        await confirm(
          terminal,
          `Remove ${removed.join(', ')} from the plan of ${name}? Keys and people of the client lose ` +
            'access to it.',
        )
      }
      const client = await withAdmin((admin) => changeModules(admin, { name, modules }))
      print(terminal, { json: client, text: clientTable([client]) }, !!options.json)
    })

  command(clients, 'list', 'List all clients.', 'clients list').action(
    async (options: JsonOption) => {
      const found = await withAdmin(listClients)
      const text = found.length > 0 ? clientTable(found) : 'There are no clients.'
      print(terminal, { json: found, text }, !!options.json)
    },
  )
}

function clientTable(clients: readonly Client[]): string {
  return table(
    ['CLIENT', 'CREATED', 'MODULES'],
    clients.map(({ name, created_at, modules }) => [name, minute(created_at), modules.join(' ')]),
  )
}
