import { Badge, Button, Code, Group, Table, Text, Tooltip } from '@mantine/core'
import { useUser } from '../../../queries.ts'
import { formatAge } from '../../../ui/format.ts'
import { here } from '../../../ui/here.ts'
import { RowTable } from '../../../ui/row-table.tsx'
import { SiteNames } from '../../../ui/site-choice.tsx'
import { Empty } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { useNow } from '../../../ui/use-now.ts'
import type { Key } from './keys.ts'

interface KeyActions {
  onRotate(key: Key): void
  onRevoke(key: Key): void
}

const tones = { active: 'teal', rotating: 'blue', expired: 'gray', revoked: 'gray' } as const
const head = ['Name', 'State', 'May', 'Sites', 'Last used', 'Ends', '']

export function KeyTable({ keys, ...actions }: KeyActions & { keys: readonly Key[] }) {
  if (keys.length === 0) return <Empty title="No key is in use" />
  return (
    <RowTable label="API keys" min_width={860} head={head}>
      {keys.map((key) => (
        <Row key={key.key_id} of={key} {...actions} />
      ))}
    </RowTable>
  )
}

function Row({ of, onRotate, onRevoke }: KeyActions & { of: Key }) {
  const now_ms = useNow(30_000)
  const used_s = of.last_used_at ? (now_ms - Date.parse(of.last_used_at)) / 1000 : null
  const ends_at = of.revoked_at ?? of.expires_at
  const is_in_use = of.state === 'active' || of.state === 'rotating'
  return (
    <Table.Tr>
      <Table.Td>
        <Text fw={500}>{of.name}</Text>
        <Code>{of.key_prefix}…</Code>
        <Text size="xs" c="dimmed">
          by {of.created_by}, <Time at={of.created_at} timezone={here} style="date" />
        </Text>
      </Table.Td>
      <Table.Td style={{ minWidth: 110 }}>
        <Badge miw="max-content" color={tones[of.state]}>
          {of.state}
        </Badge>
        {of.state === 'rotating' && (
          <Text size="xs" c="dimmed">
            the old secret until <Time at={of.previous_until} timezone={here} />
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <May of={of} />
      </Table.Td>
      <Table.Td style={{ minWidth: 90 }}>
        <SiteNames site_ids={of.site_ids} />
      </Table.Td>
      <Table.Td>
        {used_s === null ? (
          'never'
        ) : (
          <span title={of.last_used_at!} style={{ whiteSpace: 'nowrap' }}>
            {formatAge(used_s)}
          </span>
        )}
      </Table.Td>
      <Table.Td>{ends_at ? <Time at={ends_at} timezone={here} /> : 'never'}</Table.Td>
      <Table.Td>
        {is_in_use && <Actions of={of} onRotate={onRotate} onRevoke={onRevoke} />}
      </Table.Td>
    </Table.Tr>
  )
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

/** In short; all of them when pointed at. */
function May({ of }: { of: Key }) {
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
