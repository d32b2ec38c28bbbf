/**
 * Delivers events to webhooks, at least once each. A delivery is claimed in the database, so that
 * servers share the work, and one that dies leaves its claims to the others. Each webhook has its
 * own lane: a slow receiver holds up no other. Without deliveries, no timer and no query runs.
 */
import type { Clock, Timers } from '@heliograph/domain/clock'
import { day_ms, hour_ms, minute_ms, second_ms } from '@heliograph/domain/durations'
import { queued_channel } from '../../events/publish.ts'
import type { Database, Log } from '../../storage/database.ts'
import {
  type ClaimedDelivery,
  claimDeliveries,
  dueWebhooks,
  nextTry,
  readWebhookKeys,
  type Settlement,
  settle,
  switchOff,
} from './delivery-store.ts'
import { type SendSettings, type Sent, send } from './send.ts'

/** Requests of one webhook at a time. */
const at_once = 5
/** Longer than a request may take. */
const lease_ms = minute_ms
/** After each failed attempt; the last pause is repeated. */
const pauses_ms = [
  5 * second_ms,
  30 * second_ms,
  2 * minute_ms,
  10 * minute_ms,
  30 * minute_ms,
  hour_ms,
  2 * hour_ms,
  4 * hour_ms,
  8 * hour_ms,
  12 * hour_ms,
]
/** A delivery that failed for so long has failed; a webhook that did is switched off. */
const failing_ms_max = 3 * day_ms
/** The longest delay of a timer. */
const timer_ms_max = day_ms

interface Lane {
  is_woken: boolean
  done: Promise<void>
}

interface Needs {
  db: Database
  clock: Clock
  timers: Timers
  log: Log
  settings: SendSettings
}

export type Deliveries = Awaited<ReturnType<typeof startDeliveries>>

export async function startDeliveries({ db, clock, timers, log, settings }: Needs) {
  const lanes = new Map<string, Lane>()
  let is_stopped = false
  let cancel = () => {}
  const listening = await db.listen(queued_channel, {
    notified: wake,
    resumed: () => void wakeDue(),
  })

  function wake(webhook_id: string): void {
    const lane = lanes.get(webhook_id)
    if (lane) lane.is_woken = true
    else if (!is_stopped) {
      const made: Lane = { is_woken: true, done: Promise.resolve() }
      lanes.set(webhook_id, made)
      made.done = run(webhook_id, made)
    }
  }

  async function run(webhook_id: string, lane: Lane): Promise<void> {
    try {
      while (lane.is_woken && !is_stopped) {
        lane.is_woken = false
        const order = { webhook_id, now: clock.now(), lease_ms, limit: at_once }
        const claimed = await claimDeliveries(db, order)
        if (claimed.length > 0) lane.is_woken = true
        await Promise.all(claimed.map(deliver))
      }
    } catch (error) {
      log.error({ err: error, webhook_id }, 'deliveries of a webhook failed and will be retried')
    } finally {
      lanes.delete(webhook_id)
    }
    await scheduleNext()
  }

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    const { site_id, event_id, webhook_id, url } = delivery
    const at = clock.now()
    const secrets = await readWebhookKeys(db, webhook_id, at)
    if (secrets === null) return
    const message_id = `${site_id}_${event_id}`
    const sent = await send({ url, message_id, secrets, body: bodyOf(delivery), at }, settings)
    await db.transaction(async (tx) => {
      const since = await settle(tx, delivery, settlementOf(delivery, sent, at), clock.now())
      if (since === null || clock.now().getTime() - since.getTime() < failing_ms_max) return
      await switchOff(tx, delivery, since)
      log.warn({ webhook_id, since }, 'a webhook was switched off: its deliveries failed')
    })
  }

  /** Wakes the lanes of due deliveries, of a server that has died too. */
  async function wakeDue(): Promise<void> {
    try {
      for (const { webhook_id } of await dueWebhooks(db, clock.now())) wake(webhook_id)
    } catch (error) {
      log.error({ err: error }, 'due deliveries of webhooks could not be read')
    }
    await scheduleNext()
  }

  async function scheduleNext(): Promise<void> {
    cancel()
    cancel = () => {}
    if (is_stopped) return
    const next = await nextTry(db).catch((error: unknown) => {
      log.error({ err: error }, 'due deliveries of webhooks could not be read')
      return new Date(clock.now().getTime() + minute_ms)
    })
    if (next === null || is_stopped) return
    const delay_ms = Math.max(second_ms, next.getTime() - clock.now().getTime())
    cancel()
    cancel = timers.after(Math.min(delay_ms, timer_ms_max), () => void wakeDue())
  }

  await wakeDue()
  return {
    /** Starts no more requests; resolves when those under way are settled. */
    async stop(): Promise<void> {
      is_stopped = true
      cancel()
      await listening.stop()
      await Promise.all([...lanes.values()].map(({ done }) => done))
    },
  }
}

const bodyOf = ({ event }: ClaimedDelivery) =>
  JSON.stringify({ type: event.type, timestamp: event.at, data: event })

function settlementOf(
  { tries, first_tried_at }: ClaimedDelivery,
  sent: Sent,
  at: Date,
): Settlement {
  const attempt = { ...sent, at }
  if (sent.failure === null) return { ...attempt, state: 'delivered', next_try_at: at }
  const pause_ms = pauses_ms[Math.min(tries, pauses_ms.length) - 1]!
  const next_ms = at.getTime() + pause_ms
  const is_over = next_ms - first_tried_at.getTime() > failing_ms_max
  return { ...attempt, state: is_over ? 'failed' : 'waiting', next_try_at: new Date(next_ms) }
}
