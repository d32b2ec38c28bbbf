import { notificationTypes } from '../notifications.ts'
import type { OmNotification, UnreadCount } from './schemas.ts'

export const unreadExample: OmNotification = {
  notification_id: 118,
  type: 'work_order_assigned',
  title: 'WO-2026-00042 is assigned to Electrical south',
  body: 'String 3 of inverter 1 carries no current',
  severity: 'warning',
  is_read: false,
  read_at: null,
  created_at: '2026-06-21T06:30:00.000Z',
  recipient: 'Electrical south',
  resource_type: 'work_order',
  resource_id: '42',
  url: '/v1/sites/demo/work-orders/42',
  expires_at: '2026-09-19T06:30:00.000Z',
}

export const readExample: OmNotification = {
  ...unreadExample,
  is_read: true,
  read_at: '2026-06-21T06:41:12.000Z',
}

const none = Object.fromEntries(notificationTypes.map((type) => [type, 0]))
export const countExample: UnreadCount = {
  unread_count: 3,
  by_type: { ...none, work_order_assigned: 1, defect_created: 2 } as UnreadCount['by_type'],
  oldest_unread_at: '2026-06-20T09:05:00.000Z',
}
