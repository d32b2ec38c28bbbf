/** Buttons for the next states of a resource, the usual one first. */
import { Group, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { Differences } from './differences.tsx'
import { useDraft } from './draft.ts'
import { DraftNotice } from './draft-notice.tsx'
import { DialogButtons, Modal } from './modal.tsx'
import { Failure } from './states.tsx'
import { type SeenWrite, useSeenWrite } from './use-seen-write.ts'
import { WriteButton } from './write-button.tsx'
import type { Condition, Difference } from './write-seen.ts'

export interface Step<State> {
  to: State
  name: string
  is_blocked?: boolean
  /** Dialog for steps that need a note or a confirmation. */
  ask?: { text?: string; label: string; given?: string; color?: string }
}

interface StateStepsProps<State, Whole extends object> {
  steps: readonly Step<State>[]
  subject: Pick<SeenWrite<never, Whole>, 'key' | 'seen' | 'read' | 'changes'>
  write: (to: State, note: string, condition: Condition) => Promise<Whole>
}

export function StateSteps<State extends string, Whole extends object>(
  props: StateStepsProps<State, Whole>,
) {
  const { steps, subject, write } = props
  const [asked, setAsked] = useState<Step<State> | null>(null)
  const { run, is_pending, reset, ...outcome } = useSeenWrite<State, Whole>({
    ...subject,
    done: 'Saved',
    write: (to, condition) => write(to, '', condition),
  })
  const choose = (step: Step<State>) => {
    reset()
    if (step.ask) setAsked(step)
    else run(step.to)
  }
  return (
    <>
      <Group gap="xs">
        {steps.map((step, nth) => (
          <WriteButton
            key={step.to}
            scope="om:write"
            size="md"
            variant={nth === 0 ? 'filled' : 'default'}
            loading={is_pending}
            disabled={step.is_blocked ?? false}
            onClick={() => choose(step)}
          >
            {step.name}
          </WriteButton>
        ))}
      </Group>
      <WhyNot {...outcome} />
      {asked && <Asked {...props} step={asked} onClose={() => setAsked(null)} />}
    </>
  )
}

function WhyNot({ error, differences }: { error: unknown; differences: Difference[] | null }) {
  if (differences) return <Differences differences={differences} />
  return error ? <Failure error={error} /> : null
}

type AskedProps<State, Whole extends object> = StateStepsProps<State, Whole> & {
  step: Step<State>
  onClose: () => void
}

function Asked<State extends string, Whole extends object>({
  step: { to, name, ask },
  subject,
  write,
  onClose,
}: AskedProps<State, Whole>) {
  const [note, setNote, draft] = useDraft(`step ${to}`, ask?.given ?? '')
  const { run, is_pending, error, differences } = useSeenWrite<string, Whole>({
    ...subject,
    done: 'Saved',
    write: (text, condition) => write(to, text, condition),
    onDone: () => {
      draft.drop()
      onClose()
    },
  })
  return (
    <Modal opened onClose={onClose} title={name}>
      <Stack>
        <DraftNotice {...draft} />
        {ask?.text && <Text size="sm">{ask.text}</Text>}
        <Textarea
          label={ask?.label}
          autosize
          minRows={3}
          data-autofocus
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
        <WhyNot {...{ error, differences }} />
        <DialogButtons onClose={onClose}>
          <WriteButton
            scope="om:write"
            loading={is_pending}
            {...(ask?.color && { color: ask.color })}
            onClick={() => run(note.trim())}
          >
            {name}
          </WriteButton>
        </DialogButtons>
      </Stack>
    </Modal>
  )
}
