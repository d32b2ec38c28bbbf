/**
 * The permit over the life of the agent. What was accepted once stays in force, also over restarts,
 * until another right file takes its place. Without any there is no permit, and nothing is raised.
 */
import { basename } from 'node:path'
import type { Timers } from '@heliograph/domain/clock'
import { type FileWatch, watchFile } from '../file-watch.ts'
import { inTime } from '../in-time.ts'
import {
  type Accepted,
  type FoundPermit,
  findPermit,
  keepPermit,
  type PermitPlaces,
  readText,
} from './permit-copy.ts'
import { type PermitFile, type PermitSite, parsePermitFile, permitOf } from './permit-file.ts'
import { lostPermit, lowestPermit, type Permit, permitAfter } from './permit-terms.ts'

interface PermitWatchNeeds extends PermitPlaces {
  timers: Timers
  permit_file: string
  /** The site as it is now. */
  site(): PermitSite
}

/** A disk that hangs at the start keeps nothing from being lowered for longer. */
const start_ms = 1000

interface PermitListener {
  /** `is_change` is false for what was in force before the start, and for the first ever. */
  onAccepted(file: PermitFile, is_change: boolean): void
  /** Lines without a figure that say what is wrong; the permit in force stays. */
  onRejected(problems: readonly string[]): void
  /** The file is what is in force. */
  onMended(): void
}

interface Wanted extends Accepted {
  meanwhile: Permit
}

export class PermitWatch {
  readonly #needs: PermitWatchNeeds
  /** With a copy on the disk. */
  #accepted: Accepted | null
  /** Lower than that while another is copied. */
  #permit: Permit | null
  /** All that is on the disk is what is in force. */
  #is_copied: boolean
  #listener: PermitListener | null = null
  /** What was last judged: the text, and the site that it was held against. */
  #seen: string | null = null
  #suspected: string | null = null
  #rejected: readonly string[] | null = null
  /** The file is wrong now, whatever is still copied of what it was before. */
  #is_wrong = false
  #watch: FileWatch | null = null
  #looking: Promise<void> | null = null
  /** The permit was another before this run of the agent, or during it. */
  #is_changed = false
  /** To be copied; `meanwhile` holds until it is. */
  #wanted: Wanted | null = null
  #copying: Promise<void> | null = null

  private constructor(needs: PermitWatchNeeds, { accepted, permit, is_whole }: FoundPermit) {
    this.#needs = needs
    this.#accepted = accepted
    this.#permit = permit
    this.#is_copied = is_whole
  }

  /** Never rejects: without a permit nothing is raised, and all else goes on. */
  static async open(needs: PermitWatchNeeds): Promise<PermitWatch> {
    const watch = new PermitWatch(needs, await findPermit(needs, needs.site().site_id))
    await watch.#judge({ is_sure: true })
    if (watch.#copying !== null) await inTime(watch.#copying, start_ms, needs.timers)
    return watch
  }

  get accepted(): Accepted | null {
    return this.#accepted
  }

  /** null: there never was any. Without a copy of it nothing is raised under it. */
  get permit(): Permit | null {
    return this.#permit
  }

  /** Says how the file stands, then watches it. */
  start(listener: PermitListener): void {
    this.#listener = listener
    if (this.#accepted) listener.onAccepted(this.#accepted.file, this.#is_changed)
    if (this.#rejected) listener.onRejected(this.#rejected)
    else if (this.#is_copied || !this.#permit) listener.onMended()
    const { permit_file, timers } = this.#needs
    this.#watch = watchFile(permit_file, timers, () => this.check())
  }

  close(): void {
    this.#watch?.close()
  }

  /** Looks at the file now. A wrong one counts when seen twice: it may be half written. */
  check(): Promise<void> {
    this.#looking ??= this.#judge({ is_sure: false }).finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #judge({ is_sure }: { is_sure: boolean }): Promise<void> {
    const { permit_file, site: siteNow } = this.#needs
    const found = await readText(permit_file)
    const site = siteNow()
    const seen = JSON.stringify([found, site.site_id, [...(site.plants ?? [])], site.rated_kw])
    if (seen === this.#seen) return
    // A site that never had a permit file does without.
    if ('error' in found && found.error === 'ENOENT' && !this.#permit) {
      this.#seen = seen
      return this.#mend()
    }
    const judged =
      'error' in found
        ? { problems: [`cannot be read (${found.error})`] }
        : parsePermitFile(found.text, site)
    if ('problems' in judged) {
      if (!is_sure && this.#suspected !== seen) {
        this.#suspected = seen
        this.#watch?.again()
        return
      }
      this.#seen = seen
      this.#is_wrong = true
      return this.#reject(judged.problems.map((problem) => `${basename(permit_file)}:${problem}`))
    }
    const text = 'text' in found ? found.text : ''
    this.#seen = seen
    this.#suspected = null
    this.#is_wrong = false
    if (!this.#is_copied || text !== this.#accepted?.text) {
      return this.#accept({ file: judged.file, text })
    }
    this.#mend()
  }

  /**
   * What is lower in it holds at once, as does the first: also while the disk hangs or takes no
   * copy of it, and whatever is still copied. What is higher holds only with its copy on the disk.
   */
  #accept(next: Accepted): void {
    const meanwhile = lowestPermit(this.#permit ?? lostPermit, permitOf(next.file))
    this.#permit = meanwhile
    this.#wanted = { ...next, meanwhile }
    this.#copying ??= this.#copy()
  }

  /** Never rejects. */
  async #copy(): Promise<void> {
    while (this.#wanted) {
      const next = this.#wanted
      this.#is_copied = false
      try {
        await keepPermit(this.#needs, next, () => next === this.#wanted)
        if (next === this.#wanted) this.#hold(next)
      } catch (error) {
        if (next !== this.#wanted) continue
        this.#wanted = null
        // It is looked at again.
        this.#seen = null
        if (!this.#is_wrong) this.#reject([notCopied(error as NodeJS.ErrnoException)])
      }
    }
    this.#copying = null
  }

  #hold({ file, text, meanwhile }: Wanted): void {
    const before = this.#accepted
    // Sealed alike is the same permit, whatever its comments say now.
    this.#is_changed = before !== null && before.file.checksum !== file.checksum
    this.#accepted = { file, text }
    this.#permit = permitAfter(meanwhile, permitOf(file))
    this.#is_copied = true
    this.#wanted = null
    if (before?.file.checksum !== file.checksum) {
      this.#listener?.onAccepted(file, this.#is_changed)
    }
    if (!this.#is_wrong) this.#mend()
  }

  #reject(problems: readonly string[]): void {
    this.#rejected = problems
    this.#listener?.onRejected(problems)
  }

  #mend(): void {
    this.#rejected = null
    this.#listener?.onMended()
  }
}

const notCopied = ({ code }: NodeJS.ErrnoException) =>
  `its copy cannot be kept (${code}), so only what is lower in it holds`
