/** A database that is distributed over the nodes of a Citus cluster. */
import { checksText } from '@heliograph/domain/check'
import { checkNodes } from '@heliograph/server/storage/cluster-check'
import { distribute } from '@heliograph/server/storage/distribute'
import { Option } from 'commander'
import { command, type Reporting, type ServerCli } from './command.ts'
import { print } from './terminal.ts'

export function addClusterCommands(program: Reporting, cli: ServerCli): void {
  const cluster = program
    .command('cluster')
    .description('the database on the nodes of a Citus cluster')

  command(
    cluster,
    'distribute',
    'Distribute the tables of sites over the workers of a Citus cluster. No server may run. After an ' +
      'interruption, run it again: it continues.',
    'cluster distribute --shards 16',
  )
    .addOption(
      new Option('--shards <number>', 'shards of each table; all rows of a site are in one')
        .choices(['4', '8', '16', '32', '64'])
        .default('8'),
    )
    .result(async (options: { shards: string }) => {
      const shards = Number(options.shards)
      const onProgress = (step: string) => cli.terminal.notes.write(`${step}\n`)
      const done = await cli.withAdmin(({ db }) => distribute(db, { shards, onProgress }))
      const text =
        done.tables === 0
          ? `All tables of sites are distributed over ${done.workers} workers already.`
          : `${done.tables} tables are distributed over ${done.workers} workers.`
      return { json: done, text }
    })

  command(
    cluster,
    'check',
    'Check the nodes, shards and sites of the cluster. Exit code 1: a check failed.',
    'cluster check',
  ).action(async ({ json = false }: { json?: boolean }) => {
    const checks = await cli.withAdmin(({ db }) => checkNodes(db))
    print(cli.terminal, { json: checks, text: checksText(checks) }, json)
    const failed = checks.filter(({ state }) => state === 'error').map(({ name }) => name)
    if (failed.length > 0) throw new Error(`failed: ${failed.join(', ')}`)
  })
}
