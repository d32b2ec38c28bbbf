import type { CurtailmentRow } from '@heliograph/sdk'
import { Card, Group, SegmentedControl, Stack, Text, Title, Tooltip } from '@mantine/core'
import { useState } from 'react'
import { useSite } from '../../../queries.ts'
import { formatPower, formatTime } from '../../../ui/format.ts'
import { Muted, useNow } from '../../../ui/page.tsx'
import { dayAt, instantOf } from '../../../ui/site-clock.ts'
import { useHistory, usePlants } from './reads.ts'
import { endOf, isWithdrawn, stateOf } from './rows.ts'
import classes from './timeline.module.css'

const day_ms = 86_400_000

/** Days before the present day, and days from then on. */
const spans = { day: { before: 0, from_now: 2 }, week: { before: 6, from_now: 7 } } as const

export function Timeline({ rows }: { rows: CurtailmentRow[] }) {
  const { timezone } = useSite()
  const [kind, setKind] = useState<keyof typeof spans>('day')
  const now_ms = useNow(30_000)
  const plants = usePlants()
  const past = useHistory(7)
  const today_ms = instantOf(`${dayAt(now_ms, timezone)}T00:00`, timezone) ?? now_ms
  const start_ms = today_ms - spans[kind].before * day_ms
  const end_ms = today_ms + spans[kind].from_now * day_ms
  // During its release an order may be in both lists.
  const all = new Map([...rows, ...(past.data?.data ?? [])].map((row) => [row.id, row]))
  const shown = [...all.values()].filter(
    (row) =>
      !isWithdrawn(row) &&
      Date.parse(row.start_at) < end_ms &&
      Date.parse(shownEnd(row, now_ms)) > start_ms,
  )
  return (
    <Card withBorder padding="sm">
      <Stack gap="xs">
        <Group justify="space-between">
          <Title order={2} size="h3">
            Timeline
          </Title>
          <SegmentedControl
            size="xs"
            aria-label="Period"
            value={kind}
            onChange={(value) => setKind(value as keyof typeof spans)}
            data={[
              { value: 'day', label: 'Today and tomorrow' },
              { value: 'week', label: 'Two weeks' },
            ]}
          />
        </Group>
        <Lanes {...{ plants: plants ?? [], rows: shown, start_ms, end_ms, now_ms, timezone }} />
        <Group gap="md">
          <Key kind="active">In force</Key>
          <Key kind="scheduled">Scheduled</Key>
          <Key kind="past">Ended</Key>
          <Muted>No bar: not limited. The vertical line marks the present time.</Muted>
        </Group>
      </Stack>
    </Card>
  )
}

function Key({ kind, children }: { kind: string; children: string }) {
  return (
    <Group gap={6}>
      <span className={classes['key']} data-kind={kind} />
      <Text size="sm">{children}</Text>
    </Group>
  )
}

interface LanesProps {
  plants: readonly { logger_id: number; name: string }[]
  rows: readonly CurtailmentRow[]
  start_ms: number
  end_ms: number
  now_ms: number
  timezone: string
}

function Lanes({ plants, rows, start_ms, end_ms, now_ms, timezone }: LanesProps) {
  const percentAt = (at_ms: number) => {
    const share = (at_ms - start_ms) / (end_ms - start_ms)
    return Math.min(100, Math.max(0, share * 100))
  }
  const is_long = end_ms - start_ms > 4 * day_ms
  const ticks = Array.from({ length: 8 }, (_, nth) => start_ms + (nth * (end_ms - start_ms)) / 8)
  return (
    <div>
      {plants.map(({ logger_id, name }) => {
        const own = rows.filter((row) => row.logger_id === logger_id)
        return (
          <div key={logger_id} className={classes['row']}>
            <Text size="sm" className={classes['name']}>
              {name}
            </Text>
            <div
              className={classes['lane']}
              role="img"
              aria-label={`${name}: ${own.length} limits in this period`}
            >
              {own.map((row) => (
                <Bar
                  key={row.id}
                  row={row}
                  end_at={shownEnd(row, now_ms)}
                  percentAt={percentAt}
                  timezone={timezone}
                />
              ))}
              <span className={classes['now']} style={{ left: `${percentAt(now_ms)}%` }} />
            </div>
          </div>
        )
      })}
      <div className={classes['row']} aria-hidden>
        <span className={classes['name']} />
        <div className={classes['ticks']}>
          {ticks.map((at_ms, nth) => (
            <Text
              key={at_ms}
              size="xs"
              c="dimmed"
              className={classes['tick']}
              data-main={nth % 4 === 0}
              style={{ left: `${percentAt(at_ms)}%` }}
            >
              {tickText(at_ms, timezone, is_long, nth)}
            </Text>
          ))}
        </div>
      </div>
    </div>
  )
}

function tickText(at_ms: number, timezone: string, is_long: boolean, nth: number): string {
  const at = new Date(at_ms).toISOString()
  if (is_long || nth === 0 || nth === 4) return formatTime(at, timezone, 'day')
  return formatTime(at, timezone, 'time')
}

/** During its release an order may still limit its plant. */
const shownEnd = (row: CurtailmentRow, now_ms: number) =>
  row.status === 'releasing' ? new Date(now_ms).toISOString() : endOf(row)

const kinds: Partial<Record<CurtailmentRow['status'], string>> = {
  active: 'active',
  releasing: 'active',
  scheduled: 'scheduled',
}

interface BarProps {
  row: CurtailmentRow
  end_at: string
  percentAt: (at_ms: number) => number
  timezone: string
}

function Bar({ row, end_at, percentAt, timezone }: BarProps) {
  const left = percentAt(Date.parse(row.start_at))
  const width = percentAt(Date.parse(end_at)) - left
  const kind = kinds[row.status] ?? 'past'
  const when = [row.start_at, end_at].map((at) => formatTime(at, timezone, 'full')).join(' – ')
  return (
    <Tooltip label={`${stateOf(row).words}: limit ${formatPower(row.max_power_kw)}, ${when}`}>
      <span
        className={classes['bar']}
        data-kind={kind}
        style={{ left: `${left}%`, width: `max(3px, ${width}%)` }}
      />
    </Tooltip>
  )
}
