import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { endpoint, type Request } from '../../http/endpoint.ts'
import { Page } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { exampleOf } from '../../http/example.ts'
import * as field from '../../http/fields.ts'
import { page } from '../../http/params.ts'
import { notification_days } from '../notifications.ts'
import { NotificationId, OmNotification, UnreadCount } from './schemas.ts'
import { markRead, type Reader, readNotifications, readUnreadCount } from './store.ts'

const tag = { tag: 'Maintenance', module: 'om' } as const
const reads = { ...tag, method: 'GET', scope: 'om:read' } as const

const unreadExample = exampleOf(OmNotification, {
  severity: 'warning',
  resource_type: 'work_order',
  expires_at: '2026-09-19T10:00:00.000Z',
})

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
  example: { answer: { data: [unreadExample], meta: { count: 1, limit: 50, offset: 0 } } },
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
  example: {
    answer: exampleOf(UnreadCount, { unread_count: 3, by_type: { defect_created: 3 } }),
  },
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
  example: {
    answer: { ...unreadExample, is_read: true, read_at: '2026-06-21T10:11:12.000Z' },
  },
  async handle(request, context: Context) {
    const { notification_id } = request.params
    const read = await markRead(request.tx, readerOf(request, context), notification_id)
    if (read === null) throw new ApiError('not_found', { notification_id })
    return read
  },
})
