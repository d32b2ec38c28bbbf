import { Anchor, Button, Checkbox, Text } from '@mantine/core'
import { useState } from 'react'
import { useUser } from '../../queries.ts'
import { Page } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import NotFound from '../not-found.tsx'
import { KeyTable } from './api-access/key-table.tsx'
import { type Key, type ShownKey, useKeys } from './api-access/keys.ts'
import { NewKey } from './api-access/new-key.tsx'
import { RevokeKey } from './api-access/revoke-key.tsx'
import { RotateKey } from './api-access/rotate-key.tsx'
import { TheKey } from './api-access/the-key.tsx'

type Open =
  | { what: 'new' }
  | { what: 'rotate' | 'revoke'; key: Key }
  | { what: 'shown'; key: ShownKey }

export default function ApiAccess() {
  return useUser().role === 'administrator' ? <Keys /> : <NotFound />
}

function Keys() {
  const keys = useKeys()
  const [open, setOpen] = useState<Open | null>(null)
  const [with_ended, setWithEnded] = useState(false)
  const close = () => setOpen(null)
  const show = (key: ShownKey) => setOpen({ what: 'shown', key })
  const isShown = ({ state }: Key) => with_ended || state === 'active' || state === 'rotating'
  return (
    <Page
      title="API access"
      actions={<Button onClick={() => setOpen({ what: 'new' })}>New key</Button>}
    >
      <Text c="dimmed">
        A key gives a program access to the API, within the permissions of the key. See{' '}
        <Anchor href="/docs" underline="always">
          the API reference
        </Anchor>
        .
      </Text>
      <Answered query={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No keys yet">Create a key to use the API.</Empty>
          ) : (
            <>
              {data.some(({ state }) => state === 'revoked' || state === 'expired') && (
                <Checkbox
                  label="Show expired and revoked keys"
                  checked={with_ended}
                  onChange={(event) => setWithEnded(event.currentTarget.checked)}
                />
              )}
              <KeyTable
                keys={data.filter(isShown)}
                onRotate={(key) => setOpen({ what: 'rotate', key })}
                onRevoke={(key) => setOpen({ what: 'revoke', key })}
              />
            </>
          )
        }
      </Answered>
      {open?.what === 'new' && <NewKey onMade={show} onClose={close} />}
      {open?.what === 'rotate' && <RotateKey of={open.key} onMade={show} onClose={close} />}
      {open?.what === 'revoke' && <RevokeKey of={open.key} onClose={close} />}
      {open?.what === 'shown' && <TheKey made={open.key} onClose={close} />}
    </Page>
  )
}
