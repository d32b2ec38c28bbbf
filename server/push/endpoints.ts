import { Type } from 'typebox'
import { eventTypes } from '../events/event-types.ts'
import type { Context } from '../http/context.ts'
import { pageOf } from '../http/cursor.ts'
import { endpoint } from '../http/endpoint.ts'
import { CursorList, cursorList } from '../http/envelope.ts'
import { invalid, violation } from '../http/errors.ts'
import {
  behind_kib_max,
  heartbeat_s,
  streams_per_key_max,
  unread_s_max,
} from '../http/event-stream.ts'
import { countEvents, EventId, readEvents, SiteEvent, visibleTypes } from './event.ts'
import type { EventFeed } from './feed.ts'

export interface Needs extends Context {
  eventFeed: EventFeed
}

const page_size = 100

export const listEvents = endpoint({
  method: 'GET',
  tag: 'Events',
  scope: 'plant:read',
  module: 'basic_scada',
  path: '/events',
  operation_id: 'events_list',
  summary: 'List or stream what happened at a site',
  description:
    'An extension. Returns events of the last 30 days, oldest first, in pages of ' +
    `${page_size}. To poll, send the \`event_id\` of the last event as \`after\`. Events that need a ` +
    'scope or module that the key lacks are left out; rejected with 403 when `types` names one. ' +
    'Accepts `text/event-stream`: sends each event when it is committed, with its `event_id` as ' +
    '`id` and its `type` as `event`. The stream starts after `Last-Event-ID`, else after `after`, ' +
    `else now. A comment follows every ${heartbeat_s} s without events. A message \`closed\` with a ` +
    '`reason` is the last one: the code of the error when the key has lost its rights, ' +
    '`rights_changed`, `server_stops`, `service_unavailable`, or `slow_consumer` for a client that ' +
    `is more than ${behind_kib_max} KiB behind or reads nothing for ${unread_s_max} s. Reconnect with ` +
    `\`Last-Event-ID\`: no event is lost or repeated. A key may have ${streams_per_key_max} streams at ` +
    'a time; further ones are rejected with 429 and the `details.policy` `concurrent_streams`.',
  query: {
    types: Type.Optional(
      Type.Array(Type.Enum([...eventTypes]), {
        minItems: 1,
        description:
          'Only events of this type; may be repeated. Defaults to all that the key may read.',
        examples: [['alert.raised']],
      }),
    ),
    after: Type.Optional({
      ...EventId,
      description: 'Only events later than this one. Defaults to all events.',
    }),
  },
  cursor: { event_id: EventId },
  returns: CursorList(SiteEvent),
  async handle({ site: { site_id }, caller, query, after }, { db }: Needs) {
    const types = visibleTypes(caller, query.types)
    const wanted = { site_id, types, after: query.after ?? 0 }
    const count = await countEvents(db, wanted)
    const from = after?.event_id ?? wanted.after
    const events = await readEvents(db, { ...wanted, after: from, limit: page_size + 1 })
    const page = pageOf(events, page_size, ({ event_id }) => ({ event_id }))
    return cursorList(page, count)
  },
  async stream({ site: { site_id }, caller, query, last_event_id }, { eventFeed }: Needs) {
    const types = visibleTypes(caller, query.types)
    const after = last_event_id === null ? (query.after ?? null) : idOf(last_event_id)
    return (stream) => eventFeed.join(stream, { site_id, types, after })
  },
})

function idOf(last_event_id: string): number {
  const id = Number(last_event_id)
  if (/^\d+$/.test(last_event_id) && Number.isSafeInteger(id)) return id
  const message = 'must be the id of an event'
  throw invalid(violation('Last-Event-ID', 'invalid_format', message, 'header'))
}
