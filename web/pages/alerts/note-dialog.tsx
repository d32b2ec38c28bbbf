import { type Alert, isCode } from '@heliograph/sdk'
import { List, Alert as Message, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { heliograph } from '../../api.ts'
import { useSite } from '../../queries.ts'
import { useDraft } from '../../ui/draft.ts'
import { Dialog } from '../../ui/form.tsx'
import { useWrite } from '../../ui/use-write.ts'

export interface Step {
  kind: 'acknowledge' | 'resolve'
  alerts: readonly Alert[]
}

const words = {
  acknowledge: {
    action: 'Acknowledge',
    done: 'acknowledged',
    means: 'The alert stays open until its cause ends. Others see who acknowledged it.',
  },
  resolve: {
    action: 'Resolve',
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
  step: Step
  onClose: () => void
  onDone: () => void
}

export const NoteDialog = ({ step, ...rest }: Omit<NoteProps, 'step'> & { step: Step | null }) =>
  step && <Note {...rest} step={step} />

/** One note for all selected alerts. Alerts that could not be changed stay, with the reason. */
function Note({ step, onClose, onDone }: NoteProps) {
  const { site_id } = useSite()
  const { kind, alerts } = step
  const [first] = alerts
  const ids = alerts.map(({ alert_id }) => alert_id)
  const [note, setNote, draft] = useDraft(`${kind} ${ids.join()}`, '')
  const [left, setLeft] = useState<Outcome['failed']>([])
  const { action, means, done } = words[kind]
  const write = useWrite({
    // A retry covers only the alerts that failed.
    write: () => {
      const asked = left.length > 0 ? left.map(({ alert }) => alert) : alerts
      return take(site_id, { kind, alerts: asked }, note.trim())
    },
    changes: ['alerts', 'overview'],
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
    <Dialog
      title={`${action}: ${alerts.length === 1 ? first?.title : `${alerts.length} alerts`}`}
      action={action}
      scope="alerts:write"
      draft={draft}
      write={write}
      problem={
        left.length > 0 && (
          <Message color="red" title="Not changed" role="alert">
            <List size="sm">
              {left.map(({ alert, reason }) => (
                <List.Item key={alert.alert_id}>
                  {alert.title}: {reason}
                </List.Item>
              ))}
            </List>
          </Message>
        )
      }
      onAct={() => write.run(undefined)}
      onClose={onClose}
    >
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
    </Dialog>
  )
}
