/**
 * The site file over the life of the agent. What was accepted once stays in force, also over
 * restarts, until another right file takes its place; a wrong one is told of and changes nothing.
 */
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Timers } from '@heliograph/domain/clock'
import type { Site } from '@heliograph/domain/site'
import { parseSiteFile } from '@heliograph/domain/site-file'
import { describeProblems } from '@heliograph/domain/yaml-file'
import type { Driver } from './drivers/driver.ts'
import { acceptedProfiles, type OwnProfiles, openProfiles } from './drivers/own-profiles.ts'
import { checkDrivers, parseDrivenSite } from './drivers/site-drivers.ts'
import { readIfThere, writeDurably } from './durable-file.ts'
import { type FileWatch, watchFile } from './file-watch.ts'

/** The copy of the site file that is in force, in the data directory. */
export const accepted_site = 'accepted-site.yaml'

interface SitePaths {
  site_file: string
  /** The copy of what was accepted last; that of its profiles is beside it. */
  accepted_file: string
}

interface SiteWatchNeeds extends SitePaths {
  timers: Timers
}

interface SiteListener {
  onAccepted(site: Site): void
  /** Lines that say what is wrong with the file; the site in force stays. */
  onRejected(problems: readonly string[]): void
  /** The file is what is in force. */
  onMended(): void
}

/** No site was ever accepted, and the file cannot be. */
export class SiteFileError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`The site file is not right:\n${problems.join('\n')}`)
    this.problems = problems
  }
}

export class SiteWatch {
  readonly #needs: SiteWatchNeeds
  #listener: SiteListener | null = null
  site: Site
  /** What was in force before `site`; null when nothing was. */
  former: Site | null = null
  /** The profiles beside the site file that are in force. */
  #profiles: OwnProfiles
  /** The text that is in force, with that of its profiles. */
  #accepted: string
  /** The last text that was looked at; null when the file could not be read. */
  #seen: string | null = null
  #rejected: readonly string[] | null = null
  #suspected: string | null | undefined
  #watch: FileWatch | null = null

  private constructor(needs: SiteWatchNeeds, accepted: Accepted) {
    this.#needs = needs
    this.site = accepted.site
    this.#profiles = accepted.profiles
    this.#accepted = accepted.text
  }

  /** The text of a file beside the site file. */
  ownText(path: string): string {
    return this.#profiles.text(path)
  }

  /** The driver by a profile beside the site file. */
  ownDriver(path: string): Driver {
    return this.#profiles.driverOf(path)
  }

  /**
   * Finds the site to begin with: the file, or what was accepted before when the file is wrong.
   *
   * @throws SiteFileError when there is neither
   */
  static async open(needs: SiteWatchNeeds): Promise<SiteWatch> {
    const accepted = await readAccepted(needs)
    const found = await look(needs, accepted?.site ?? null)
    if ('problems' in found) {
      if (!accepted) throw new SiteFileError(found.problems)
      const kept = new SiteWatch(needs, accepted)
      kept.#seen = found.text
      kept.#rejected = found.problems
      return kept
    }
    if (found.text !== accepted?.text) await writeAccepted(needs, found)
    const opened = new SiteWatch(needs, found)
    opened.#seen = found.text
    opened.former = accepted?.site ?? null
    return opened
  }

  get isRejected(): boolean {
    return this.#rejected !== null
  }

