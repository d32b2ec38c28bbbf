import {
  type ImportReport,
  importPanels,
  listPanels,
  type PanelLibrary,
  type PanelModel,
  searchPanels,
} from '@heliograph/server/performance/panels/admin'
import type { Command } from 'commander'
import { type Cli, command, type JsonOption, wholeNumber } from './command.ts'
import { minute, print, table } from './terminal.ts'

/** How many refused rows or duplicates are told one by one; `--json` has all. */
const told_max = 20

export function addPanelCommands(program: Command, { terminal, withAdmin }: Cli): void {
  const panels = program.command('panels').description('the library of panel models')

  command(
    panels,
    'import <source>',
    'Take the list of CEC modules that SAM publishes into the library: a file or an address.',
    'panels import "CEC Modules.csv"',
  ).action(async (source: string, options: JsonOption) => {
    const report = await withAdmin((admin) => importPanels(admin, source))
    print(terminal, { json: report, text: reportText(report) }, !!options.json)
  })

  command(
    panels,
    'list',
    'List the models that come with the program, and the imports.',
    'panels list',
  ).action(async (options: JsonOption) => {
    const library = await withAdmin(listPanels)
    print(terminal, { json: library, text: libraryText(library) }, !!options.json)
  })

  command(
    panels,
    'search <words...>',
    'Find models by words of their names and makers.',
    'panels search canadian solar cs3w400',
  )
    .option('--limit <n>', 'how many are shown', wholeNumber, 20)
    .action(async (words: string[], options: JsonOption & { limit: number }) => {
      const search = { query: words.join(' '), limit: options.limit }
      const found = await withAdmin((admin) => searchPanels(admin, search))
      const { rows, count } = found
      const more = count > rows.length ? `\n${rows.length} of ${count} are shown.` : ''
      const text = count > 0 ? `${modelTable(rows)}${more}` : 'No model has any of these words.'
      print(terminal, { json: found, text }, !!options.json)
    })
}

function reportText(report: ImportReport): string {
  const { taken, added, changed, unchanged, outdated, refused, duplicates } = report
  const sound =
    added + changed === 0
      ? `Nothing has changed: all ${taken} models are there already.`
      : `${taken} models: ${added} new, ${changed} changed, ${unchanged} as they were.`
  const kept = outdated > 0 ? [`${outdated} are there in a newer edition, which stays.`] : []
  return [
    sound,
    ...kept,
    ...told('Refused rows', refused, ({ line, name, reason }) => `${line}: ${name}: ${reason}`),
    ...told(
      'Rows passed over for another of the same name',
      duplicates,
      ({ line, name, taken_line }) => `${line}: ${name}: line ${taken_line} was taken`,
    ),
  ].join('\n')
}

function told<Item>(what: string, items: readonly Item[], text: (item: Item) => string): string[] {
  if (items.length === 0) return []
  const more = items.length - told_max
  return [
    `${what} (${items.length}):`,
    ...items.slice(0, told_max).map((item) => `  line ${text(item)}`),
    ...(more > 0 ? [`  and ${more} more; --json has them all`] : []),
  ]
}

function libraryText({ bundled, imported_count, imports }: PanelLibrary): string {
  const history =
    imports.length === 0
      ? 'No list has been imported.'
      : `${imported_count} models of lists:\n\n${table(
          ['IMPORTED', 'NEW', 'CHANGED', 'FROM'],
          imports.map(({ at, source, added, changed }) => [
            minute(at),
            String(added),
            String(changed),
            source,
          ]),
        )}`
  return `${modelTable(bundled)}\n\n${history}`
}

function modelTable(models: readonly PanelModel[]): string {
  return table(
    ['PARAMS_ID', 'POWER', 'TECHNOLOGY', 'NAME', 'SOURCE'],
    models.map(({ params_id, power_stc_w, technology, name, source, source_version }) => [
      String(params_id),
      `${Number(power_stc_w.toFixed(1))} W`,
      technology,
      name,
      source_version ?? source,
    ]),
  )
}
