import { Button, Stack, Text, Textarea } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { askPlatform } from '../../../api.ts'
import { useDevices } from '../../../ui/devices.tsx'
import { DialogButtons, Modal } from '../../../ui/modal.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import { curtailmentKey } from './reads.ts'
import type { Command } from './rows.ts'

interface CloseModalProps {
  site_id: string
  command: Command
  onClose: () => void
}

const note_characters_min = 3

/** Closes the record of a limit whose release the site has not confirmed. */
export function CloseModal({ site_id, command, onClose }: CloseModalProps) {
  const { group_id, rows } = command
  const { plantName } = useDevices(site_id)
  const [plants] = useState(rows.filter(({ status }) => status === 'releasing'))
  const [note, setNote] = useState('')
  const close = useWrite({
    write: (note: string) => askPlatform('POST', '/curtailment/close', { site_id, group_id, note }),
    done: 'Record closed. Nothing was sent to the site.',
    changes: [curtailmentKey(site_id)],
    onDone: onClose,
  })
  const is_filled = note.trim().length >= note_characters_min
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (is_filled) close.run(note.trim())
  }
  return (
    <Modal opened onClose={onClose} title="Close the record">
      <form onSubmit={submit} noValidate>
        <Stack>
          <Notice title="The plant may still be limited">
            The site has not confirmed the release at{' '}
            {plants.map(({ logger_id }) => plantName(logger_id)).join(', ')}. Closing the record
            sends nothing to the site and lifts no limit. Check the devices on site first.
          </Notice>
          <Text size="sm">The record ends here, and its alert resolves.</Text>
          <Textarea
            label="Reason"
            description="Stored with the record and in the audit."
            required
            maxLength={500}
            value={note}
            onChange={(event) => setNote(event.currentTarget.value)}
            data-autofocus
          />
          <Problem error={close.error} />
          <DialogButtons onClose={onClose}>
            <Button type="submit" color="red.9" disabled={!is_filled} loading={close.is_pending}>
              Close record
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Modal>
  )
}
