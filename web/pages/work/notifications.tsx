/** Notifications about work orders, defects and reports. */

import type { OmNotification } from '@heliograph/sdk'
import { Anchor, Group, Paper, SegmentedControl, Stack, Text } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { Link } from 'wouter'
import { heliograph } from '../../api.ts'
import { useRead, useUnreadCount } from '../../queries.ts'
import { useSite } from '../../shell/site-shell.tsx'
import { Muted } from '../../ui/muted.tsx'
import { Page } from '../../ui/page.tsx'
import { PagesOf } from '../../ui/pages-of.tsx'
import { Problem } from '../../ui/problem.tsx'
import { SeverityBadge } from '../../ui/severity.tsx'
import { inSiteTime } from '../../ui/site-time.ts'
import { Answered, Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { useWrite } from '../../ui/use-write.ts'
import { WriteButton } from '../../ui/write-button.tsx'
import type { SitePageProps } from '../pages.ts'

const limit = 25

export default function Notifications({ site_id }: SitePageProps) {
  const filters = useFilters()
  const page = filters.number('page') ?? 1
  const unread_only = filters.get('show') === 'unread' || undefined
  const list = useRead(
    'notifications',
    'omNotificationsList',
    { site_id, unread_only, limit, offset: (page - 1) * limit },
    { placeholderData: keepPreviousData, refetchInterval: 30_000 },
  )
  const count = useUnreadCount(site_id)
  const shown = list.data?.data.filter(({ is_read }) => !is_read) ?? []
  return (
    <Page
      title={count ? `Notifications (${count} unread)` : 'Notifications'}
      actions={<ReadAll {...{ site_id, shown }} />}
    >
      <SegmentedControl
        aria-label="Which notifications"
        style={{ alignSelf: 'flex-start' }}
        value={unread_only ? 'unread' : 'all'}
        onChange={(show) => filters.set({ show: show === 'all' ? null : show, page: null })}
        data={[
          { value: 'all', label: 'All' },
          { value: 'unread', label: 'Unread' },
        ]}
      />
      <Answered query={list}>
        {({ data, meta }) => (
          <Stack gap="xs">
            {data.length === 0 && (
              <Empty title={unread_only ? 'No unread notifications' : 'No notifications sent'}>
                Notifications are kept for 90 days.
              </Empty>
            )}
            {data.map((one) => (
              <Notification key={one.notification_id} {...{ site_id, one }} />
            ))}
            <PagesOf
              {...{ count: meta.count, limit, page, noun: 'notifications' }}
              onPage={(next) => filters.set({ page: next === 1 ? null : String(next) })}
            />
          </Stack>
        )}
      </Answered>
    </Page>
  )
}

function useMarkRead(site_id: string, done?: string) {
  return useWrite({
    write: async (ids: readonly number[]) => {
      for (const notification_id of ids) {
        await heliograph.omNotificationRead({ site_id, notification_id })
      }
    },
    ...(done && { done }),
    changes: [['notifications', site_id]],
  })
}

interface ReadAllProps {
  site_id: string
  shown: readonly OmNotification[]
}

function ReadAll({ site_id, shown }: ReadAllProps) {
  const { run, is_pending, error } = useMarkRead(site_id, 'Marked as read')
  if (shown.length === 0) return null
  return (
    <>
      <Problem error={error} />
      <WriteButton
        scope="om:write"
        variant="default"
        loading={is_pending}
        onClick={() => run(shown.map(({ notification_id }) => notification_id))}
      >
        Mark all {shown.length} on this page as read
      </WriteButton>
    </>
  )
}

const pages: Record<string, (id: string) => string> = {
  work_order: (id) => `work-orders/${id}`,
  defect: (id) => `defects/${id}`,
  alert: (id) => `alerts?alert_id=${id}`,
  report_run: () => 'reports',
}

function Notification({ site_id, one }: { site_id: string; one: OmNotification }) {
  const { timezone } = useSite()
  const { run, is_pending, error } = useMarkRead(site_id)
  const { notification_id, is_read, resource_type, resource_id } = one
  const page = resource_type && resource_id ? pages[resource_type]?.(resource_id) : undefined
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
          <Text fw={is_read ? 400 : 700}>
            {page ? (
              <Anchor component={Link} href={`/sites/${site_id}/${page}`} inherit>
                {one.title}
              </Anchor>
            ) : (
              one.title
            )}
          </Text>
          <Text size="sm">{inSiteTime(one.body, timezone)}</Text>
          <Group gap="2px 16px">
            {one.severity !== 'info' && <SeverityBadge severity={one.severity} />}
            <Muted span>
              <Time at={one.created_at} />
            </Muted>
            {one.recipient && <Muted span>for {one.recipient}</Muted>}
          </Group>
        </div>
        {!is_read && (
          <WriteButton
            scope="om:write"
            size="xs"
            variant="default"
            style={{ flexShrink: 0 }}
            loading={is_pending}
            aria-label={`Mark as read: ${one.title}`}
            onClick={() => run([notification_id])}
          >
            Mark as read
          </WriteButton>
        )}
      </Group>
      <Problem error={error} />
    </Paper>
  )
}
