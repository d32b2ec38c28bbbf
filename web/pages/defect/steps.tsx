import type { Defect } from '@heliograph/sdk'
import { Button, Group, Modal, Stack, Textarea } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { dialog } from '../../ui/dialog.ts'
import { Differences } from '../../ui/differences.tsx'
import { Failure } from '../../ui/states.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
import { type DefectState, nextStates, stepName } from './states.ts'
import { useDefectWrite } from './use-defect.ts'

interface Step {
  status: DefectState
  resolution?: string
}

/** What says what was done, or why nothing is, and what cannot be taken back, is asked about. */
const asks: readonly DefectState[] = ['resolved', 'dismissed', 'verified']

export function DefectSteps({ site_id, defect }: { site_id: string; defect: Defect }) {
  const [asked, setAsked] = useState<DefectState | null>(null)
  const { run, is_pending, error, differences, reset } = useDefectWrite<Step>({
    ...{ site_id, seen: defect, changeOf: (step) => step },
    onDone: () => setAsked(null),
  })
  const choose = (status: DefectState) => {
    reset()
    if (asks.includes(status)) setAsked(status)
    else run({ status })
  }
  const problem = differences ? (
    <Differences differences={differences} />
  ) : (
    error && <Failure error={error} />
  )
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {nextStates[defect.status].map((status, nth) => (
          <WriteButton
            key={status}
            scope="om:write"
            size="md"
            variant={nth === 0 ? 'filled' : 'default'}
            loading={is_pending}
            onClick={() => choose(status)}
          >
            {stepName(defect.status, status)}
          </WriteButton>
        ))}
      </Group>
      {asked === null && problem}
      {asked && (
        <StepDialog
          {...{ defect, status: asked, is_pending, problem }}
          onClose={() => setAsked(null)}
          onTake={run}
        />
      )}
    </Stack>
  )
}

interface StepDialogProps {
  defect: Defect
  status: DefectState
  is_pending: boolean
  /** Why it was not done. */
  problem: ReactNode
  onClose: () => void
  onTake: (step: Step) => void
}

function StepDialog({ defect, status, is_pending, problem, onClose, onTake }: StepDialogProps) {
  const [text, setText] = useState(defect.resolution ?? '')
  const resolution = text.trim()
  const label = {
    resolved: 'What was done',
    dismissed: 'Why nothing is done',
    verified: 'What was done. It does not change any more once you have verified it.',
  }[status as 'resolved' | 'dismissed' | 'verified']
  return (
    <Modal opened onClose={onClose} title={stepName(defect.status, status)} {...dialog}>
      <Stack>
        <Textarea
          {...{ label, value: text }}
          autosize
          minRows={3}
          data-autofocus
          onChange={(event) => setText(event.currentTarget.value)}
        />
        {problem}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Back
          </Button>
          <WriteButton
            scope="om:write"
            loading={is_pending}
            onClick={() => onTake({ status, ...(resolution && { resolution }) })}
          >
            {stepName(defect.status, status)}
          </WriteButton>
        </Group>
      </Stack>
    </Modal>
  )
}
