/**
 * The files of the control log, their lines and their reader. A file holds entries of one UTC day,
 * one a line, as JSON; its name has a number, by which files follow each other whatever the clock
 * did, and the day. The last field of a line is a digest over the line and that of the line before,
 * so that one which was changed or taken out shows. Finished files are compressed.
 */
import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { utcDate } from '@heliograph/domain/utc-day'
import type { ControlEntry } from './control-entry.ts'

export interface LogFile {
  nth: number
  /** `2026-06-21`, UTC. */
  day: string
  name: string
}

/** What the next line is chained to. */
export interface ChainEnd {
  /** Of the last line; 0: there is none. */
  nth: number
  digest: string
}

export const no_chain: ChainEnd = { nth: 0, digest: '' }

/** The day whose file an entry goes to. */
export const dayOf = utcDate

export const nameOf = ({ nth, day }: Pick<LogFile, 'nth' | 'day'>) =>
  `${String(nth).padStart(6, '0')}-${day}.jsonl`

/** By their numbers; of a file that is both plain and compressed the plain one. */
export async function logFiles(dir: string): Promise<LogFile[]> {
  const names = (await readdir(dir)).sort()
  const files = new Map<number, LogFile>()
  for (const name of names) {
    const match = /^(\d{6,})-(\d{4}-\d\d-\d\d)\.jsonl(\.gz)?$/.exec(name)
    if (!match) continue
    const nth = Number(match[1])
    if (!files.has(nth)) files.set(nth, { nth, day: match[2]!, name })
  }
  return [...files.values()].sort((a, b) => a.nth - b.nth)
}

export function lineOf(entry: ControlEntry, before: ChainEnd): { line: string; end: ChainEnd } {
  const nth = before.nth + 1
  const body = JSON.stringify({ nth, ...entry })
  const digest = digestOf(body, before.digest)
  return { line: `${body.slice(0, -1)},"chain":"${digest}"}\n`, end: { nth, digest } }
}

type ReadLine =
  | { entry: ControlEntry; end: ChainEnd; fault: string | null }
  /** It is no whole line. */
  | { entry: null; end: null; fault: string }

/** `before` is null where the line before is not known: then the digest is taken as it is. */
export function readLine(line: string, before: ChainEnd | null): ReadLine {
  const [, open, digest] = /^(\{.*),"chain":"([\w-]{22})"\}$/.exec(line) ?? []
  if (open === undefined || digest === undefined) return noLine
  const body = `${open}}`
  let parsed: ControlEntry & { nth: number }
  try {
    parsed = JSON.parse(body)
  } catch {
    return noLine
  }
  const { nth, ...entry } = parsed
  const end = { nth, digest }
  if (before === null) return { entry, end, fault: null }
  const missing = nth - before.nth - 1
  if (missing > 0) return { entry, end, fault: `${missing} entries before this one are missing` }
  if (missing < 0) return { entry, end, fault: 'this entry stands here again' }
  const is_right = digestOf(body, before.digest) === digest
  return { entry, end, fault: is_right ? null : 'this entry was changed' }
}

const noLine: ReadLine = { entry: null, end: null, fault: 'this is no entry' }

/** The text of a file; of one that was compressed since it was found, too. */
export async function readLog(dir: string, { name }: LogFile): Promise<string> {
  const path = join(dir, name)
  if (name.endsWith('.gz')) return unpacked(path)
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return unpacked(`${path}.gz`)
  }
}

async function unpacked(path: string): Promise<string> {
  return (await promisify(gunzip)(await readFile(path))).toString()
}

/** 128 bits of SHA-256: enough that nobody finds another line of the same digest. */
function digestOf(body: string, before: string): string {
  return hash('sha256', `${before}\n${body}`, 'base64url').slice(0, 22)
}

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
