/** What nobody may overlook on any page of a site: safe mode, data that is old, a server gone. */

import type { Site } from '@heliograph/sdk'
import { Alert, Stack } from '@mantine/core'
import { createContext, type ReactNode, useContext } from 'react'
import NotFound from '../pages/not-found.tsx'
import { useOverview, useSites } from '../queries.ts'
import { formatAge, formatTime } from '../ui/format.ts'
import { Failure, Loading } from '../ui/states.tsx'
import { useNow } from '../ui/use-now.ts'

const SiteContext = createContext<Site | null>(null)

/** The site of the page. */
export function useSite(): Site {
  const site = useContext(SiteContext)
  if (!site) throw new Error('this page has no site')
  return site
}

export function SiteShell({ site_id, children }: { site_id: string; children: ReactNode }) {
  const { data, error, refetch, isPending } = useSites()
  if (isPending) return <Loading />
  if (!data) return <Failure error={error} onRetry={() => void refetch()} />
  const site = data.data.find((one) => one.site_id === site_id)
  if (!site) return <NotFound />
  return (
    <SiteContext value={site}>
      <Stack gap="sm">
        <Banners site={site} />
        {children}
      </Stack>
    </SiteContext>
  )
}

const old_s = 60

function Banners({ site }: { site: Site }) {
  const { data: overview, isError, dataUpdatedAt } = useOverview(site.site_id)
  const now_ms = useNow(5000)
  const { commissioning_safe_mode, safe_mode_since_at, timezone } = overview?.site ?? site
  const age_s = overview?.status.age_s ?? null
  const silent_s = age_s === null ? null : age_s + (now_ms - dataUpdatedAt) / 1000
  const sleeps = overview?.status.is_daylight === false
  return (
    <>
      {commissioning_safe_mode && (
        <Alert color="yellow" variant="filled" title="Commissioning safe mode" role="status">
          The site takes no commands and no changes
          {safe_mode_since_at && ` since ${formatTime(safe_mode_since_at, timezone, 'full')}`}. It
          ends when commissioning is complete.
        </Alert>
      )}
      {isError && (
        <Alert color="red" variant="filled" title="The server does not answer" role="alert">
          What is shown is of{' '}
          {dataUpdatedAt ? formatAge((now_ms - dataUpdatedAt) / 1000) : 'before'}. It goes on by
          itself.
        </Alert>
      )}
      {!isError && silent_s !== null && silent_s > old_s && !sleeps && (
        <Alert color="orange" variant="filled" title="These data are old" role="alert">
          Nothing was measured for a while: the newest value is of {formatAge(silent_s)}.
        </Alert>
      )}
    </>
  )
}
