import { Gauge, type Registry } from 'prom-client'
import type { Queries } from '../storage/database.ts'

const states = ['waiting', 'failed', 'unsendable'] as const

interface Count {
  state: (typeof states)[number]
  count: number
  oldest_s: number
}

/**
 * Metrics of unsent mails. They are read from the database at each scrape, so that all replicas
 * report the same, and are absent while the database does not answer.
 */
export function observeMails(registry: Registry, db: Queries): void {
  new Gauge({
    name: 'heliograph_mails',
    help: 'Mails that are waiting, failed, or unsendable without a mail server',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      this.reset()
      const counts = await readCounts(db)
      for (const state of counts ? states : []) {
        this.set({ state }, counts?.find((each) => each.state === state)?.count ?? 0)
      }
    },
  })
  new Gauge({
    name: 'heliograph_mail_waiting_since_timestamp_seconds',
    help: 'When the oldest waiting mail was queued',
    registers: [registry],
    async collect() {
      this.reset()
      const waiting = (await readCounts(db))?.find(({ state }) => state === 'waiting')
      if (waiting) this.set(waiting.oldest_s)
    },
  })
}

const readCounts = (db: Queries) => mailCounts(db).catch(() => null)

/** Unsent mails by state. */
export const mailCounts = (db: Queries): Promise<Count[]> =>
  db.query<Count>(
    `select state, count(*) as count, extract(epoch from min(queued_at))::float8 as oldest_s
     from mail_outbox where state <> 'sent' group by state`,
  )
