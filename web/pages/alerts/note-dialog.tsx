import { type Alert, isCode } from '@heliograph/sdk'
import { List, Alert as Message, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { heliograph } from '../../api.ts'
import { useDraft } from '../../ui/draft.ts'
import { DraftNotice } from '../../ui/draft-notice.tsx'
import { DialogButtons, Modal } from '../../ui/modal.tsx'
import { useWrite } from '../../ui/use-write.ts'
import { WriteButton } from '../../ui/write-button.tsx'

export interface Step {
  kind: 'acknowledge' | 'resolve'
  alerts: readonly Alert[]
}

const words = {
  acknowledge: {
    title: 'Acknowledge',
    done: 'acknowledged',
    means: 'The alert stays open until its cause ends. Others see who acknowledged it.',
  },
  resolve: {
    title: 'Resolve',
    done: 'resolved',
    means: 'The alert is closed. If its condition lasts for another hour, it is raised again.',
  },
}

interface Outcome {
  done: number
  failed: { alert: Alert; reason: string }[]
}

function reasonOf(error: unknown): string {
  if (isCode(error, 'network_error')) return 'the server cannot be reached'
  return error instanceof Error ? error.message : String(error)
}

async function take(site_id: string, { kind, alerts }: Step, note: string): Promise<Outcome> {
  const outcome: Outcome = { done: 0, failed: [] }
  const operation = kind === 'resolve' ? heliograph.alertsResolve : heliograph.alertsAcknowledge
  for (const alert of alerts) {
    const { alert_id } = alert
    try {
      await operation.call(heliograph, { site_id, alert_id, ...(note && { note }) })
      outcome.done++
    } catch (error) {
      outcome.failed.push({ alert, reason: reasonOf(error) })
    }
  }
  return outcome
}

interface NoteProps {
  site_id: string
  step: Step
  onClose: () => void
  onDone: () => void
}

export function NoteDialog({ step, ...rest }: Omit<NoteProps, 'step'> & { step: Step | null }) {
  const { title } = words[step?.kind ?? 'acknowledge']
  const count = step?.alerts.length ?? 0
  return (
    <Modal
      opened={step !== null}
      onClose={rest.onClose}
      title={`${title}: ${count === 1 ? (step?.alerts[0]?.title ?? '') : `${count} alerts`}`}
    >
      {step && <Note {...rest} step={step} />}
    </Modal>
  )
}

/** One note for all selected alerts. Alerts that could not be changed stay, with the reason. */
function Note({ site_id, step, onClose, onDone }: NoteProps) {
  const { kind, alerts } = step
  const ids = alerts.map(({ alert_id }) => alert_id)
  const [note, setNote, draft] = useDraft(`${kind} ${ids.join()}`, '')
  const [left, setLeft] = useState<Outcome['failed']>([])
  const { title, means, done } = words[kind]
  const { run, is_pending } = useWrite({
    // A retry covers only the alerts that failed.
    write: () => {
      const asked = left.length > 0 ? left.map(({ alert }) => alert) : alerts
      return take(site_id, { kind, alerts: asked }, note.trim())
    },
    changes: [
      ['alerts', site_id],
      ['overview', site_id],
    ],
    done: (outcome) => (outcome.done === 0 ? null : `${outcome.done} ${done}`),
    onDone: ({ failed }) => {
      setLeft(failed)
      if (failed.length > 0) return
      draft.drop()
      onDone()
      onClose()
    },
  })
  return (
    <Stack>
      <DraftNotice {...draft} />
      <Text size="sm">{means}</Text>
      <Textarea
        label="Note"
        description="What you found, or what is done about it."
        autosize
        minRows={3}
        data-autofocus
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      {left.length > 0 && (
        <Message color="red" variant="outline" title="Not changed" role="alert">
          <List size="sm">
            {left.map(({ alert, reason }) => (
              <List.Item key={alert.alert_id}>
                {alert.title}: {reason}
              </List.Item>
            ))}
          </List>
        </Message>
      )}
      <DialogButtons onClose={onClose}>
        <WriteButton scope="alerts:write" loading={is_pending} onClick={() => run(undefined)}>
          {title}
        </WriteButton>
      </DialogButtons>
    </Stack>
  )
}