  /**
   * Says how the file stands, then looks at it when the system says that it changed, and now and
   * then in any case.
   */
  start(listener: SiteListener): void {
    this.#listener = listener
    if (this.#rejected) listener.onRejected(this.#rejected)
    else listener.onMended()
    const { site_file, timers } = this.#needs
    this.#watch = watchFile(site_file, timers, () =>
      this.check().catch((error: Error) => this.#reject([error.message])),
    )
  }

  close(): void {
    this.#watch?.close()
  }

  /** Looks at the file now. Another counts when seen alike twice: it may be half written. */
  async check(): Promise<void> {
    const found = await look(this.#needs, this.site)
    if (found.text === this.#seen) {
      this.#suspected = undefined
      return
    }
    // Half of it may be right as well, and have fewer devices.
    if (found.text !== this.#accepted && found.text !== this.#suspected) {
      this.#suspected = found.text
      this.#watch?.again()
      return
    }
    if ('problems' in found) {
      this.#seen = found.text
      this.#reject(found.problems)
      return
    }
    if (found.text !== this.#accepted) {
      await writeAccepted(this.#needs, found)
      this.former = this.site
      this.site = found.site
      this.#profiles = found.profiles
      this.#accepted = found.text
      this.#listener?.onAccepted(found.site)
    }
    this.#seen = found.text
    this.#suspected = undefined
    if (this.#rejected) this.#listener?.onMended()
    this.#rejected = null
  }

  #reject(problems: readonly string[]): void {
    this.#rejected = problems
    this.#listener?.onRejected(problems)
  }
}

interface Accepted {
  site_text: string
  /** With that of the profiles. */
  text: string
  site: Site
  profiles: OwnProfiles
}

type Found = Accepted | { text: string | null; problems: string[] }

async function look({ site_file }: SitePaths, accepted: Site | null): Promise<Found> {
  let site_text: string
  try {
    site_text = await readFile(site_file, 'utf8')
  } catch (error) {
    return { text: null, problems: [`${site_file}: cannot be read: ${(error as Error).message}`] }
  }
  const profiles = openProfiles(dirname(site_file))
  const parsed = parseDrivenSite(site_text, profiles)
  const of_points = 'problems' in parsed ? [] : await pointProblems(parsed.site, profiles)
  const text = whole(site_text, profiles)
  if (of_points.length > 0) return { text, problems: of_points }
  if ('problems' in parsed) {
    const problems = describeProblems(basename(site_file), parsed.problems)
    return { text, problems: [...problems, ...profiles.problems] }
  }
  const { site } = parsed
  if (!accepted || accepted.site_id === site.site_id) return { site_text, text, site, profiles }
  const other = `'${site.site_id}' is another site, which needs a data directory of its own`
  const change = `site_id: this edge serves '${accepted.site_id}'; ${other}`
  return { text, problems: [`${basename(site_file)}: ${change}`] }
}

/** Of the list that control centres go by, with line and column. */
async function pointProblems({ iec104, ...site }: Site, files: OwnProfiles): Promise<string[]> {
  if (!iec104) return []
  const { points: path } = iec104
  try {
    const { checkOwners, parsePointList } = await import('./iec104/point-list.ts')
    const { points, faults } = parsePointList(files.text(path))
    return [...faults, ...checkOwners(points, site)].map(
      ({ line, column, message }) => `${path}:${line}: ${column}: ${message}`,
    )
  } catch (error) {
    return [`${path} cannot be read: ${(error as Error).message}`]
  }
}

const whole = (site_text: string, { texts }: OwnProfiles): string =>
  [site_text, ...Object.values(texts)].join('\n')

const profilesFile = ({ accepted_file }: SitePaths): string =>
  join(dirname(accepted_file), 'accepted-profiles.json')

/** The profiles first: the site that was accepted before finds its own among them. */
async function writeAccepted(paths: SitePaths, { site_text, profiles }: Accepted): Promise<void> {
  const path = profilesFile(paths)
  const before = await readIfThere(path)
  const texts = { ...(before && JSON.parse(before)), ...profiles.texts }
  if (Object.keys(texts).length > 0) await writeDurably(path, JSON.stringify(texts))
  await writeDurably(paths.accepted_file, site_text)
}

async function readAccepted(paths: SitePaths): Promise<Accepted | null> {
  const site_text = await readIfThere(paths.accepted_file)
  if (site_text === null) return null
  const profiles = acceptedProfiles(JSON.parse((await readIfThere(profilesFile(paths))) ?? '{}'))
  const parsed = parseSiteFile(site_text, { was_accepted: true })
  if ('problems' in parsed) return null
  const { site } = parsed
  // Reads the profiles in the order of `look`, by which their texts are compared.
  checkDrivers(site, profiles.find)
  if (site.iec104) profiles.text(site.iec104.points)
  return { site_text, text: whole(site_text, profiles), site, profiles }
}
