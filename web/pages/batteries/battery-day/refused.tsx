import { isCode } from '@heliograph/sdk'
import { Button, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Notice } from '../../../ui/notice.tsx'
import { Failure } from '../../../ui/states.tsx'
import { bessKey } from '../battery/reads.ts'

interface RefusedProps {
  error: unknown
  site_id: string
  /** Called after the present plan has been loaded. */
  onLooked: () => void
}

/** Error of a change of a plan. */
export function Refused({ error, site_id, onLooked }: RefusedProps) {
  const queries = useQueryClient()
  if (error === null || error === undefined) return null
  const is_changed = isCode(error, 'precondition_failed')
  const conflict = isCode(error, 'conflict_state') ? error.details : null
  const state = conflict?.['current_state']
  const advice = conflict?.['remedy'] && `${conflict['message']} ${conflict['remedy']}`
  const is_decided = typeof state === 'string' && decided.has(state)
  if (!is_changed && !is_decided) {
    return (
      <>
        <Failure error={error} />
        {typeof advice === 'string' && <Text size="sm">{advice}</Text>}
      </>
    )
  }
  const look = async () => {
    await queries.invalidateQueries({ queryKey: bessKey(site_id) })
    onLooked()
  }
  return (
    <Notice title="The plan has changed">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {is_changed
            ? 'Somebody changed the plan, or an hour began. Your change was not applied.'
            : `The plan is now ${state}. Your change was not applied.`}
        </Text>
        <Button size="xs" variant="default" onClick={() => void look()}>
          Show present plan
        </Button>
      </Stack>
    </Notice>
  )
}

const decided = new Set([
  'approved',
  'dispatching',
  'completed',
  'failed',
  'rejected',
  'superseded',
  'expired',
])
