import { type Static, Type } from 'typebox'
import * as field from '../../http/fields.ts'
import { Named, Nullable } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { Id } from '../fields.ts'
import {
  notification_days,
  notificationSeverities,
  notificationTypes,
  notifiedResources,
} from '../notifications.ts'

export const NotificationId = Id('A notification of the site.', 118)

export type OmNotification = Static<typeof OmNotification>
export const OmNotification = Named('OmNotification', {
  notification_id: NotificationId,
  type: field.OneOf(notificationTypes, 'The kind of event.'),
  title: field.Text('A single line.', 'WO-2026-00042 is assigned to Electrical south'),
  body: field.Text(
    'The title of the resource at that time.',
    'String 3 of inverter 1 carries no current',
  ),
  severity: Type.Enum([...notificationSeverities]),
  is_read: field.Flag('Whether any key of the client marked the notification as read.'),
  read_at: Nullable(At('When the notification was first marked as read.')),
  created_at: At('When the notification was sent.'),
  recipient: field.TextOrNull(
    'The name of the person or team; null for everybody at the site.',
    'Electrical south',
  ),
  resource_type: field.OneOfOrNull(notifiedResources, 'The kind of resource.', 'work_order'),
  resource_id: field.TextOrNull('The id of the resource.', '42'),
  url: field.TextOrNull(
    'API path of the resource; null where it has none.',
    '/v1/sites/demo/work-orders/42',
  ),
  expires_at: Nullable(
    At(`When the notification expires, ${notification_days} days after it was sent.`),
  ),
})

const count = Type.Integer({ minimum: 0 })

export type UnreadCount = Static<typeof UnreadCount>
export const UnreadCount = Named('UnreadCount', {
  unread_count: count,
  by_type: Type.Object(
    Object.fromEntries(notificationTypes.map((type) => [type, count])) as Record<
      (typeof notificationTypes)[number],
      typeof count
    >,
    {
      additionalProperties: false,
      $id: 'UnreadByType',
      description: 'Counts of all types, zeros included.',
    },
  ),
  oldest_unread_at: Nullable(At('When the oldest unread notification was sent; null without any.')),
})
