/** An event as the API serves it. */
import { type Static, Type } from 'typebox'
import { type EventType, eventScopes, eventTypes } from '../events/event-types.ts'
import { mayRead, requireModule, requireScope } from '../http/authorize.ts'
import type { Caller } from '../http/endpoint.ts'
import { scopes } from '../http/endpoint.ts'
import * as field from '../http/fields.ts'
import { Named, Nullable } from '../http/params.ts'
import { scopeModules } from '../http/scope-modules.ts'
import type { Queries } from '../storage/database.ts'

export const EventId = field.Int(
  'Unique within the site and ascending. A later event has a higher id.',
  { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [1_782_000_000_000_000] },
)

export const SiteEvent = Named('SiteEvent', {
  event_id: EventId,
  type: field.OneOf(eventTypes, 'What happened, as `noun.verb`.', 'alert.raised'),
  at: field.At('When it happened.'),
  site_id: field.Text('The site.', 'demo'),
  subject: field.Text(
    'The resource that changed. Events of one subject have ids in the order in which they happened.',
    'alert/118',
  ),
  scope: field.OneOf(scopes, 'The scope that it takes to read the event.', 'alerts:read'),
  link: field.Text('Path of the resource, or of the list that has it.', '/v1/sites/demo/alerts'),
  record: Nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'The resource after the change, as the API serves it, without amounts of money. Null when ' +
        'it exceeds 64 KiB: then read it at `link`.',
      examples: [{ alert_id: 118, severity: 'major', status: 'active' }],
    }),
  ),
})
export type SiteEvent = Static<typeof SiteEvent>

/** The types that a caller sees: those requested, by default all that its rights allow. */
export function visibleTypes(
  caller: Caller,
  requested: readonly EventType[] | undefined,
): readonly EventType[] {
  if (requested === undefined)
    return eventTypes.filter((type) => mayRead(caller, eventScopes[type]))
  for (const type of requested) {
    requireScope(caller, eventScopes[type])
    requireModule(caller, scopeModules[eventScopes[type]])
  }
  return requested
}

interface EventsOrder {
  site_id: string
  /** Only later events. */
  after: number
  types: readonly EventType[]
  limit: number
}

export type StoredEvent = Omit<SiteEvent, 'at' | 'site_id' | 'scope'> & { at: Date }

export const eventOf = (
  site_id: string,
  { event_id, type, at, subject, link, record }: StoredEvent,
): SiteEvent => ({
  event_id,
  type,
  at: at.toISOString(),
  site_id,
  subject,
  scope: eventScopes[type],
  link: `/v1/sites/${site_id}${link}`,
  record,
})

/** Events of a site in the order of their ids. */
export async function readEvents(
  db: Queries,
  { site_id, after, types, limit }: EventsOrder,
): Promise<SiteEvent[]> {
  const rows = await db.query<StoredEvent>(reading, [site_id, after, types, limit])
  return rows.map((row) => eventOf(site_id, row))
}

const reading = {
  name: 'read_events',
  text: `
    select event_id, type, at, subject, link, record from published_events
    where site_id = $1 and event_id > $2 and type = any ($3)
    order by event_id limit $4`,
} as const

export async function countEvents(
  db: Queries,
  { site_id, after, types }: Omit<EventsOrder, 'limit'>,
): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `select count(*) as count from published_events
     where site_id = $1 and event_id > $2 and type = any ($3)`,
    [site_id, after, types],
  )
  return row!.count
}
