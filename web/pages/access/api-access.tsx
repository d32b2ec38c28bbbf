import { connect, HeliographError } from '@heliograph/sdk'
import {
  Alert,
  Anchor,
  Badge,
  Button,
  Checkbox,
  Code,
  Group,
  Select,
  Stack,
  Text,
  Tooltip,
} from '@mantine/core'
import { useState } from 'react'
import { askPlatform } from '../../api.ts'
import type { PlatformKey, PlatformKeyList, PlatformShownKey } from '../../generated/platform.ts'
import { usePlatform, useUser } from '../../queries.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { type Column, column, DataTable, RowActions, wrapped } from '../../ui/data-table.tsx'
import { SiteNames } from '../../ui/fields.tsx'
import { ConfirmByName, Dialog, OnceModal } from '../../ui/form.tsx'
import { formatAge, inWords } from '../../ui/format.ts'
import { ageSince, LocalTime, Muted, Page, useNow } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useWrite } from '../../ui/use-write.ts'
import { NewKey } from './api-access/new-key.tsx'

type Open =
  | { what: 'new' }
  | { what: 'rotate' | 'revoke'; key: PlatformKey }
  | { what: 'shown'; key: PlatformShownKey }

const isUsable = ({ state }: PlatformKey) => state === 'active' || state === 'rotating'

