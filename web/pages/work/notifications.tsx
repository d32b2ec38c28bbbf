import type { OmNotification } from '@heliograph/sdk'
import { Group, Paper, Stack, Text } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { heliograph } from '../../api.ts'
import { useRead, useSite, useUnreadCount } from '../../queries.ts'
import { SeverityBadge } from '../../ui/badges.tsx'
import { PagesOf } from '../../ui/data-table.tsx'
import { FilterTabs } from '../../ui/filters.tsx'
import { Problem, WriteButton } from '../../ui/form.tsx'
import { inSiteTime } from '../../ui/format.ts'
import { Muted, Page, SiteLink, Time } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { useWrite } from '../../ui/use-write.ts'

const limit = 25

export default function Notifications() {
  const filters = useFilters()
  const page = filters.number('page') ?? 1
  const unread_only = filters.get('show') === 'unread' || undefined
  const list = useRead(
    'notifications',
    'omNotificationsList',
    { unread_only, limit, offset: (page - 1) * limit },
    { placeholderData: keepPreviousData, refetchInterval: 30_000 },
  )
  const count = useUnreadCount()
  const shown = list.data?.data.filter(({ is_read }) => !is_read) ?? []
  return (
    <Page
      title={count ? `Notifications (${count} unread)` : 'Notifications'}
      actions={<ReadAll shown={shown} />}
    >
      <FilterTabs
        name="show"
        label="Which notifications"
        initial="all"
        choices={{ all: 'All', unread: 'Unread' }}
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
              <Notification key={one.notification_id} one={one} />
            ))}
            <PagesOf
              count={meta.count}
              limit={limit}
              page={page}
              nouns={['notification', 'notifications']}
              onPage={(next) => filters.set({ page: next === 1 ? null : String(next) })}
            />
          </Stack>
        )}
      </Answered>
    </Page>
  )
}

function useMarkRead(done?: string) {
  const { site_id } = useSite()
  return useWrite({
    write: async (ids: readonly number[]) => {
      for (const notification_id of ids) {
        await heliograph.omNotificationRead({ site_id, notification_id })
      }
    },
    done,
    changes: ['notifications'],
  })
}

function ReadAll({ shown }: { shown: readonly OmNotification[] }) {
  const { run, is_pending, error } = useMarkRead('Marked as read')
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
  work_order: (id) => `/work-orders/${id}`,
  defect: (id) => `/defects/${id}`,
  alert: (id) => `/alerts?alert_id=${id}`,
  report_run: () => '/reports',
}

function Notification({ one }: { one: OmNotification }) {
  const { timezone } = useSite()
  const { run, is_pending, error } = useMarkRead()
  const { notification_id, is_read, resource_type, resource_id } = one
  const to = resource_type && resource_id && pages[resource_type]?.(resource_id)
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
          <Text fw={is_read ? 400 : 700}>
            {to ? (
              <SiteLink to={to} inherit>
                {one.title}
              </SiteLink>
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
