import { Button, Text } from '@mantine/core'
import { useState } from 'react'
import { askPlatform } from '../../api.ts'
import type { PlatformRecipient } from '../../generated/platform.ts'
import { Problem } from '../../ui/form.tsx'
import { OpenPage } from '../../ui/page.tsx'
import { useWrite } from '../../ui/use-write.ts'

/** Opened by the link of a mail. Confirmation takes a click: mail scanners open links, too. */
export default function ConfirmAddress() {
  const token = window.location.hash.slice(1)
  const [confirmed, setConfirmed] = useState<PlatformRecipient | null>(null)
  const { run, is_pending, error } = useWrite({
    write: (_: undefined) =>
      askPlatform<PlatformRecipient>('POST', '/recipients/confirm', { token }),
    done: 'Address confirmed',
    onDone: setConfirmed,
  })
  return (
    <OpenPage heading="Receive reports" title="Confirm address" token={token}>
      {confirmed ? (
        <Text>{`Reports of ${confirmed.client} are mailed to ${confirmed.email}.`}</Text>
      ) : (
        <>
          <Text>Confirm that reports may be mailed to your address.</Text>
          <Problem
            error={error}
            words={{ not_found: 'This link has been used already or has expired.' }}
          />
          <Button loading={is_pending} onClick={() => run(undefined)}>
            Confirm
          </Button>
        </>
      )}
    </OpenPage>
  )
}