export default function ApiAccess() {
  const keys = usePlatform<PlatformKeyList>('keys', '/keys', 30_000)
  const [open, setOpen] = useState<Open | null>(null)
  const [with_ended, setWithEnded] = useState(false)
  const close = () => setOpen(null)
  const show = (key: PlatformShownKey) => setOpen({ what: 'shown', key })
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
              {!data.every(isUsable) && (
                <Checkbox
                  label="Show expired and revoked keys"
                  checked={with_ended}
                  onChange={(event) => setWithEnded(event.currentTarget.checked)}
                />
              )}
              <KeyTable
                keys={with_ended ? data : data.filter(isUsable)}
                onOpen={(what, key) => setOpen({ what, key })}
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

interface KeyTableProps {
  keys: readonly PlatformKey[]
  onOpen(what: 'rotate' | 'revoke', key: PlatformKey): void
}

const tones = { active: 'teal', rotating: 'blue', expired: 'gray', revoked: 'gray' } as const

function KeyTable({ keys: rows, onOpen }: KeyTableProps) {
  const now_ms = useNow(30_000)
  const columns: Column<PlatformKey>[] = [
    column('Name', ({ name, key_prefix, created_by, created_at }) => (
      <>
        <Text fw={500}>{name}</Text>
        <Code>{key_prefix}…</Code>
        <Muted>
          by {created_by}, <LocalTime at={created_at} style="date" />
        </Muted>
      </>
    )),
    column('State', ({ state, previous_until }) => (
      <>
        <Badge color={tones[state]}>{inWords(state)}</Badge>
        {state === 'rotating' && (
          <Muted>
            old secret until <LocalTime at={previous_until} />
          </Muted>
        )}
      </>
    )),
    wrapped('Permissions', (key) => <Permissions of={key} />),
    wrapped('Sites', ({ site_ids }) => <SiteNames site_ids={site_ids} />),
    column('Last used', ({ last_used_at: at }) => ageSince(at, now_ms)),
    column('Expires', ({ revoked_at, expires_at }) => {
      const ends_at = revoked_at ?? expires_at
      return ends_at ? <LocalTime at={ends_at} /> : 'Never'
    }),
    column(
      '',
      (key) =>
        isUsable(key) && (
          <RowActions
            names={['rotate', 'revoke']}
            of={key.name}
            onAct={(what) => onOpen(what, key)}
          />
        ),
    ),
  ]
  return (
    <DataTable
      label="API keys"
      width={860}
      columns={columns}
      rows={rows}
      by="key_id"
      none="No active keys"
    />
  )
}

function Permissions({ of }: { of: PlatformKey }) {
  const { scopes: plan } = useUser()
  const writes = of.scopes.filter((scope) => scope.endsWith(':write'))
  const reads = of.scopes.length - writes.length
  const plan_reads = plan.filter((scope) => scope.endsWith(':read')).length
  const read = reads === plan_reads ? 'Reads everything' : `Reads ${reads} of ${plan_reads} parts`
  const names = writes.map((scope) => scope.split(':')[0])
  return (
    <Tooltip
      label={of.scopes.join(', ')}
      multiline
      w={320}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Text size="sm" tabIndex={0}>
        {read}
        {writes.length > 0 && `; writes ${names.join(', ')}`}
      </Text>
    </Tooltip>
  )
}

function RevokeKey({ of, onClose }: { of: PlatformKey; onClose(): void }) {
  const revoke = useWrite({
    write: () => askPlatform('DELETE', `/keys/${of.key_id}`),
    done: `Key “${of.name}” revoked`,
    changes: ['keys'],
    onDone: onClose,
  })
  const used_s = of.last_used_at ? (Date.now() - Date.parse(of.last_used_at)) / 1000 : null
  return (
    <ConfirmByName
      title={`Revoke “${of.name}”`}
      name={of.name}
      action="Revoke key"
      write={revoke}
      onAct={() => revoke.run(undefined)}
      onClose={onClose}
    >
      <Text size="sm">
        Programs that use this key lose access.{' '}
        {used_s === null ? 'It was never used' : `It was last used ${formatAge(used_s)}`}. This
        cannot be undone.
      </Text>
    </ConfirmByName>
  )
}

const overlaps = [
  { value: '0', label: 'Expires now' },
  { value: '3600', label: 'One hour' },
  { value: '86400', label: 'One day' },
  { value: '604800', label: 'One week' },
  { value: '2592000', label: '30 days' },
]

interface RotateProps {
  of: PlatformKey
  onMade(key: PlatformShownKey): void
  onClose(): void
}

function RotateKey({ of, onMade, onClose }: RotateProps) {
  const [overlap_s, setOverlap] = useState('86400')
  const rotate = useWrite({
    write: () =>
      askPlatform<PlatformShownKey>('POST', `/keys/${of.key_id}/rotate`, {
        overlap_s: Number(overlap_s),
      }),
    changes: ['keys'],
    onDone: onMade,
  })
  return (
    <Dialog
      title={`Rotate “${of.name}”`}
      action="Create secret"
      write={rotate}
      onAct={() => rotate.run(undefined)}
      onClose={onClose}
    >
      <Text size="sm">
        The key gets a new secret. Name, sites and permissions stay. Programs must switch to the new
        secret before the old one expires.
      </Text>
      <Select
        label="Validity of the old secret"
        data={overlaps}
        value={overlap_s}
        onChange={(chosen) => setOverlap(chosen ?? '86400')}
        allowDeselect={false}
      />
    </Dialog>
  )
}

function TheKey({ made, onClose }: { made: PlatformShownKey; onClose(): void }) {
  const curl = `curl -H "Authorization: Bearer ${made.key}" \\\n  ${location.origin}/v1/sites`
  return (
    <OnceModal onClose={onClose} title={`Key “${made.name}”`} size="lg">
      <Alert color="orange">The key is shown only once. Store it in a safe place.</Alert>
      <CopyText label="Key" text={made.key} />
      <CopyText label="Example request" text={curl} />
      <TryIt secret={made.key} />
    </OnceModal>
  )
}

const shown_characters_max = 4000

function TryIt({ secret }: { secret: string }) {
  const [answer, setAnswer] = useState<string | null>(null)
  const call = useWrite({
    write: async () => {
      // The SDK sends no cookies with a key.
      const sites = await connect({ api_key: secret, retries: 0 }).sitesList()
      setAnswer(JSON.stringify(sites, null, 2).slice(0, shown_characters_max))
    },
  })
  return (
    <Stack gap="xs">
      <Group>
        <Button variant="default" loading={call.is_pending} onClick={() => call.run(undefined)}>
          Try it: GET /v1/sites
        </Button>
        {answer && <Text size="sm">200: the key is valid.</Text>}
      </Group>
      {call.error && (
        <Alert color="red" role="alert">
          {errorWords(call.error)}
        </Alert>
      )}
      {answer && (
        <Code block tabIndex={0} mah={220} style={{ overflow: 'auto' }} aria-label="Answer">
          {answer}
        </Code>
      )}
    </Stack>
  )
}

function errorWords(error: unknown): string {
  if (!(error instanceof HeliographError)) return String(error)
  return error.status === null ? error.message : `${error.status}: ${error.message}`
}
