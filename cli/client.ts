/** Commands that use the API with a key, from any machine. */
import { setTimeout as wait } from 'node:timers/promises'
import {
  type CursorAnswer,
  type CursorPage,
  connect,
  everyByCursor,
  everyItem,
  everyWindow,
  type Heliograph,
  type Page,
  type PageAnswer,
  type SeriesAnswer,
  type Window,
} from '@heliograph/sdk'
import { AdminError } from '@heliograph/server/access/admin'
import { Option } from 'commander'
import { answerText, rowsText } from './answer-text.ts'
import { type Cli, command, decimal, type Reporting, type YesOption, yes } from './command.ts'
import { readClientSettings } from './config.ts'
import { findOperation, parametersOf, type ReadOperation, readOperations } from './operations.ts'
import { type Terminal, table, tableOf } from './terminal.ts'

interface SiteOption {
  site?: string
}

type Method = (parameters: object) => Promise<unknown>
type Row = Record<string, unknown>

const siteOption = ['--site <site_id>', 'defaults to HELIOGRAPH_SITE'] as const

type Settings = Pick<Cli, 'environment'>

function open({ environment }: Settings, { site }: SiteOption) {
  const { url, api_key, site_id } = readClientSettings(environment)
  return { heliograph: connect({ base_url: url, api_key }), site_id: site ?? site_id }
}

function openSite(settings: Settings, options: SiteOption) {
  const { heliograph, site_id } = open(settings, options)
  if (site_id === null)
    throw new AdminError('invalid', 'no site given: pass --site or set HELIOGRAPH_SITE')
  return { heliograph, site_id }
}

const methodOf = (heliograph: Heliograph, { method }: ReadOperation): Method =>
  (heliograph as unknown as Record<string, Method>)[method]!.bind(heliograph)

export function addClientSideCommands(program: Reporting, cli: Cli): void {
  addGet(program, cli)
  addCurtail(program, cli)
  addRelease(program, cli)
}

function addGet(program: Reporting, cli: Cli): void {
  command(
    program,
    'get [name] [parameters...]',
    'Read from the API; without a name, list the operations.',
    'get inverters-history inverter_id=1 start=2027-01-31T00:00:00Z --all --site demo',
  )
    .option(...siteOption)
    .option('--all', 'read all pages or windows')
    .result(
      async (name: string | undefined, words: string[], options: SiteOption & { all?: true }) => {
        if (name === undefined) return operationList()
        const operation = findOperation(name)
        const { heliograph, site_id } =
          operation.method === 'sitesList' ? open(cli, options) : openSite(cli, options)
        const parameters = { site_id, ...parametersOf(operation, words) }
        const read = methodOf(heliograph, operation)
        if (!options.all) {
          const answer = await read(parameters)
          return { json: answer, text: answerText(answer) }
        }
        const rows = await everyRow(cli.terminal, operation, { read, parameters })
        return { json: rows, text: rowsText(rows) }
      },
    )
}

function operationList() {
  const operations = readOperations()
  const rows = operations.map(({ name, parameters, summary }) => [
    name,
    parameters.map((one) => (one.required ? one.name : `[${one.name}]`)).join(' '),
    summary,
  ])
  return { json: operations, text: table(['NAME', 'PARAMETERS', 'WHAT'], rows) }
}

/** Reads all pages; the progress goes to standard error when a person is watching. */
async function everyRow(
  terminal: Terminal,
  { name, parameters: known }: ReadOperation,
  { read, parameters }: { read: Method; parameters: Record<string, unknown> },
): Promise<Row[]> {
  const has = (parameter: string) => known.some((one) => one.name === parameter)
  if (!has('offset') && !has('cursor') && !(has('start') && parameters['start'])) {
    throw new AdminError('invalid', `${name} has no pages${has('start') ? ': pass start=' : ''}`)
  }
  const rows: Row[] = []
  const found = has('offset')
    ? everyItem((page: Page) => read({ ...parameters, ...page }) as Promise<PageAnswer<Row>>)
    : has('cursor')
      ? everyByCursor(
          (page: CursorPage) => read({ ...parameters, ...page }) as Promise<CursorAnswer<Row>>,
        )
      : everyWindow(
          (window: Window) => read({ ...parameters, ...window }) as Promise<SeriesAnswer<Row>>,
          {
            start: String(parameters['start']),
          },
        )
  for await (const row of found) {
    rows.push(row)
    if (terminal.is_interactive && rows.length % 1000 === 0) {
      terminal.notes.write(`\r${rows.length} rows`)
    }
  }
  if (terminal.is_interactive && rows.length >= 1000) terminal.notes.write('\n')
  return rows
}

