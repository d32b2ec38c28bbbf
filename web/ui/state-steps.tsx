/** Buttons for the next states of a resource, the usual one first. */
import { Group, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { useDraft } from './draft.ts'
import { Dialog, Differences, WriteButton } from './form.tsx'
import { Failure } from './states.tsx'
import { type Condition, type Difference, type SeenWrite, useSeenWrite } from './use-write.ts'

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
            disabled={step.is_blocked}
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

interface AskedProps<State, Whole extends object> extends StateStepsProps<State, Whole> {
  step: Step<State>
  onClose: () => void
}

function Asked<State extends string, Whole extends object>(props: AskedProps<State, Whole>) {
  const { step, subject, write, onClose } = props
  const { to, name, ask } = step
  const [note, setNote, draft] = useDraft(`step ${to}`, ask?.given ?? '')
  const change = useSeenWrite<string, Whole>({
    ...subject,
    draft,
    done: 'Saved',
    write: (text, condition) => write(to, text, condition),
    onDone: onClose,
  })
  return (
    <Dialog
      title={name}
      action={name}
      scope="om:write"
      color={ask?.color}
      draft={draft}
      write={change}
      problem={<WhyNot {...change} />}
      onAct={() => change.run(note.trim())}
      onClose={onClose}
    >
      {ask?.text && <Text size="sm">{ask.text}</Text>}
      <Textarea
        label={ask?.label}
        autosize
        minRows={3}
        data-autofocus
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </Dialog>
  )
}
