import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { SiteAlert } from '../../generated/platform.ts'
import { SeverityBadge, StateBadge } from '../../ui/badges.tsx'
import { type Column, column, DataTable, EarlierItems, wrapped } from '../../ui/data-table.tsx'
import { LocalTime, Muted, noted, Page } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useOpenAlerts } from './open-alerts.ts'

/** Open alerts of all sites; an alert is handled on the page of its site. */
export default function AllAlerts() {
  const alerts = useOpenAlerts()
  return (
    <Page title="All alerts">
      <Answered query={alerts}>
        {({ pages }) => {
          const shown = pages.flatMap(({ data }) => data)
          const count = pages.at(-1)?.meta.count ?? 0
          if (shown.length === 0) return <Empty title="No open alerts" />
          return (
            <>
              <Muted>
                {count > shown.length && `The newest ${shown.length} of `}
                {count} open {count === 1 ? 'alert' : 'alerts'}, newest first
              </Muted>
              <DataTable
                label="Open alerts"
                width={720}
                columns={columns}
                rows={shown}
                by={({ site_id, alert_id }) => `${site_id}/${alert_id}`}
                sorts={false}
              />
            </>
          )
        }}
      </Answered>
      <EarlierItems list={alerts} noun="alerts" />
    </Page>
  )
}

const columns: readonly Column<SiteAlert>[] = [
  column('Site', ({ site_id, site_name }) => (
    <Anchor component={Link} href={`/sites/${site_id}`} size="sm">
      {site_name}
    </Anchor>
  )),
  wrapped('Alert', ({ site_id, alert_id, title, message }) =>
    noted(
      <Anchor component={Link} href={`/sites/${site_id}/alerts?alert_id=${alert_id}`} size="sm">
        {title}
      </Anchor>,
      message,
    ),
  ),
  column('Severity', ({ severity }) => <SeverityBadge severity={severity} />),
  column('State', ({ status, suppressed_reason }) =>
    noted(<StateBadge state={status} />, suppressed_reason && `Suppressed: ${suppressed_reason}`),
  ),
  column('Since', ({ started_at }) => <LocalTime at={started_at} />),
]
