import { type CurtailmentRow, isCode } from '@heliograph/sdk'
import { Button, Group, Stack, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { type Column, DataTable, numeric } from '../../../ui/data-table.tsx'
import { formatNumber, formatPower } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { Failure } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { CostLine } from './cost.tsx'
import type { Allowed, Span } from './limits.ts'
import { durations, type RequestedLimit } from './requested-limit.ts'

interface LimitConfirmProps {
  site_id: string
  requested: RequestedLimit
  span: Span
  allowed: readonly Allowed[]
  rows: readonly CurtailmentRow[] | undefined
  is_pending: boolean
  error: unknown
  onSend: () => void
  onBack: () => void
}

/** Summary of a limit, shown before it is sent. */
export function LimitConfirm(props: LimitConfirmProps) {
  const { site_id, requested, span, allowed, rows, is_pending, error, onSend, onBack } = props
  const others = (rows ?? []).filter(
    (row) =>
      row.status !== 'releasing' &&
      allowed.some(({ logger_id }) => logger_id === row.logger_id) &&
      Date.parse(row.start_at) < span.end_ms &&
      Date.parse(row.end_at) > span.start_ms,
  )
  // The pressed button is gone: screen readers continue with the summary.
  const summary = useRef<HTMLParagraphElement>(null)
  useEffect(() => summary.current?.focus(), [])
  return (
    <Stack>
      <Text ref={summary} tabIndex={-1}>
        <When requested={requested} span={span} /> <What allowed={allowed} />
      </Text>
      <AllowedList allowed={allowed} />
      <Effect allowed={allowed} requested={requested} />
      <CostLine
        site_id={site_id}
        allowed={allowed}
        span={span}
        is_open={requested.duration === 'open'}
        others={others}
      />
      {!rows && (
        <Notice>Other limits could not be read, so their curtailment is included here.</Notice>
      )}
      {others.length > 0 && (
        <Notice>
          Another limit overlaps. The lowest limit applies; curtailment by the other limit is not
          counted here.
        </Notice>
      )}
      <Muted>The limit can be released at any time. The grid permit always applies.</Muted>
      <Unsent error={error} />
      <Group justify="space-between">
        <Button variant="default" onClick={onBack} disabled={is_pending}>
          Back
        </Button>
        {/* Ignores the second click of a double click on the previous button. */}
        <Button onClick={({ detail }) => detail < 2 && onSend()} loading={is_pending}>
          {requested.begins === 'now' ? 'Limit now' : 'Schedule limit'}
        </Button>
      </Group>
    </Stack>
  )
}

function Unsent({ error }: { error: unknown }) {
  if (error === null) return null
  if (!isCode(error, 'network_error')) return <Failure error={error} />
  return (
    <Notice title="The server cannot be reached">
      It is unknown whether the limit was received. Send it again: it is applied only once.
    </Notice>
  )
}

function When({ requested, span }: { requested: RequestedLimit; span: Span }) {
  const until = <Time at={new Date(span.end_ms).toISOString()} />
  const length = durations.find(({ value }) => value === requested.duration)?.label
  if (requested.duration === 'open') return <>From now until released, {until} at the latest,</>
  const is_plain = requested.duration !== 'until'
  return (
    <>
      {requested.begins === 'now' ? (
        'From now'
      ) : (
        <>
          From <Time at={new Date(span.start_ms).toISOString()} />
        </>
      )}{' '}
      until {until}
      {is_plain && ` (${length})`},
    </>
  )
}

function What({ allowed }: { allowed: readonly Allowed[] }) {
  const [only] = allowed
  if (allowed.length === 1 && only) {
    return (
      <>
        {only.name} delivers <strong>at most {formatPower(only.allowed_kw)}</strong>.
      </>
    )
  }
  const sum_kw = allowed.reduce((sum, { allowed_kw }) => sum + allowed_kw, 0)
  return (
    <>
      all {allowed.length} plants together deliver <strong>at most {formatPower(sum_kw)}</strong>.
    </>
  )
}

function Effect({
  allowed,
  requested,
}: {
  allowed: readonly Allowed[]
  requested: RequestedLimit
}) {
  if (requested.begins !== 'now') return null
  if (allowed.some(({ power_kw }) => power_kw === null)) {
    return <Text>Present power is unknown.</Text>
  }
  const fall_kw = allowed.reduce(
    (sum, { power_kw, allowed_kw }) => sum + Math.max(0, (power_kw ?? 0) - allowed_kw),
    0,
  )
  return (
    <Text>
      {fall_kw < 0.05
        ? 'Output is below the limit now.'
        : `Output drops by about ${formatPower(fall_kw)} within seconds.`}
    </Text>
  )
}

const columns: readonly Column<Allowed>[] = [
  { name: 'Plant', cell: ({ name }) => name },
  numeric('Limit', ({ allowed_kw }) => formatPower(allowed_kw)),
  numeric(
    'Of rated power',
    ({ allowed_kw, rated_power_kw }) =>
      `${formatNumber((allowed_kw / rated_power_kw) * 100)} % of ${formatPower(rated_power_kw)}`,
  ),
  numeric('Power now', ({ power_kw }) => formatPower(power_kw)),
]

export const AllowedList = ({ allowed }: { allowed: readonly Allowed[] }) => (
  <DataTable
    label="Limit of each plant"
    width={360}
    {...{ columns, rows: allowed }}
    keyOf={({ logger_id }) => logger_id}
  />
)
