import {
  type ImportReport,
  importPanels,
  listPanels,
  type PanelLibrary,
  type PanelModel,
  searchPanels,
} from '@heliograph/server/performance/panels/admin'
import { type Cli, command, type Reporting, wholeNumber } from './command.ts'
import { tableOf } from './terminal.ts'

/** Maximum number of listed rows; `--json` has all. */
const listed_max = 20

export function addPanelCommands(program: Reporting, { withAdmin }: Cli): void {
  const panels = program.command('panels').description('library of panel models')

  command(
    panels,
    'import <source>',
    'Import the list of CEC modules that SAM publishes, from a file or a URL.',
    'panels import "CEC Modules.csv"',
  ).result(async (source: string) => {
    const report = await withAdmin((admin) => importPanels(admin, source))
    return { json: report, text: reportText(report) }
  })

  command(panels, 'list', 'List the bundled models and the imports.', 'panels list').result(
    async () => {
      const library = await withAdmin(listPanels)
      return { json: library, text: libraryText(library) }
    },
  )

  command(
    panels,
    'search <words...>',
    'Find models by words of their names and makers.',
    'panels search canadian solar cs3w400',
  )
    .option('--limit <n>', 'maximum number of models', wholeNumber, 20)
    .result(async (words: string[], options: { limit: number }) => {
      const search = { query: words.join(' '), limit: options.limit }
      const found = await withAdmin((admin) => searchPanels(admin, search))
      const { rows, count } = found
      const more = count > rows.length ? `\nShowing ${rows.length} of ${count}.` : ''
      const text = count > 0 ? `${modelTable(rows)}${more}` : 'No models found.'
      return { json: found, text }
    })
}

function reportText(report: ImportReport): string {
  const { taken, added, changed, unchanged, outdated, refused, duplicates } = report
  const summary =
    added + changed === 0
      ? `No changes: all ${taken} models exist already.`
      : `${taken} models: ${added} new, ${changed} changed, ${unchanged} unchanged.`
  const skipped = outdated > 0 ? [`${outdated} skipped: a newer edition exists.`] : []
  return [
    summary,
    ...skipped,
    ...listed('Refused rows', refused, ({ line, name, reason }) => `${line}: ${name}: ${reason}`),
    ...listed(
      'Skipped duplicates',
      duplicates,
      ({ line, name, taken_line }) => `${line}: ${name}: line ${taken_line} was used`,
    ),
  ].join('\n')
}

function listed<Item>(
  what: string,
  items: readonly Item[],
  text: (item: Item) => string,
): string[] {
  if (items.length === 0) return []
  const more = items.length - listed_max
  return [
    `${what} (${items.length}):`,
    ...items.slice(0, listed_max).map((item) => `  line ${text(item)}`),
    ...(more > 0 ? [`  and ${more} more; --json lists all`] : []),
  ]
}

function libraryText({ bundled, imported_count, imports }: PanelLibrary): string {
  const history =
    imports.length === 0
      ? 'No imports.'
      : `${imported_count} imported models:\n\n${tableOf(imports, {
          IMPORTED: 'at',
          NEW: 'added',
          CHANGED: 'changed',
          FROM: 'source',
        })}`
  return `${modelTable(bundled)}\n\n${history}`
}

const modelTable = (models: readonly PanelModel[]) =>
  tableOf(models, {
    PARAMS_ID: 'params_id',
    POWER: ({ power_stc_w }) => `${Number(power_stc_w.toFixed(1))} W`,
    TECHNOLOGY: 'technology',
    NAME: 'name',
    SOURCE: ({ source, source_version }) => source_version ?? source,
  })
