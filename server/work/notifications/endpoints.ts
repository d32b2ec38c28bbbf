import type { Clock } from '@heliograph/domain/clock'
import { Type } from 'typebox'
import { endpoint, type Request } from '../../http/endpoint.ts'
import { Page } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { page } from '../../http/params.ts'
import { notification_days } from '../notifications.ts'
import { countExample, readExample, unreadExample } from './examples.ts'
import { NotificationId, OmNotification, UnreadCount } from './schemas.ts'
import { markRead, type NotificationStore, type Reader } from './store.ts'

export interface Needs {
  clock: Clock
  notifications: NotificationStore
}

const tag = { tag: 'Maintenance', module: 'om' } as const
const reads = { ...tag, method: 'GET', scope: 'om:read' } as const

const readerOf = (
  { site, caller }: Pick<Request<unknown, unknown, unknown>, 'site' | 'caller'>,
  { clock }: Needs,
): Reader => ({ site_id: site.site_id, client_id: caller.client_id, now: clock.now() })

export const listNotifications = endpoint({
  ...reads,
  path: '/om/notifications',
  operation_id: 'om_notifications_list',
  summary: 'Notifications of operation and maintenance',
  description:
    'The newest first: one that comes while they are read page by page moves the others back, so ' +
    'that none is left out. With `unread_only`, who marks those of a page as read goes on with ' +
    `the first page. Each is listed for ${notification_days} days.`,
  query: {
    unread_only: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Only those that the client has not read.',
        examples: [true],
      }),
    ),
    ...page,
  },
  returns: Page(OmNotification),
  example: { answer: { data: [unreadExample], meta: { count: 1, limit: 50, offset: 0 } } },
  async handle(request, needs: Needs) {
    const { unread_only = false, offset = 0, limit = 50 } = request.query
    const asked = { unread_only, offset, limit }
    const { rows, count } = await needs.notifications.page(readerOf(request, needs), asked)
    return { data: rows, meta: { count, limit, offset } }
  },
})

export const countUnread = endpoint({
  ...reads,
  path: '/om/notifications/unread-count',
  operation_id: 'om_notifications_unread_count',
  summary: 'How many notifications are unread',
  description: 'By the client, whichever of its keys asks.',
  returns: UnreadCount,
  example: { answer: countExample },
  handle: (request, needs: Needs) => needs.notifications.unread(readerOf(request, needs)),
})

export const readNotification = endpoint({
  ...tag,
  method: 'PUT',
  scope: 'om:write',
  path: '/om/notifications/{notification_id}/read',
  operation_id: 'om_notification_read',
  summary: 'Mark a notification as read',
  description:
    'For the client, whichever of its keys asks. One that was read before stays as it is.',
  params: { notification_id: NotificationId },
  returns: OmNotification,
  example: { answer: readExample },
  async handle(request, needs: Needs) {
    const { notification_id } = request.params
    const read = await markRead(request.tx, readerOf(request, needs), notification_id)
    if (read === null) throw new ApiError('not_found', { notification_id })
    return read
  },
})
