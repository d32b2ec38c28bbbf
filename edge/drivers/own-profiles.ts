/** Files beside the site file, which names them by their paths: profiles, and the point list. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseProfile } from '@heliograph/domain/profile-file'
import { isProfilePath } from '@heliograph/domain/schema'
import { describeProblems } from '@heliograph/domain/yaml-file'
import type { Driver } from './driver.ts'
import { findDriver, profileDriver } from './drivers.ts'

export interface OwnProfiles {
  /** Their texts by path, as far as they could be read. */
  readonly texts: Readonly<Record<string, string>>
  /** One line for each problem within them. */
  readonly problems: readonly string[]
  /** The driver of this name, or what is wrong with it. Reads a file once. */
  find(name: string): Driver | string
  /** @throws where it cannot be read */
  text(path: string): string
  /** A driver that reads nothing for a path without a valid profile. */
  driverOf(path: string): Driver
}

/** The files in `folder`. */
export const openProfiles = (folder: string): OwnProfiles =>
  profilesFrom((path) => readFileSync(join(folder, path), 'utf8'))

/** Texts that were accepted before. */
export const acceptedProfiles = (texts: Readonly<Record<string, string>>): OwnProfiles =>
  profilesFrom((path) => {
    const text = texts[path]
    if (text === undefined) throw new Error('it was not accepted before')
    return text
  })

function profilesFrom(textOf: (path: string) => string): OwnProfiles {
  const texts: Record<string, string> = {}
  const problems: string[] = []
  const found = new Map<string, Driver | string>()

  function read(path: string): Driver | string {
    let text: string
    try {
      text = textOf(path)
    } catch (error) {
      return `${path} cannot be read: ${(error as Error).message}`
    }
    texts[path] = text
    const parsed = parseProfile(text)
    if ('problems' in parsed) {
      problems.push(...describeProblems(path, parsed.problems))
      return `${path} is wrong, see there`
    }
    const revision = createHash('sha256').update(text).digest('hex')
    return { ...profileDriver(parsed.value), revision }
  }

  function find(name: string): Driver | string {
    if (!isProfilePath(name)) return findDriver(name) ?? `there is no driver '${name}'`
    const driver = found.get(name) ?? read(name)
    found.set(name, driver)
    return driver
  }

  return {
    texts,
    problems,
    find,
    text(path) {
      texts[path] ??= textOf(path)
      return texts[path]
    },
    driverOf(path) {
      const driver = find(path)
      return typeof driver === 'string' ? {} : driver
    },
  }
}
