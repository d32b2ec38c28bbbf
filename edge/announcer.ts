/** Tells the server the inventory: what site.yaml says, once for each state of it and journal. */
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { Timers } from '@heliograph/domain/clock'
import type { Site } from '@heliograph/domain/site'
import { readIfThere } from './durable-file.ts'
import type { Journal } from './journal.ts'
import type { JournalNotice } from './journal-notice.ts'
import type { Log } from './log.ts'

interface AnnouncerNeeds {
  /** Remembers what the server acknowledged; without it the same is announced again. */
  path: string
  journal: Pick<Journal, 'append' | 'epoch'>
  timers: Timers
  log: Log
}

const retry_ms = 10_000

export class Announcer {
  readonly #needs: AnnouncerNeeds
  /** Epoch, digest and frame of what the server has. */
  #announced: string
  #wanted: { site: Site; state: string } | null = null
  #under_way: { seq: number; state: string } | null = null
  #journaling = false
  #cancelRetry: () => void = () => {}

  private constructor(needs: AnnouncerNeeds, announced: string) {
    this.#needs = needs
    this.#announced = announced
  }

  static async open(needs: AnnouncerNeeds): Promise<Announcer> {
    return new Announcer(needs, (await readIfThere(needs.path)) ?? '')
  }

  /** Journals the site unless the server has it. */
  async announce(site: Site): Promise<void> {
    const payload = JSON.stringify(site)
    const digest = createHash('sha256').update(payload).digest('hex')
    const state = `${this.#needs.journal.epoch} ${digest} `
    this.#cancelRetry()
    this.#wanted = { site, state }
    const is_known = this.#announced.startsWith(state) || state === this.#under_way?.state
    if (is_known || this.#journaling) return
    this.#journaling = true
    try {
      const [record] = await this.#needs.journal.append([
        { kind: 'inventory', payload, readings: 0 },
      ])
      if (record) this.#under_way = { seq: record.seq, state }
    } catch (error) {
      this.#needs.log.error({ err: error }, 'the inventory cannot be journaled; trying again')
      this.#cancelRetry = this.#needs.timers.after(retry_ms, () => void this.announce(site))
    } finally {
      this.#journaling = false
    }
    if (this.#wanted.state !== state) await this.announce(this.#wanted.site)
  }

  /** A server that goes by an older inventory, restored from a backup, is told anew. */
  onWelcome(inventory: { epoch: string; seq: number } | null): void {
    if (!this.#announced || this.#under_way || !this.#wanted) return
    const [epoch, , seq] = this.#announced.trim().split(' ')
    if (inventory && inventory.epoch === epoch && inventory.seq >= Number(seq)) return
    this.#announced = ''
    void this.announce(this.#wanted.site)
  }

  onAcked(seqs: readonly number[]): void {
    if (!this.#under_way || !seqs.includes(this.#under_way.seq)) return
    this.#announced = `${this.#under_way.state}${this.#under_way.seq}\n`
    this.#under_way = null
    writeFile(this.#needs.path, this.#announced, { mode: 0o600 }).catch((error: unknown) => {
      this.#needs.log.warn(
        { err: error },
        'the inventory will be announced again at the next start',
      )
    })
  }

  /** An inventory that the journal lost is announced again. */
  onNotice(notice: JournalNotice): void {
    if (notice.type !== 'dropped' && notice.type !== 'damaged') return
    const seq = this.#under_way?.seq ?? 0
    if (seq < notice.first_seq || seq > notice.last_seq) return
    this.#under_way = null
    if (this.#wanted) void this.announce(this.#wanted.site)
  }

  close(): void {
    this.#cancelRetry()
  }
}
