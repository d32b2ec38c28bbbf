import {
  type Client,
  changeModules,
  createClient,
  findClient,
  listClients,
} from '@heliograph/server/access/clients'
import { type Cli, commaList, command, type Reporting, type YesOption, yes } from './command.ts'
import { listOf } from './terminal.ts'

export function addClientCommands(program: Reporting, { confirm, withAdmin }: Cli): void {
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
    .fromDatabase(clientText, (admin, name: string, { modules }: { modules: string[] }) =>
      createClient(admin, { name, modules }),
    )

  command(
    clients,
    'modules <name>',
    'Change the plan of a client. Requests of its keys beyond the plan are refused within a second.',
    'clients modules "Sunny Fields" --modules basic_scada,bess,om',
  )
    .requiredOption('--modules <list>', 'all modules of the new plan', commaList)
    .option(...yes)
    .result(async (name: string, options: YesOption & { modules: string[] }) => {
      const { modules } = options
      const known = await withAdmin(({ db }) => findClient(db, name))
      const removed = known.modules.filter((module) => !modules.includes(module))
      if (removed.length > 0 && !options.yes) {
        await confirm(
          `Remove ${removed.join(', ')} from the plan of ${name}? Keys and people of the client lose ` +
            'access to it.',
        )
      }
      const client = await withAdmin((admin) => changeModules(admin, { name, modules }))
      return { json: client, text: clientText(client) }
    })

  command(clients, 'list', 'List all clients.', 'clients list').fromDatabase(
    clientTable,
    listClients,
  )
}

const clientTable = (clients: readonly Client[]) =>
  listOf('There are no clients.', clients, {
    CLIENT: 'name',
    CREATED: 'created_at',
    MODULES: 'modules',
  })

const clientText = (client: Client) => clientTable([client])
