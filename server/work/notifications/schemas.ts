import { type Static, Type } from 'typebox'
import { Nullable } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { Id } from '../fields.ts'
import {
  notification_days,
  notificationSeverities,
  notificationTypes,
  notifiedResources,
} from '../notifications.ts'

const closed = { additionalProperties: false } as const

export const NotificationId = Id('A notification of the site.', 118)

export type OmNotification = Static<typeof OmNotification>
export const OmNotification = Type.Object(
  {
    notification_id: NotificationId,
    type: Type.Enum([...notificationTypes], { description: 'The kind of event.' }),
    title: Type.String({
      description: 'A single line.',
      examples: ['WO-2026-00042 is assigned to Electrical south'],
    }),
    body: Type.String({
      description: 'The title of the resource at that time.',
      examples: ['String 3 of inverter 1 carries no current'],
    }),
    severity: Type.Enum([...notificationSeverities]),
    is_read: Type.Boolean({
      description: 'Whether any key of the client marked the notification as read.',
    }),
    read_at: Nullable(At('When the notification was first marked as read.')),
    created_at: At('When the notification was sent.'),
    recipient: Nullable(
      Type.String({
        description: 'The name of the person or team; null for everybody at the site.',
        examples: ['Electrical south'],
      }),
    ),
    resource_type: Nullable(
      Type.Enum([...notifiedResources], { description: 'The kind of resource.' }),
    ),
    resource_id: Nullable(
      Type.String({ description: 'The id of the resource.', examples: ['42'] }),
    ),
    url: Nullable(
      Type.String({
        description: 'API path of the resource; null where it has none.',
        examples: ['/v1/sites/demo/work-orders/42'],
      }),
    ),
    expires_at: Nullable(
      At(`When the notification expires, ${notification_days} days after it was sent.`),
    ),
  },
  { ...closed, $id: 'OmNotification' },
)

const count = Type.Integer({ minimum: 0 })

export type UnreadCount = Static<typeof UnreadCount>
export const UnreadCount = Type.Object(
  {
    unread_count: count,
    by_type: Type.Object(
      Object.fromEntries(notificationTypes.map((type) => [type, count])) as Record<
        (typeof notificationTypes)[number],
        typeof count
      >,
      { ...closed, $id: 'UnreadByType', description: 'Counts of all types, zeros included.' },
    ),
    oldest_unread_at: Nullable(
      At('When the oldest unread notification was sent; null without any.'),
    ),
  },
  { ...closed, $id: 'UnreadCount' },
)
