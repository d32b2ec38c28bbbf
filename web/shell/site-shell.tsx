/** What nobody may overlook on any page of a site: safe mode, data that is old, a server gone. */

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
        <Muted>Times are those of the site ({site.timezone}) unless stated otherwise.</Muted>
      </Stack>
    </SiteContext>
  )
}

const old_s = 60

const wasAnswered = (error: unknown) => error instanceof HeliographError && error.status !== null

const failureTitle = (error: unknown) =>
  wasAnswered(error) ? 'The server gives no new data' : 'The server does not answer'

function Banners({ site }: { site: Site }) {
  const { data: overview, isError, error, dataUpdatedAt } = useOverview(site.site_id)
  const now_ms = useNow(5000)
  const { commissioning_safe_mode, safe_mode_since_at, timezone } = overview?.site ?? site
  const age_s = overview?.status.age_s ?? null
  const silent_s = age_s === null ? null : age_s + (now_ms - dataUpdatedAt) / 1000
  const sleeps = overview?.status.is_daylight === false
  const loggers = overview?.loggers ?? []
  const gone = loggers.filter(isDisconnected)
  return (
    <>
      {commissioning_safe_mode && (
        <Alert color="yellow" variant="filled" title="Commissioning safe mode" role="status">
          The site takes no commands and no changes
          {safe_mode_since_at && ` since ${formatTime(safe_mode_since_at, timezone, 'full')}`}.{' '}
          <EndSafeMode site={site} />
        </Alert>
      )}
      {isError && (
        <Alert color="red" variant="filled" title={failureTitle(error)} role="alert">
          {wasAnswered(error) && `${plainly(error)} `}
          {dataUpdatedAt > 0 &&
            `What is shown was read ${formatAge((now_ms - dataUpdatedAt) / 1000)}. `}
          It is tried again by itself.
        </Alert>
      )}
      {!isError && gone.length > 0 && (
        <Alert color="orange" variant="filled" title={goneTitle(gone, loggers)} role="alert">
          Last data {formatTime(newestOf(gone), timezone, 'full')}. Present values are not known,
          and commands are queued.
        </Alert>
      )}
      {!isError && gone.length === 0 && silent_s !== null && silent_s > old_s && !sleeps && (
        <Alert color="orange" variant="filled" title="These data are old" role="alert">
          The newest value was measured {formatAge(silent_s)}: what is shown may be wrong by now.
        </Alert>
      )}
    </>
  )
}

/** By day and by night: the link of a plant to the server does not sleep. */
function goneTitle(gone: readonly Logger[], loggers: readonly Logger[]): string {
  if (gone.length === loggers.length) return 'All plants offline'
  if (gone.length === 1) return `${gone[0]!.name} is offline`
  return `${gone.length} of ${loggers.length} plants offline`
}

const newestOf = (loggers: readonly Logger[]) =>
  loggers
    .map(({ last_seen_at }) => last_seen_at)
    .sort()
    .at(-1)
