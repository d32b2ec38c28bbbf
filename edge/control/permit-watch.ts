/**
 * The permit over the life of the agent. What was accepted once stays in force, also over restarts,
 * until another right file takes its place. Without any there is no permit, and nothing is raised.
 */
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Timers } from '@heliograph/domain/clock'
import { readIfThere, writeDurably } from '../durable-file.ts'
import { type FileWatch, watchFile } from '../file-watch.ts'
import { type PermitFile, type PermitSite, parsePermitFile, permitOf } from './permit-file.ts'
import { lowestPermit, type Permit } from './permit-terms.ts'

export interface PermitWatchNeeds {
  timers: Timers
  permit_file: string
  /** The copy of what was accepted last. */
  accepted_file: string
  /** The site as it is now. */
  site(): PermitSite
}

export interface PermitListener {
  /** `is_change` is false for what was in force before the start, and for the first ever. */
  onAccepted(file: PermitFile, is_change: boolean): void
  /** Lines without a figure that say what is wrong; the permit in force stays. */
  onRejected(problems: readonly string[]): void
  /** The file is what is in force. */
  onMended(): void
}

export class PermitWatch {
  readonly #needs: PermitWatchNeeds
  #accepted: { file: PermitFile; text: string } | null
  #permit: Permit | null
  #listener: PermitListener | null = null
  /** What was last judged: the text, and the site that it was held against. */
  #seen: string | null = null
  #suspected: string | null = null
  #rejected: readonly string[] | null = null
  #watch: FileWatch | null = null
  #looking: Promise<void> | null = null
  /** The permit was another before this run of the agent, or during it. */
  #is_changed = false
  /** What is in force may be lower than what was accepted. */
  #is_lowered = false

  private constructor(needs: PermitWatchNeeds, accepted: PermitWatch['accepted']) {
    this.#needs = needs
    this.#accepted = accepted
    this.#permit = accepted && permitOf(accepted.file)
  }

  /** Never rejects: without a permit nothing is raised, and all else goes on. */
  static async open(needs: PermitWatchNeeds): Promise<PermitWatch> {
    const text = await readIfThere(needs.accepted_file).catch(() => null)
    const { site_id } = needs.site()
    // Plants may have left the site since; a copy that was damaged is none.
    const parsed = text === null ? null : parsePermitFile(text, { site_id, plants: null })
    const accepted =
      text !== null && parsed && 'file' in parsed ? { text, file: parsed.file } : null
    const watch = new PermitWatch(needs, accepted)
    await watch.#look({ is_sure: true })
    return watch
  }

  get accepted(): { file: PermitFile; text: string } | null {
    return this.#accepted
  }

  /** null: none was ever accepted. */
  get permit(): Permit | null {
    return this.#permit
  }

  /** Says how the file stands, then watches it. */
  start(listener: PermitListener): void {
    this.#listener = listener
    if (this.#accepted) listener.onAccepted(this.#accepted.file, this.#is_changed)
    if (this.#rejected) listener.onRejected(this.#rejected)
    else listener.onMended()
    const { permit_file, timers } = this.#needs
    this.#watch = watchFile(permit_file, timers, () => this.check())
  }

  close(): void {
    this.#watch?.close()
  }

  /** Looks at the file now. A wrong one counts when seen twice: it may be half written. */
  check(): Promise<void> {
    this.#looking ??= this.#look({ is_sure: false }).finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #look(how: { is_sure: boolean }): Promise<void> {
    try {
      await this.#judge(how)
    } catch (error) {
      // The disk takes no copy of it: it is looked at again.
      this.#reject([`its copy cannot be kept (${(error as NodeJS.ErrnoException).code})`])
    }
  }

  async #judge({ is_sure }: { is_sure: boolean }): Promise<void> {
    const { permit_file, accepted_file, site: siteNow } = this.#needs
    const found = await read(permit_file)
    const site = siteNow()
    const seen = JSON.stringify([found, site.site_id, [...(site.plants ?? [])]])
    if (seen === this.#seen) return
    // A site that never had a permit file does without.
    if ('error' in found && found.error === 'ENOENT' && !this.#accepted) {
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
      return this.#reject(judged.problems.map((problem) => `${basename(permit_file)}:${problem}`))
    }
    const text = 'text' in found ? found.text : ''
    if (text !== this.#accepted?.text)
      await this.#accept({ file: judged.file, text }, accepted_file)
    else if (this.#is_lowered) this.#permit = permitOf(judged.file)
    this.#is_lowered = false
    this.#seen = seen
    this.#suspected = null
    this.#mend()
  }

  async #accept(next: { file: PermitFile; text: string }, accepted_file: string): Promise<void> {
    // A lower one holds also while the disk takes no copy of it, a higher one only after that.
    const permit = permitOf(next.file)
    if (this.#permit) this.#permit = lowestPermit(this.#permit, permit)
    this.#is_lowered = true
    this.#seen = null
    await writeDurably(accepted_file, next.text)
    const before = this.#accepted
    // Sealed alike is the same permit, whatever its comments say now.
    this.#is_changed = before !== null && before.file.checksum !== next.file.checksum
    this.#accepted = next
    this.#permit = permit
    if (before?.file.checksum !== next.file.checksum) {
      this.#listener?.onAccepted(next.file, this.#is_changed)
    }
  }

  #reject(problems: readonly string[]): void {
    this.#rejected = problems
    this.#listener?.onRejected(problems)
  }

  #mend(): void {
    if (this.#rejected) this.#listener?.onMended()
    this.#rejected = null
  }
}

type Found = { text: string } | { error: string }

async function read(path: string): Promise<Found> {
  try {
    return { text: await readFile(path, 'utf8') }
  } catch (error) {
    return { error: (error as NodeJS.ErrnoException).code ?? 'unknown' }
  }
}
