import type { CurtailmentGroup } from '@heliograph/sdk'
import { Alert, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useSite } from '../../shell/site-shell.tsx'
import { Page } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
import type { SitePageProps } from '../pages.ts'
import { CloseModal } from './curtailment/close-modal.tsx'
import { CommandCard } from './curtailment/command-card.tsx'
import { History } from './curtailment/history.tsx'
import { LimitModal } from './curtailment/limit-modal.tsx'
import { usePlants, useRows } from './curtailment/reads.ts'
import { ReleaseModal } from './curtailment/release-modal.tsx'
import type { RequestedLimit } from './curtailment/requested-limit.ts'
import { type Command, commandsOf } from './curtailment/rows.ts'
import { Suggestions } from './curtailment/suggestions.tsx'
import { Timeline } from './curtailment/timeline.tsx'

export default function Curtailment({ site_id }: SitePageProps) {
  const rows = useRows(site_id)
  const plants = usePlants(site_id)
  const { commissioning_safe_mode } = useSite()
  const [requested, setRequested] = useState<Partial<RequestedLimit> | null>(null)
  const [releasing, setReleasing] = useState<Command | null>(null)
  const [closing, setClosing] = useState<Command | null>(null)
  const [made, setMade] = useState<CurtailmentGroup | null>(null)
  return (
    <Page
      title="Curtailment"
      actions={
        <WriteButton scope="curtailment:write" disabled={!plants} onClick={() => setRequested({})}>
          Limit output
        </WriteButton>
      }
    >
      <Text c="dimmed">
        Limits only lower output. The grid permit is enforced on site in any case.
        {commissioning_safe_mode && ' In commissioning safe mode limits cannot be set or released.'}
      </Text>
      <Warnings made={made} onClose={() => setMade(null)} />
      <Answered query={rows}>
        {({ data }) => (
          <Stack gap="sm">
            <Title order={2} size="h3">
              Active and scheduled
            </Title>
            {data.length === 0 ? (
              <Empty title="No limits">No limit is in force or scheduled.</Empty>
            ) : (
              commandsOf(data).map((command) => (
                <CommandCard
                  key={command.group_id}
                  site_id={site_id}
                  command={command}
                  onRelease={() => setReleasing(command)}
                  onCloseRecord={() => setClosing(command)}
                />
              ))
            )}
          </Stack>
        )}
      </Answered>
      {/* Shown only with the orders: an empty timeline would read as “no limit”. */}
      {rows.data && <Timeline site_id={site_id} rows={rows.data.data} />}
      <Suggestions site_id={site_id} onTake={setRequested} />
      <History site_id={site_id} />
      {releasing && (
        <ReleaseModal site_id={site_id} command={releasing} onClose={() => setReleasing(null)} />
      )}
      {closing && (
        <CloseModal site_id={site_id} command={closing} onClose={() => setClosing(null)} />
      )}
      {requested && plants && (
        <LimitModal
          site_id={site_id}
          plants={plants}
          requested={requested}
          rows={rows.data?.data}
          onClose={() => setRequested(null)}
          onMade={setMade}
        />
      )}
    </Page>
  )
}

/** Warnings about a command that the server has accepted. */
function Warnings({ made, onClose }: { made: CurtailmentGroup | null; onClose: () => void }) {
  if (!made || made.warnings.length === 0) return null
  const is_offline = made.warnings.includes('logger_offline')
  const has_other = made.warnings.some((warning) => warning.startsWith('overlaps_group'))
  return (
    <Alert
      variant="default"
      title="Limit recorded"
      role="status"
      withCloseButton
      closeButtonLabel="Close"
      onClose={onClose}
    >
      {is_offline && (
        <Text size="sm">The site is offline. The limit applies as soon as it is back online.</Text>
      )}
      {has_other && <Text size="sm">Another limit overlaps. The lowest limit applies.</Text>}
    </Alert>
  )
}
