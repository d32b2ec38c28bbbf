import { Badge, Button, Code, Group, Text, Tooltip } from '@mantine/core'
import { useUser } from '../../../queries.ts'
import { type Column, DataTable } from '../../../ui/data-table.tsx'
import { formatAge } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { SiteNames } from '../../../ui/site-choice.tsx'
import { Empty } from '../../../ui/states.tsx'
import { LocalTime } from '../../../ui/time.tsx'
import { useNow } from '../../../ui/use-now.ts'
import { inWords } from '../../../ui/words.ts'
import type { Key } from './keys.ts'

interface KeyActions {
  onRotate(key: Key): void
  onRevoke(key: Key): void
}

const tones = { active: 'teal', rotating: 'blue', expired: 'gray', revoked: 'gray' } as const
export function KeyTable({ keys, ...actions }: KeyActions & { keys: readonly Key[] }) {
  const now_ms = useNow(30_000)
  if (keys.length === 0) return <Empty title="No active keys" />
  const columns: Column<Key>[] = [
    {
      name: 'Name',
      cell: ({ name, key_prefix, created_by, created_at }) => (
        <>
          <Text fw={500}>{name}</Text>
          <Code>{key_prefix}…</Code>
          <Muted>
            by {created_by}, <LocalTime at={created_at} style="date" />
          </Muted>
        </>
      ),
    },
    {
      name: 'State',
      cell: ({ state, previous_until }) => (
        <>
          <Badge color={tones[state]}>{inWords(state)}</Badge>
          {state === 'rotating' && (
            <Muted>
              old secret until <LocalTime at={previous_until} />
            </Muted>
          )}
        </>
      ),
    },
    { name: 'Permissions', wraps: true, cell: (key) => <Permissions of={key} /> },
    { name: 'Sites', wraps: true, cell: ({ site_ids }) => <SiteNames site_ids={site_ids} /> },
    { name: 'Last used', cell: ({ last_used_at }) => <LastUsed {...{ last_used_at, now_ms }} /> },
    {
      name: 'Expires',
      cell: ({ revoked_at, expires_at }) => {
        const ends_at = revoked_at ?? expires_at
        return ends_at ? <LocalTime at={ends_at} /> : 'Never'
      },
    },
    {
      name: '',
      cell: (key) =>
        (key.state === 'active' || key.state === 'rotating') && <Actions of={key} {...actions} />,
    },
  ]
  return (
    <DataTable
      label="API keys"
      width={860}
      {...{ columns, rows: keys }}
      keyOf={({ key_id }) => key_id}
    />
  )
}

function LastUsed({ last_used_at, now_ms }: { last_used_at: string | null; now_ms: number }) {
  if (!last_used_at) return 'Never'
  return <span title={last_used_at}>{formatAge((now_ms - Date.parse(last_used_at)) / 1000)}</span>
}

function Actions({ of, onRotate, onRevoke }: KeyActions & { of: Key }) {
  return (
    <Group gap="xs" wrap="nowrap" justify="flex-end">
      <Button
        size="xs"
        variant="default"
        onClick={() => onRotate(of)}
        aria-label={`Rotate ${of.name}`}
      >
        Rotate
      </Button>
      <Button
        size="xs"
        variant="default"
        onClick={() => onRevoke(of)}
        aria-label={`Revoke ${of.name}`}
      >
        Revoke
      </Button>
    </Group>
  )
}

/** A summary of the scopes; the tooltip lists them. */
function Permissions({ of }: { of: Key }) {
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
