import type { CurtailmentRow } from '@heliograph/sdk'
import { Badge, Box, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { IconCircle, IconCircleCheck } from '@tabler/icons-react'
import { useMay } from '../../../queries.ts'
import { type Column, DataTable, numeric } from '../../../ui/data-table.tsx'
import { useDevices } from '../../../ui/devices.tsx'
import { formatNumber, formatPower, formatQuantity } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { Time } from '../../../ui/time.tsx'
import { useNow } from '../../../ui/use-now.ts'
import { WriteButton } from '../../../ui/write-button.tsx'
import { type Command, isStuck, limitWords, releasingReason, stateOf, stepsOf } from './rows.ts'

interface CommandCardProps {
  site_id: string
  command: Command
  onRelease: () => void
  onCloseRecord: () => void
}

/** A limit with its plants, and the progress of each. */
export function CommandCard(props: CommandCardProps) {
  const { site_id, command, onRelease, onCloseRecord } = props
  const may = useMay()
  const now_ms = useNow(10_000)
  const { rows } = command
  const [first] = rows
  if (!first) return null
  const { source, created_by, start_at, end_at } = first
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={3} size="h4">
            Limit {limitWords(first)}
          </Title>
          <Text size="sm">
            <Time at={start_at} /> – <Time at={end_at} />
          </Text>
          <Muted>
            {source === 'edge_local' ? 'Reported by the site' : `Requested by ${created_by}`}
          </Muted>
        </div>
        <Group gap="xs">
          {may('curtailment:write') && rows.some((row) => isStuck(row, now_ms)) && (
            <Button variant="default" size="sm" onClick={onCloseRecord}>
              Close record
            </Button>
          )}
          <WriteButton scope="curtailment:write" variant="default" size="sm" onClick={onRelease}>
            Release
          </WriteButton>
        </Group>
      </Group>
      <Box visibleFrom="sm">
        <Rows rows={rows} site_id={site_id} />
      </Box>
      <Box hiddenFrom="sm">
        <NarrowRows rows={rows} site_id={site_id} />
      </Box>
    </Card>
  )
}

function Rows({ rows, site_id }: { rows: readonly CurtailmentRow[]; site_id: string }) {
  const { plantName } = useDevices(site_id)
  const columns: Column<CurtailmentRow>[] = [
    { name: 'Plant', cell: ({ logger_id }) => plantName(logger_id) },
    {
      name: 'State',
      cell: (row) => (
        <Badge color={stateOf(row).tone} miw="max-content">
          {stateOf(row).words}
        </Badge>
      ),
    },
    numeric('Limit', ({ max_power_kw, limit_pct_of_rated }) => (
      <>
        {formatPower(max_power_kw)}
        <Muted>{formatQuantity(limit_pct_of_rated, '%')}</Muted>
      </>
    )),
    numeric('Limit of the devices', (row) => formatPower(row.observed_limit_kw)),
    numeric('Power now', (row) => formatPower(row.observed_power_kw)),
    { name: 'Progress', wraps: true, cell: (row) => <Steps row={row} /> },
  ]
  return (
    <DataTable
      label="Plants of this limit"
      width={720}
      {...{ columns, rows }}
      keyOf={({ id }) => id}
    />
  )
}

/** The same list for a phone. */
function NarrowRows({ rows, site_id }: { rows: readonly CurtailmentRow[]; site_id: string }) {
  const { plantName } = useDevices(site_id)
  return (
    <Stack gap="sm" mt="sm">
      {rows.map((row) => (
        <div key={row.id}>
          <Group gap="xs">
            <Text fw={600}>{plantName(row.logger_id)}</Text>
            <Badge color={stateOf(row).tone}>{stateOf(row).words}</Badge>
          </Group>
          <Text size="sm" className="figure">
            Limit {formatPower(row.max_power_kw)} ({formatNumber(row.limit_pct_of_rated)} %), limit
            of the devices {formatPower(row.observed_limit_kw)}, power now{' '}
            {formatPower(row.observed_power_kw)}
          </Text>
          <Steps row={row} />
        </div>
      ))}
    </Stack>
  )
}

/** Steps with their times, and the reason for a delay. */
export function Steps({ row }: { row: CurtailmentRow }) {
  return (
    <Stack gap={4}>
      <Group gap="sm">
        {stepsOf(row).map(({ label, at }) => (
          <Group key={label} gap={4} wrap="nowrap">
            {at ? (
              <IconCircleCheck
                size={16}
                color="var(--mantine-color-teal-filled)"
                aria-label="done"
              />
            ) : (
              <IconCircle size={16} color="var(--mantine-color-dimmed)" aria-label="pending" />
            )}
            <Text size="sm" {...(!at && { c: 'dimmed' })}>
              {label}
              {at && ' '}
              {at && <Time at={at} style="time" />}
            </Text>
          </Group>
        ))}
      </Group>
      {row.apply_latency_ms !== null && row.release_requested_at === null && (
        <Muted>In force {formatQuantity(row.apply_latency_ms / 1000, 's')} after the start</Muted>
      )}
      {row.releasing_reason && (
        <Text size="sm">{releasingReason(row)} The plant may still be limited.</Text>
      )}
      {row.failure_message && (
        <Text size="sm" fw={600}>
          {row.failure_message}
        </Text>
      )}
    </Stack>
  )
}
