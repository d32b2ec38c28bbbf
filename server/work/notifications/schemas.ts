import { type Static, Type } from 'typebox'
import { id_max, Nullable } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import {
  notification_days,
  notificationSeverities,
  notificationTypes,
  notifiedResources,
} from '../notifications.ts'

const closed = { additionalProperties: false } as const

export const NotificationId = Type.Integer({
  minimum: 0,
  maximum: id_max,
  description: 'A notification of the site.',
  examples: [118],
})

export type OmNotification = Static<typeof OmNotification>
export const OmNotification = Type.Object(
  {
    notification_id: NotificationId,
    type: Type.Enum([...notificationTypes], { description: 'What happened.' }),
    title: Type.String({ description: 'In one line.' }),
    body: Type.String({ description: 'What it is about, as that was called then.' }),
    severity: Type.Enum([...notificationSeverities]),
    is_read: Type.Boolean({ description: 'Whether any key of the client marked it as read.' }),
    read_at: Nullable(At('When that was first.')),
    created_at: At('When it was told.'),
    recipient: Nullable(
      Type.String({ description: 'Whom it concerns, by any name; null: everybody at the site.' }),
    ),
    resource_type: Nullable(
      Type.Enum([...notifiedResources], { description: 'What it is about.' }),
    ),
    resource_id: Nullable(Type.String({ description: 'Which one.', examples: ['42'] })),
    url: Nullable(
      Type.String({
        description: 'Path of that, where it can be read by itself.',
        examples: ['/v1/sites/demo/work-orders/42'],
      }),
    ),
    expires_at: Nullable(At(`${notification_days} days later: it is listed until then.`)),
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
      { ...closed, $id: 'UnreadByType', description: 'Of each type, also where there is none.' },
    ),
    oldest_unread_at: Nullable(At('When the oldest of them was told; null where there is none.')),
  },
  { ...closed, $id: 'UnreadCount' },
)
