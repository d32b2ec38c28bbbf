import {
  type ImportReport,
  importPanels,
  listPanels,
  type PanelLibrary,
  type PanelModel,
  searchPanels,
} from '@heliograph/server/performance/panels/admin'
import { command, type Reporting, wholeNumber } from './command.ts'
import { tableOf } from './terminal.ts'

/** Maximum number of listed rows; `--json` has all. */
const listed_max = 20

export function addPanelCommands(program: Reporting): void {
  const panels = program.command('panels').description('library of panel models')

  command(
    panels,
    'import <source>',
    'Import the list of CEC modules that SAM publishes, from a file or a URL.',
    'panels import "CEC Modules.csv"',
  ).fromDatabase(reportText, (admin, source: string) => importPanels(admin, source))

  command(panels, 'list', 'List the bundled models and the imports.', 'panels list').fromDatabase(
    libraryText,
    listPanels,
  )

  command(
    panels,
    'search <words...>',
    'Find models by words of their names and makers.',
    'panels search canadian solar cs3w400',
  )
    .option('--limit <n>', 'maximum number of models', wholeNumber, 20)
    .fromDatabase(
      ({ rows, count }: { rows: PanelModel[]; count: number }) => {
        const more = count > rows.length ? `\nShowing ${rows.length} of ${count}.` : ''
        return count > 0 ? `${modelTable(rows)}${more}` : 'No models found.'
      },
      (admin, words: string[], { limit }: { limit: number }) =>
        searchPanels(admin, { query: words.join(' '), limit }),
    )
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
