/** Banners of all pages of a site: safe mode, stale data, server unreachable. */
import { HeliographError, type Logger, type Site } from '@heliograph/sdk'
import { Alert, Button, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { askPlatform } from '../api.ts'
import NotFound from '../pages/not-found.tsx'
import { SiteContext, useOverview, useSites, useUser } from '../queries.ts'
import { ConfirmByName } from '../ui/form.tsx'
import { formatAge, formatTime } from '../ui/format.ts'
import { isDisconnected } from '../ui/known-now.ts'
import { Muted, useNow } from '../ui/page.tsx'
import { Answered, plainly } from '../ui/states.tsx'
import { useWrite } from '../ui/use-write.ts'
import { useSiteEvents } from './site-events.ts'

export function SiteShell({ site_id, children }: { site_id: string; children: ReactNode }) {
  return (
    <Answered query={useSites()}>
      {({ data }) => {
        const site = data.find((one) => one.site_id === site_id)
        if (!site) return <NotFound />
        return (
          <SiteContext value={site}>
            <Events site_id={site_id} />
            <Stack gap="sm">
              <Banners site={site} />
              {/* The footer stays below the first screen while a page loads. */}
              <div style={{ minHeight: 'calc(100vh - 60px)' }}>{children}</div>
              <Muted>Times are those of the site ({site.timezone}) unless stated otherwise.</Muted>
            </Stack>
          </SiteContext>
        )
      }}
    </Answered>
  )
}

function Events({ site_id }: { site_id: string }) {
  useSiteEvents(site_id)
  return null
}

const stale_after_s = 60

const wasAnswered = (error: unknown) => error instanceof HeliographError && error.status !== null

const failureTitle = (error: unknown) =>
  wasAnswered(error) ? 'The server returns errors' : 'The server does not answer'

function Banners({ site }: { site: Site }) {
  const { data: overview, isError, error, dataUpdatedAt } = useOverview()
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
        <Alert color="red" variant="filled" title={offlineTitle(offline, loggers)} role="alert">
          Last data {formatTime(newestOf(offline), timezone, 'full')}. Present values are unknown.
          Commands are queued.
        </Alert>
      )}
      {!isError &&
        offline.length === 0 &&
        stale_s !== null &&
        stale_s > stale_after_s &&
        !is_night && (
          <Alert color="yellow" variant="filled" title="Stale data" role="alert">
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

function EndSafeMode({ site }: { site: Site }) {
  const { role } = useUser()
  const [is_open, setOpen] = useState(false)
  if (role !== 'administrator') {
    return 'An administrator can end it when commissioning is complete.'
  }
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
        End safe mode
      </Button>
      {is_open && <Confirmation site={site} onClose={() => setOpen(false)} />}
    </>
  )
}

function Confirmation({ site, onClose }: { site: Site; onClose(): void }) {
  const { site_id, name } = site
  const end = useWrite({
    write: () => askPlatform('POST', '/safe-mode/end', { site_id, confirmation: name }),
    done: `“${name}” accepts commands and changes`,
    changes: ['sites', 'overview'],
    onDone: onClose,
  })
  return (
    <ConfirmByName
      title={`End the safe mode of “${name}”`}
      name={name}
      action="End safe mode"
      write={end}
      onAct={() => end.run(undefined)}
      onClose={onClose}
    >
      <Text size="sm">
        The site will accept commands, including curtailment and battery dispatch. End safe mode
        only after every device, the permit and the limits have been checked on site.
      </Text>
    </ConfirmByName>
  )
}
