/** Banners of all pages of a site: safe mode, stale data, server unreachable. */

import { HeliographError, type Logger, type Site } from '@heliograph/sdk'
import { Alert, Stack } from '@mantine/core'
import { createContext, type ReactNode, useContext } from 'react'
import NotFound from '../pages/not-found.tsx'
import { useOverview, useSites } from '../queries.ts'
import { formatAge, formatTime } from '../ui/format.ts'
import { isDisconnected } from '../ui/known-now.ts'
import { Muted } from '../ui/muted.tsx'
import { plainly } from '../ui/plainly.ts'
import { Failure, Loading } from '../ui/states.tsx'
import { useNow } from '../ui/use-now.ts'
import { EndSafeMode } from './end-safe-mode.tsx'

const SiteContext = createContext<Site | null>(null)

/** Site of the page. */
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
        <Muted>Times are those of the site ({site.timezone}) unless stated otherwise.</Muted>
      </Stack>
    </SiteContext>
  )
}

const stale_after_s = 60

const wasAnswered = (error: unknown) => error instanceof HeliographError && error.status !== null

const failureTitle = (error: unknown) =>
  wasAnswered(error) ? 'The server returns errors' : 'The server does not answer'

function Banners({ site }: { site: Site }) {
  const { data: overview, isError, error, dataUpdatedAt } = useOverview(site.site_id)
  const now_ms = useNow(5000)
  const { commissioning_safe_mode, safe_mode_since_at, timezone } = overview?.site ?? site
  const age_s = overview?.status.age_s ?? null
  const stale_s = age_s === null ? null : age_s + (now_ms - dataUpdatedAt) / 1000
  const is_night = overview?.status.is_daylight === false
  const loggers = overview?.loggers ?? []
  const offline = loggers.filter(isDisconnected)
  return (
    <>
      {commissioning_safe_mode && (
        <Alert color="yellow" variant="filled" title="Commissioning safe mode" role="status">
          Commands and changes are disabled
          {safe_mode_since_at && ` since ${formatTime(safe_mode_since_at, timezone, 'full')}`}.{' '}
          <EndSafeMode site={site} />
        </Alert>
      )}
      {isError && (
        <Alert color="red" variant="filled" title={failureTitle(error)} role="alert">
          {wasAnswered(error) && `${plainly(error)} `}
          {dataUpdatedAt > 0 &&
            `Shown data was read ${formatAge((now_ms - dataUpdatedAt) / 1000)}. `}
          Retrying.
        </Alert>
      )}
      {!isError && offline.length > 0 && (
        <Alert color="orange" variant="filled" title={offlineTitle(offline, loggers)} role="alert">
          Last data {formatTime(newestOf(offline), timezone, 'full')}. Present values are unknown.
          Commands are queued.
        </Alert>
      )}
      {!isError &&
        offline.length === 0 &&
        stale_s !== null &&
        stale_s > stale_after_s &&
        !is_night && (
          <Alert color="orange" variant="filled" title="Stale data" role="alert">
            The newest measurement is from {formatAge(stale_s)}. Shown values may be out of date.
          </Alert>
        )}
    </>
  )
}

/** Shown by day and by night: the link of a plant is always up. */
function offlineTitle(offline: readonly Logger[], loggers: readonly Logger[]): string {
  if (offline.length === loggers.length) return 'All plants offline'
  if (offline.length === 1) return `${offline[0]!.name} is offline`
  return `${offline.length} of ${loggers.length} plants offline`
}

const newestOf = (loggers: readonly Logger[]) =>
  loggers
    .map(({ last_seen_at }) => last_seen_at)
    .sort()
    .at(-1)
