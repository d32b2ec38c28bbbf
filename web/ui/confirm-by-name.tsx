import { Button, Stack, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { DialogButtons, Modal } from './modal.tsx'
import { Problem } from './problem.tsx'

interface ConfirmProps {
  title: string
  /** Text that has to be typed. */
  name: string
  action: string
  is_pending: boolean
  error: unknown
  words?: Readonly<Record<string, string>>
  onConfirm(): void
  onClose(): void
  children: ReactNode
}

/** Confirms an action that cannot be undone: the name must be typed. */
export function ConfirmByName(props: ConfirmProps) {
  const { title, name, action, is_pending, error, words, onConfirm, onClose, children } = props
  const [typed, setTyped] = useState('')
  const is_right = typed.trim() === name
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (is_right) onConfirm()
  }
  return (
    <Modal opened onClose={onClose} title={title}>
      <form onSubmit={submit} noValidate>
        <Stack>
          {children}
          <TextInput
            label={`Type “${name}” to confirm`}
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            data-autofocus
          />
          <Problem error={error} {...(words && { words })} />
          <DialogButtons onClose={onClose}>
            <Button type="submit" color="red.9" disabled={!is_right} loading={is_pending}>
              {action}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Modal>
  )
}
