/**
 * The permit over the life of the agent. What was accepted once stays in force, also over restarts,
 * until another right file takes its place. Without any there is no permit, and nothing is raised.
 */
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Timers } from '@heliograph/domain/clock'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { readIfThere, writeDurably } from '../durable-file.ts'
import { type FileWatch, watchFile } from '../file-watch.ts'
import { type PermitFile, type PermitSite, parsePermitFile, permitOf } from './permit-file.ts'
import { lowestPermit, type Permit } from './permit-terms.ts'

export interface PermitWatchNeeds {
  timers: Timers
  permit_file: string
  /** The copy of what was accepted last. */
  accepted_file: string
  /** What each plant was permitted last, also those that have no entry any more. */
  last_file: string
  /** The site as it is now. */
  site(): PermitSite
  /** `last_file` is not what was written; `error` has no figure. */
  onFault?(error: Error): void
  /** Replaces a file durably; otherwise that is done on the disk. */
  write?(path: string, text: string): Promise<void>
}

type Accepted = { file: PermitFile; text: string }

const LastPermits = Type.Array(Type.Tuple([Type.Integer(), Type.Number({ minimum: 0 })]))

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
  /** With a copy on the disk. */
  #accepted: Accepted | null
  /** By logger_id. */
  #last_w: ReadonlyMap<number, number>
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
  /** To be copied: until it is, only what is lower in it holds. */
  #wanted: Accepted | null = null
  #copying: Promise<void> | null = null
  /** The copy on the disk is one that was overtaken by another meanwhile. */
  #is_copy_another = false

  private constructor(
    needs: PermitWatchNeeds,
    accepted: Accepted | null,
    last_w: ReadonlyMap<number, number>,
  ) {
    this.#needs = needs
    this.#accepted = accepted
    this.#last_w = last_w
    this.#permit = accepted && this.#permitOf(accepted.file)
  }

  /** Never rejects: without a permit nothing is raised, and all else goes on. */
  static async open(needs: PermitWatchNeeds): Promise<PermitWatch> {
    const text = await readIfThere(needs.accepted_file).catch(() => null)
    const { site_id } = needs.site()
    // Plants may have left the site since; a copy that was damaged is none.
    const parsed = text === null ? null : parsePermitFile(text, { site_id, plants: null })
    const accepted =
      text !== null && parsed && 'file' in parsed ? { text, file: parsed.file } : null
    const watch = new PermitWatch(needs, accepted, await lastOf(needs))
    await watch.#judge({ is_sure: true })
    await watch.#copying
    return watch
  }

  get accepted(): Accepted | null {
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
    this.#looking ??= this.#judge({ is_sure: false }).finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #judge({ is_sure }: { is_sure: boolean }): Promise<void> {
    const { permit_file, site: siteNow } = this.#needs
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
    this.#seen = seen
    this.#suspected = null
    const is_copied = text === this.#accepted?.text && !this.#copying && !this.#is_copy_another
    if (!is_copied) return this.#accept({ file: judged.file, text })
    if (this.#is_lowered) this.#permit = this.#permitOf(judged.file)
    this.#is_lowered = false
    this.#mend()
  }

  /**
   * A lower one holds at once, also while the disk hangs or takes no copy of it, and whatever it is
   * still copying; a higher one only with its copy on the disk.
   */
  #accept(next: Accepted): void {
    if (this.#permit) this.#permit = lowestPermit(this.#permit, permitOf(next.file))
    this.#is_lowered = true
    this.#wanted = next
    this.#copying ??= this.#copy().finally(() => {
      this.#copying = null
    })
  }

  /** Never rejects. */
  async #copy(): Promise<void> {
    while (this.#wanted) {
      const next = this.#wanted
      try {
        const last_w = await this.#write(next)
        if (next === this.#wanted) this.#hold(next, last_w)
        else this.#is_copy_another = true
      } catch (error) {
        if (next !== this.#wanted) continue
        this.#wanted = null
        // It is looked at again.
        this.#seen = null
        this.#reject([`its copy cannot be kept (${(error as NodeJS.ErrnoException).code})`])
      }
    }
  }

  async #write({ file, text }: Accepted): Promise<ReadonlyMap<number, number>> {
    const { accepted_file, last_file, write = writeDurably } = this.#needs
    const before = this.#accepted ? permitOf(this.#accepted.file).plant_w : []
    const last_w = new Map([...this.#last_w, ...before, ...permitOf(file).plant_w])
    // Before the copy in which a plant may have no entry any more.
    await write(last_file, JSON.stringify([...last_w]))
    await write(accepted_file, text)
    return last_w
  }

  #hold(next: Accepted, last_w: ReadonlyMap<number, number>): void {
    const before = this.#accepted
    // Sealed alike is the same permit, whatever its comments say now.
    this.#is_changed = before !== null && before.file.checksum !== next.file.checksum
    this.#accepted = next
    this.#last_w = last_w
    this.#permit = this.#permitOf(next.file)
    this.#is_lowered = false
    this.#is_copy_another = false
    this.#wanted = null
    if (before?.file.checksum !== next.file.checksum) {
      this.#listener?.onAccepted(next.file, this.#is_changed)
    }
    this.#mend()
  }

  #permitOf(file: PermitFile): Permit {
    const permit = permitOf(file)
    const lapsed = [...this.#last_w].filter(([logger_id]) => !permit.plant_w.has(logger_id))
    return lapsed.length > 0 ? { ...permit, lapsed_w: new Map(lapsed) } : permit
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

async function lastOf({ last_file, onFault }: PermitWatchNeeds) {
  try {
    const found: unknown = JSON.parse((await readIfThere(last_file)) ?? '[]')
    if (Value.Check(LastPermits, found)) return new Map(found)
  } catch {
    // It is told below.
  }
  onFault?.(new Error(`${basename(last_file)} cannot be understood`))
  return new Map<number, number>()
}

type Found = { text: string } | { error: string }

async function read(path: string): Promise<Found> {
  try {
    return { text: await readFile(path, 'utf8') }
  } catch (error) {
    return { error: (error as NodeJS.ErrnoException).code ?? 'unknown' }
  }
}