interface CurtailOptions extends SiteOption, YesOption {
  logger?: number
  percent?: number
  kw?: number
  minutes?: number
}

function addCurtail(program: Reporting, cli: Cli): void {
  const { terminal, confirm } = cli
  command(
    program,
    'curtail',
    'Limit a site or a plant from now on, and wait until the limit is applied.',
    'curtail --site demo --logger 1 --percent 60 --minutes 30',
  )
    .option(...siteOption)
    .option('--logger <logger_id>', 'one plant; defaults to all', decimal)
    .addOption(
      new Option('--percent <percent>', 'of rated power').argParser(decimal).conflicts('kw'),
    )
    .addOption(new Option('--kw <kw>', 'for all affected plants together').argParser(decimal))
    .option('--minutes <minutes>', 'defaults to until released, at most seven days', decimal)
    .option(...yes)
    .result(async (options: CurtailOptions) => {
      const { heliograph, site_id } = openSite(cli, options)
      const { logger, percent, kw, minutes } = options
      const limit_value = percent ?? kw
      if (limit_value === undefined)
        throw new AdminError('invalid', 'no limit given: pass --percent or --kw')
      const limit = percent === undefined ? `${kw} kW` : `${percent} % of rated power`
      const what = logger === undefined ? `site ${site_id}` : `plant ${logger} of ${site_id}`
      if (!options.yes) await confirm(`Limit ${what} to ${limit}?`)
      const group = await heliograph.curtailmentImmediateCreate({
        site_id,
        scope: logger === undefined ? 'site' : 'logger',
        ...(logger !== undefined && { logger_id: logger }),
        limit_mode: percent === undefined ? 'kw' : 'percent',
        limit_value,
        ...(minutes !== undefined && { duration_minutes: minutes }),
      })
      const rows = await untilApplied(terminal, heliograph, { site_id, group_id: group.group_id })
      const text = `Group ${group.group_id}\n\n${limitText(rows)}`
      return { json: { ...group, schedules: rows }, text }
    })
}

const step_ms = 500
const steps_max = 40

/** Waits until the edge has applied all orders of a group, for at most 20 s. */
async function untilApplied(
  terminal: Terminal,
  heliograph: Heliograph,
  { site_id, group_id }: { site_id: string; group_id: string },
) {
  for (let step = 0; ; step += 1) {
    const { data } = await heliograph.curtailmentList({ site_id })
    const rows = data.filter((row) => row.group_id === group_id)
    const applied = rows.filter((row) => row.applied_at !== null).length
    if (terminal.is_interactive) {
      terminal.notes.write(`\r${applied} of ${rows.length} plants limited`)
    }
    if (applied === rows.length || step === steps_max) {
      if (terminal.is_interactive) terminal.notes.write('\n')
      return rows
    }
    await wait(step_ms)
  }
}

const limitText = (rows: readonly { logger_id: number; max_power_kw: number; status: string }[]) =>
  tableOf(rows, { PLANT: 'logger_id', 'LIMIT kW': 'max_power_kw', STATUS: 'status' })

function addRelease(program: Reporting, cli: Cli): void {
  command(
    program,
    'release <group_id>',
    'Release a curtailment; grid permits and other limits still apply.',
    'release 01J9ZK8M3T4Q5W6X7Y8Z9A0B1C --site demo',
  )
    .option(...siteOption)
    .option(...yes)
    .result(async (group_id: string, options: SiteOption & YesOption) => {
      const { heliograph, site_id } = openSite(cli, options)
      if (!options.yes) await cli.confirm(`Release ${group_id}?`)
      const group = await heliograph.curtailmentGroupRelease({ site_id, group_id })
      return { json: group, text: answerText(group) }
    })
}
