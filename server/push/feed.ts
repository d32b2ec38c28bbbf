/**
 * Brings published events to streams. Each site has one reader for all its streams, woken by the
 * notification of a commit. Without streams, nothing listens and no query runs.
 */
import { eventTypes } from '../events/event-types.ts'
import { published_channel } from '../events/publish.ts'
import type { EventStream } from '../http/endpoint.ts'
import { messageOf } from '../http/event-stream.ts'
import type { Database } from '../storage/database.ts'
import type { Subscription } from '../storage/listen.ts'
import { runForAll } from '../storage/reader.ts'
import { readEvents, type SiteEvent } from './event.ts'

const page_size = 100

interface Reader {
  stream: EventStream
  types: ReadonlySet<string>
  /** Id of the last event that the reader has passed. */
  passed: number
}

interface SiteFeed {
  readers: Set<Reader>
  is_reading: boolean
  is_woken: boolean
}

export type EventFeed = ReturnType<typeof createEventFeed>

export function createEventFeed(db: Database) {
  const sites = new Map<string, SiteFeed>()
  let joined = 0
  let listening: Promise<Subscription> | null = null

  const listen = () =>
    db.listen(published_channel, {
      notified: wake,
      resumed: () => {
        for (const site_id of sites.keys()) wake(site_id)
      },
    })

  function wake(site_id: string): void {
    const feed = sites.get(site_id)
    if (!feed) return
    feed.is_woken = true
    if (!feed.is_reading) void runForAll(() => readOn(site_id, feed))
  }

  async function readOn(site_id: string, feed: SiteFeed): Promise<void> {
    feed.is_reading = true
    try {
      while (feed.is_woken && feed.readers.size > 0) {
        feed.is_woken = false
        const after = Math.min(...[...feed.readers].map(({ passed }) => passed))
        const events = await readEvents(db, { site_id, after, types: eventTypes, limit: page_size })
        for (const event of events) deliver(event, feed.readers)
        if (events.length === page_size) feed.is_woken = true
      }
    } catch {
      // Clients resume after their last event.
      for (const { stream } of feed.readers) stream.end('service_unavailable')
    } finally {
      feed.is_reading = false
    }
  }

  /** Sends what was published since the last event of the reader, at the pace of its client. */
  async function catchUp(site_id: string, reader: Reader): Promise<void> {
    for (;;) {
      const wanted = { site_id, after: reader.passed, types: eventTypes, limit: page_size }
      const events = await readEvents(db, wanted)
      for (const event of events) deliver(event, [reader])
      await reader.stream.drained()
      if (events.length < page_size || reader.stream.ended.aborted) return
    }
  }

  function add(site_id: string, reader: Reader): void {
    const feed = sites.get(site_id) ?? { readers: new Set(), is_reading: false, is_woken: false }
    sites.set(site_id, feed)
    feed.readers.add(reader)
    reader.stream.ended.addEventListener('abort', () => {
      feed.readers.delete(reader)
      if (feed.readers.size === 0) sites.delete(site_id)
    })
    wake(site_id)
  }

  function leave(): void {
    joined -= 1
    if (joined > 0) return
    const stopping = listening
    listening = null
    void stopping?.then((subscription) => subscription.stop())
  }

  return {
    /** Sends the events after `after`, or from now on for null. Resolves before the first one. */
    async join(
      stream: EventStream,
      of: { site_id: string; types: readonly string[]; after: number | null },
    ): Promise<void> {
      const { site_id, types } = of
      joined += 1
      listening ??= listen()
      stream.ended.addEventListener('abort', leave, { once: true })
      await listening
      const passed = of.after ?? (await newestId(db, site_id))
      // A client that loses the connection before the first event resumes here.
      stream.send(messageOf({ id: passed }))
      const reader = { stream, types: new Set(types), passed }
      void runForAll(() => catchUp(site_id, reader))
        .then(() => {
          if (!stream.ended.aborted) add(site_id, reader)
        })
        .catch(() => stream.end('service_unavailable'))
    },
  }
}

function deliver(event: SiteEvent, readers: Iterable<Reader>): void {
  const { event_id: id, type } = event
  let message: string | null = null
  for (const reader of readers) {
    if (id <= reader.passed) continue
    reader.passed = id
    if (!reader.types.has(type)) continue
    message ??= messageOf({ id, event: type, data: event })
    reader.stream.send(message)
  }
}

async function newestId(db: Database, site_id: string): Promise<number> {
  const row = await db.queryOne<{ last_event_id: number }>(
    'select last_event_id from event_counters where site_id = $1',
    [site_id],
  )
  return row?.last_event_id ?? 0
}
