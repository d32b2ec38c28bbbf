/** Reads a period out of the control log, beside an agent that writes it, and holds its chain. */
import type { ControlEntry } from './control-entry.ts'
import {
  type ChainEnd,
  dayOf,
  type LogFile,
  logFiles,
  readLine,
  readLog,
} from './control-log-file.ts'

export type LogItem =
  | { is: 'entry'; entry: ControlEntry }
  /** The log is not as it was written. */
  | { is: 'break'; file: string; line: number; what: string }

/** Unix ms; from `from_at` until before `to_at`. */
export interface Period {
  from_at: number
  to_at: number
}

/**
 * The entries of each file that has a part in the period, in the order in which they were written:
 * also those before and after it within these files, which say what held when it began. Before
 * them the last entry of the file before, so that it shows from when on there was none.
 */
export async function* readControlLog(dir: string, period: Period): AsyncGenerator<LogItem> {
  const files = await logFiles(dir)
  const [first_day, last_day] = [dayOf(period.from_at), dayOf(period.to_at)]
  const first = files.findIndex(({ day }) => day >= first_day && day <= last_day)
  const last = files.findLastIndex(({ day }) => day >= first_day && day <= last_day)
  // Of a period without a file what was written last before it still tells when that ended.
  const until = first === -1 ? files.findLastIndex(({ day }) => day < first_day) : last
  const from = first === -1 ? until : Math.max(0, first - 1)
  let before: LogFile | null = null
  let end: ChainEnd | null = null
  for (const file of files.slice(Math.max(0, from), until + 1)) {
    const missing: number = before === null ? 0 : file.nth - before.nth - 1
    if (missing > 0)
      yield {
        is: 'break',
        file: file.name,
        line: 1,
        what: `${missing} files before this one are missing`,
      }
    if (missing > 0) end = null
    const is_before = first !== -1 && files.indexOf(file) < first
    end = yield* itemsOf(dir, file, { end, is_before })
    before = file
  }
}

async function* itemsOf(
  dir: string,
  file: LogFile,
  from: { end: ChainEnd | null; is_before: boolean },
): AsyncGenerator<LogItem, ChainEnd | null> {
  const { name } = file
  let { end } = from
  let text: string
  try {
    text = await readLog(dir, file)
  } catch (error) {
    const what = `it cannot be read (${(error as NodeJS.ErrnoException).code})`
    yield { is: 'break', file: name, line: 1, what }
    return null
  }
  let newest: ControlEntry | null = null
  // What is after the last line feed is torn, or in writing.
  for (const [index, line] of text.split('\n').slice(0, -1).entries()) {
    const read = readLine(line, end)
    if (read.fault) yield { is: 'break', file: name, line: index + 1, what: read.fault }
    if (!read.entry) continue
    end = read.end
    newest = read.entry
    if (!from.is_before) yield { is: 'entry', entry: read.entry }
  }
  if (from.is_before && newest) yield { is: 'entry', entry: newest }
  return end
}
