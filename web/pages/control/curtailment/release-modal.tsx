import type { CurtailmentRelease, CurtailmentRow } from '@heliograph/sdk'
import { Alert, Button, Group, List, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { heliograph } from '../../../api.ts'
import { useDevices } from '../../../ui/devices.tsx'
import { Modal } from '../../../ui/modal.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { Failure } from '../../../ui/states.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import { Steps } from './command-card.tsx'
import { curtailmentKey, useRows } from './reads.ts'
import { type Command, limitWords } from './rows.ts'

interface ReleaseModalProps {
  site_id: string
  command: Command
  onClose: () => void
}

export function ReleaseModal({ site_id, command, onClose }: ReleaseModalProps) {
  const [released, setReleased] = useState<CurtailmentRelease | null>(null)
  const { group_id, rows } = command
  // A copy, because the limit leaves the list after its release.
  const [asked] = useState(rows)
  const release = useWrite({
    write: () => heliograph.curtailmentGroupRelease({ site_id, group_id }),
    changes: [curtailmentKey(site_id)],
    onDone: setReleased,
  })
  const live = useRows(site_id, release.is_pending).data?.data
  const now = asked.map((row) => latestOf(row, live, released))
  const [first] = asked
  return (
    <Modal opened onClose={onClose} title="Release limit" size="lg">
      <Stack>
        {first && !released && !release.is_pending && (
          <Text>
            The limit of <strong>{limitWords(first)}</strong>{' '}
            {asked.some(({ is_active }) => is_active)
              ? 'ends now'
              : 'is withdrawn before its start'}
            {' for '}
            {asked.length === 1 ? 'one plant' : `${asked.length} plants`}. The grid permit and other
            limits still apply.
          </Text>
        )}
        {(released || release.is_pending) && <Progress site_id={site_id} rows={now} />}
        {released && <Outcome released={released} />}
        {release.error && <Failure error={release.error} />}
        <Group justify="flex-end">
          {released ? (
            <Button onClick={onClose}>Close</Button>
          ) : (
            <>
              {/* The focus is here so that a held Enter key releases nothing. */}
              <Button variant="default" onClick={onClose} data-autofocus>
                {release.is_pending ? 'Close' : 'Cancel'}
              </Button>
              <Button onClick={() => release.run(undefined)} loading={release.is_pending}>
                Release now
              </Button>
            </>
          )}
        </Group>
      </Stack>
    </Modal>
  )
}

function latestOf(
  row: CurtailmentRow,
  live: readonly CurtailmentRow[] | undefined,
  released: CurtailmentRelease | null,
) {
  const sameId = ({ id }: CurtailmentRow) => id === row.id
  return live?.find(sameId) ?? released?.schedules.find(sameId) ?? row
}

function Progress({ site_id, rows }: { site_id: string; rows: readonly CurtailmentRow[] }) {
  const { plantName } = useDevices(site_id)
  return (
    <List listStyleType="none" spacing="xs" role="list">
      {rows.map((row) => (
        <List.Item key={row.id}>
          <Text fw={600} size="sm">
            {plantName(row.logger_id)}
          </Text>
          <Steps row={row} />
        </List.Item>
      ))}
    </List>
  )
}

function Outcome({ released }: { released: CurtailmentRelease }) {
  const { pending_restore_count: pending, restored_count: restored } = released
  if (pending > 0) {
    return (
      <Notice title="Release not fully confirmed">
        The site has confirmed {restored} of {restored + pending} plants. The others may still be
        limited. The site keeps trying. The limit stays listed until the release is confirmed.
      </Notice>
    )
  }
  return (
    <Alert color="teal" variant="outline" title="Released" role="status">
      {restored > 0
        ? 'The devices confirm that the limit is lifted at every plant.'
        : 'The limit had not started.'}
    </Alert>
  )
}
