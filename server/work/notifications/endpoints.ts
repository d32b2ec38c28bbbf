import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { endpoint, type Request } from '../../http/endpoint.ts'
import { Page } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import * as field from '../../http/fields.ts'
import { page } from '../../http/params.ts'
import { notification_days } from '../notifications.ts'
import { NotificationId, OmNotification, UnreadCount } from './schemas.ts'
import { markRead, type Reader, readNotifications, readUnreadCount } from './store.ts'

const tag = { tag: 'Maintenance', module: 'om' } as const
const reads = { ...tag, method: 'GET', scope: 'om:read' } as const

const readerOf = (
  { site, caller }: Pick<Request<unknown, unknown, unknown>, 'site' | 'caller'>,
  { clock }: Context,
): Reader => ({ site_id: site.site_id, client_id: caller.client_id, now: clock.now() })

export const listNotifications = endpoint({
  ...reads,
  path: '/om/notifications',
  operation_id: 'om_notifications_list',
  summary: 'List notifications',
  description:
    'Returns notifications of operation and maintenance, newest first. A notification that arrives ' +
    'between two pages shifts the others back, so that none is missed. With `unread_only`, read ' +
    'the first page again after marking its notifications as read. Notifications are listed for ' +
    `${notification_days} days.`,
  query: {
    unread_only: Type.Optional(
      field.Flag('Returns only notifications that the client has not read.', {
        default: false,
        examples: [true],
      }),
    ),
    ...page,
  },
  returns: Page(OmNotification),
  handle: (request, context: Context) =>
    readNotifications(context.db, readerOf(request, context), request.query),
})

export const countUnread = endpoint({
  ...reads,
  path: '/om/notifications/unread-count',
  operation_id: 'om_notifications_unread_count',
  summary: 'Count unread notifications',
  description: 'Returns the counts of the client, across all of its keys.',
  returns: UnreadCount,
  handle: (request, context: Context) => readUnreadCount(context.db, readerOf(request, context)),
})

export const readNotification = endpoint({
  ...tag,
  method: 'PUT',
  scope: 'om:write',
  path: '/om/notifications/{notification_id}/read',
  operation_id: 'om_notification_read',
  summary: 'Mark a notification as read',
  description:
    'Returns the notification as read by the client, across all of its keys. The time of an ' +
    'earlier read stays.',
  params: { notification_id: NotificationId },
  returns: OmNotification,
  async handle(request, context: Context) {
    const { notification_id } = request.params
    const read = await markRead(request.tx, readerOf(request, context), notification_id)
    if (read === null) throw new ApiError('not_found', { notification_id })
    return read
  },
})
