/**
 * The files of the control log and their lines. A file holds entries of one UTC day, one a line, as
 * JSON; its name has a number, by which files follow each other whatever the clock did, and the
 * day. The last field of a line is a digest over the line and that of the line before, so that one
 * which was changed or taken out shows. Finished files are compressed.
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
