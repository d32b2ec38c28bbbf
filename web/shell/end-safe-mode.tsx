import type { Site } from '@heliograph/sdk'
import { Button, Text } from '@mantine/core'
import { useState } from 'react'
import { askPlatform } from '../api.ts'
import { useUser } from '../queries.ts'
import { ConfirmByName } from '../ui/confirm-by-name.tsx'
import { useWrite } from '../ui/use-write.ts'

export function EndSafeMode({ site }: { site: Site }) {
  const { role } = useUser()
  const [is_open, setOpen] = useState(false)
  if (role !== 'administrator') {
    return 'An administrator can end it when commissioning is complete.'
  }
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
        End safe mode
      </Button>
      {is_open && <Confirmation site={site} onClose={() => setOpen(false)} />}
    </>
  )
}

function Confirmation({ site, onClose }: { site: Site; onClose(): void }) {
  const { site_id, name } = site
  const end = useWrite({
    write: () => askPlatform('POST', '/safe-mode/end', { site_id, confirmation: name }),
    done: `“${name}” accepts commands and changes`,
    changes: [['sites'], ['overview', site_id]],
    onDone: onClose,
  })
  return (
    <ConfirmByName
      title={`End the safe mode of “${name}”`}
      name={name}
      action="End safe mode"
      is_pending={end.is_pending}
      error={end.error}
      onConfirm={() => end.run(undefined)}
      onClose={onClose}
    >
      <Text size="sm">
        The site will accept commands, including curtailment and battery dispatch. End safe mode
        only after every device, the permit and the limits have been checked on site.
      </Text>
    </ConfirmByName>
  )
}
