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
import { type Command, commandsOf } from './curtailment/rows.ts'
import { Suggestions } from './curtailment/suggestions.tsx'
import { Timeline } from './curtailment/timeline.tsx'
import type { Wish } from './curtailment/wish.ts'

export default function Curtailment({ site_id }: SitePageProps) {
  const rows = useRows(site_id)
  const plants = usePlants(site_id)
  const { commissioning_safe_mode } = useSite()
  const [wish, setWish] = useState<Partial<Wish> | null>(null)
  const [releasing, setReleasing] = useState<Command | null>(null)
  const [closing, setClosing] = useState<Command | null>(null)
  const [made, setMade] = useState<CurtailmentGroup | null>(null)
  return (
    <Page
      title="Curtailment"
      actions={
        <WriteButton scope="curtailment:write" disabled={!plants} onClick={() => setWish({})}>
          Limit output
        </WriteButton>
      }
    >
      <Text c="dimmed">
        A limit only ever lowers output: nothing on this page can lift a plant above its grid
        permit, which is held on site in any case.
        {commissioning_safe_mode && ' In commissioning safe mode no limit can be set or released.'}
      </Text>
      <Warnings made={made} onClose={() => setMade(null)} />
      <Answered query={rows}>
        {({ data }) => (
          <Stack gap="sm">
            <Title order={2} size="h3">
              Now and to come
            </Title>
            {data.length === 0 ? (
              <Empty title="No plant is limited">
                Nothing is in force, and nothing is scheduled.
              </Empty>
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
      {/* Without the rows it would say that no plant is limited. */}
      {rows.data && <Timeline site_id={site_id} rows={rows.data.data} />}
      <Suggestions site_id={site_id} onTake={setWish} />
      <History site_id={site_id} />
      {releasing && (
        <ReleaseModal site_id={site_id} command={releasing} onClose={() => setReleasing(null)} />
      )}
      {closing && (
        <CloseModal site_id={site_id} command={closing} onClose={() => setClosing(null)} />
      )}
      {wish && plants && (
        <LimitModal
          site_id={site_id}
          plants={plants}
          wish={wish}
          rows={rows.data?.data}
          onClose={() => setWish(null)}
          onMade={setMade}
        />
      )}
    </Page>
  )
}

/** What the server wants to be known of a command that it has taken. */
function Warnings({ made, onClose }: { made: CurtailmentGroup | null; onClose: () => void }) {
  if (!made || made.warnings.length === 0) return null
  const is_offline = made.warnings.includes('logger_offline')
  const has_other = made.warnings.some((warning) => warning.startsWith('overlaps_group'))
  return (
    <Alert
      variant="default"
      title="The limit is recorded"
      role="status"
      withCloseButton
      closeButtonLabel="Close"
      onClose={onClose}
    >
      {is_offline && (
        <Text size="sm">The site cannot be reached now: it limits as soon as it is back.</Text>
      )}
      {has_other && (
        <Text size="sm">Another limit covers a part of that time: the lowest holds.</Text>
      )}
    </Alert>
  )
}
