/**
 * What of the permit outlives the agent, in two files: the copy of what was accepted, and the last
 * figure of each plant and of the connection, also of plants that have no entry any more. Where the
 * copy is lost those still hold, downwards.
 */
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { writeDurably } from '../durable-file.ts'
import { type PermitFile, parsePermitFile, permitOf } from './permit-file.ts'
import { boundsOf, lostPermit, lowestPermit, type Permit, permitAfter } from './permit-terms.ts'

export interface PermitPlaces {
  /** The copy of what was accepted last. */
  accepted_file: string
  /** What each plant and the connection were permitted last. */
  last_file: string
  /** A file is lost; `error` has no figure. */
  onFault?(error: Error): void
  /** Replaces a file durably; otherwise that is done on the disk. */
  write?(path: string, text: string): Promise<void>
}

export const permitPlaces = (data_dir: string) => ({
  accepted_file: join(data_dir, 'accepted-permit.yaml'),
  last_file: join(data_dir, 'last-permits.json'),
})

export interface Accepted {
  file: PermitFile
  text: string
}

export interface FoundPermit {
  accepted: Accepted | null
  /** null: none was ever accepted. */
  permit: Permit | null
  /** Both files are there, and at one. */
  is_whole: boolean
}

const Watts = Type.Integer({ minimum: 0 })
const LastPermit = Type.Object({
  plants: Type.Array(Type.Tuple([Type.Integer(), Watts])),
  site_w: Type.Union([Watts, Type.Null()]),
})

/**
 * Never rejects. What is lost, or not what was written, is told.
 *
 * @param site_id null: of any site
 */
export async function findPermit(
  places: PermitPlaces,
  site_id: string | null,
): Promise<FoundPermit> {
  const { accepted_file, last_file, onFault } = places
  const copy = await read(accepted_file, (text): Accepted | null => {
    // Plants may have left the site since, and ratings may have changed.
    const site = site_id === null ? null : { site_id, plants: null, rated_kw: 0 }
    const parsed = parsePermitFile(text, site)
    return 'file' in parsed ? { text, file: parsed.file } : null
  })
  const last = await read(last_file, lastPermitOf)
  if ('problem' in copy && copy.is_none && 'problem' in last && last.is_none) {
    return { accepted: null, permit: null, is_whole: false }
  }
  for (const [path, found] of [[accepted_file, copy] as const, [last_file, last] as const]) {
    if ('problem' in found) onFault?.(new Error(`${basename(path)} ${found.problem}`))
  }
  const accepted = 'value' in copy ? copy.value : null
  const newest = accepted && permitOf(accepted.file)
  if ('problem' in last) return { accepted, permit: newest ?? lostPermit, is_whole: false }
  // The lower, where the agent ended between the two.
  const permit = lowestPermit(newest ?? lostPermit, last.value)
  const is_whole = newest !== null && textOf(permitAfter(permit, newest)) === textOf(last.value)
  return { accepted, permit, is_whole }
}

/**
 * In the files, too, only what is lower holds until all is written.
 *
 * @param isNewest it was not overtaken by another
 */
export async function keepPermit(
  { accepted_file, last_file, write = writeDurably }: PermitPlaces,
  { file, text, meanwhile }: Accepted & { meanwhile: Permit },
  isNewest: () => boolean,
): Promise<void> {
  const before = textOf(meanwhile)
  const after = textOf(permitAfter(meanwhile, permitOf(file)))
  await write(last_file, before)
  await write(accepted_file, text)
  if (after !== before && isNewest()) await write(last_file, after)
}

function textOf(permit: Permit): string {
  const plants = [...boundsOf(permit)].sort(([one], [other]) => one - other)
  return JSON.stringify({ plants, site_w: permit.site_w })
}

/** Of each plant that had an entry once, also as an entry. */
function lastPermitOf(text: string): Permit | null {
  const found: unknown = JSON.parse(text)
  if (!Value.Check(LastPermit, found)) return null
  return { plant_w: new Map(found.plants), site_w: found.site_w }
}

export async function readText(path: string): Promise<{ text: string } | { error: string }> {
  try {
    return { text: await readFile(path, 'utf8') }
  } catch (error) {
    return { error: (error as NodeJS.ErrnoException).code ?? 'unknown' }
  }
}

type Found<Of> = { value: Of } | { problem: string; is_none: boolean }

async function read<Of>(path: string, parse: (text: string) => Of | null): Promise<Found<Of>> {
  const found = await readText(path)
  if ('error' in found) {
    const is_none = found.error === 'ENOENT'
    return { problem: is_none ? 'is gone' : `cannot be read (${found.error})`, is_none }
  }
  try {
    const value = parse(found.text)
    if (value !== null) return { value }
  } catch {
    // It is told as what it is.
  }
  return { problem: 'cannot be understood', is_none: false }
}
