import type { CurtailmentRow } from '@heliograph/sdk'
import { Box, Card, Group, type GroupProps, Stack, Text, Title, Tooltip } from '@mantine/core'
import { useState } from 'react'
import { useSite } from '../../../queries.ts'
import { Choice } from '../../../ui/filters.tsx'
import { formatPower, formatTime } from '../../../ui/format.ts'
import { Muted, useNow } from '../../../ui/page.tsx'
import { dayAt, instantOf } from '../../../ui/site-clock.ts'
import { useHistory, usePlants } from './reads.ts'
import { endOf, instantOfEnd, isWithdrawn, stateOf } from './rows.ts'

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
      instantOfEnd(shownEnd(row, now_ms)) > start_ms,
  )
  return (
    <Card padding="sm">
      <Stack gap="xs">
        <Group justify="space-between">
          <Title order={2} size="h3">
            Timeline
          </Title>
          <Choice
            size="xs"
            label="Period"
            choices={{ day: 'Today and tomorrow', week: 'Two weeks' }}
            value={kind}
            onChange={setKind}
          />
        </Group>
        <Lanes
          plants={plants ?? []}
          rows={shown}
          start_ms={start_ms}
          end_ms={end_ms}
          now_ms={now_ms}
          timezone={timezone}
        />
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

const looks = {
  active: { borderRadius: 3, background: 'var(--mantine-color-orange-6)' },
  scheduled: { borderRadius: 3, border: '2px dashed var(--mantine-color-blue-6)' },
  past: { borderRadius: 3, background: 'var(--mantine-color-gray-5)' },
} as const

function Key({ kind, children }: { kind: keyof typeof looks; children: string }) {
  return (
    <Group gap={6}>
      <Box component="span" display="inline-block" w={18} h={12} style={looks[kind]} />
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
          <Row key={logger_id} name={name}>
            <Box
              role="img"
              aria-label={`${name}: ${own.length} limits in this period`}
              h={28}
              pos="relative"
              bg="var(--mantine-color-default-hover)"
              style={{ flex: 1, borderRadius: 4 }}
            >
              {own.map((row) => (
                <Bar
                  key={row.id}
                  row={row}
                  percentAt={percentAt}
                  timezone={timezone}
                  end_at={shownEnd(row, now_ms)}
                />
              ))}
              <Box
                component="span"
                pos="absolute"
                top={-3}
                bottom={-3}
                left={`${percentAt(now_ms)}%`}
                w={2}
                bg="var(--mantine-color-text)"
              />
            </Box>
          </Row>
        )
      })}
      <Row aria-hidden>
        <Box h={18} pos="relative" style={{ flex: 1 }}>
          {ticks.map((at_ms, nth) => (
            <Text
              key={at_ms}
              size="xs"
              c="dimmed"
              pos="absolute"
              left={`${percentAt(at_ms)}%`}
              visibleFrom={nth % 4 === 0 ? undefined : 'sm'}
              style={{ whiteSpace: 'nowrap' }}
            >
              {tickText(at_ms, timezone, is_long, nth)}
            </Text>
          ))}
        </Box>
      </Row>
    </div>
  )
}

interface RowProps extends GroupProps {
  name?: string
}

const Row = ({ name, children, ...rest }: RowProps) => (
  <Group gap={12} mb={6} wrap="nowrap" {...rest}>
    <Text
      size="sm"
      maw={160}
      style={{ flex: '0 0 22%', overflow: 'hidden', textOverflow: 'ellipsis' }}
    >
      {name}
    </Text>
    {children}
  </Group>
)

function tickText(at_ms: number, timezone: string, is_long: boolean, nth: number): string {
  const at = new Date(at_ms).toISOString()
  if (is_long || nth === 0 || nth === 4) return formatTime(at, timezone, 'day')
  return formatTime(at, timezone, 'time')
}

/** During its release an order may still limit its plant. */
const shownEnd = (row: CurtailmentRow, now_ms: number) =>
  row.status === 'releasing' ? new Date(now_ms).toISOString() : endOf(row)

const kinds: Partial<Record<CurtailmentRow['status'], keyof typeof looks>> = {
  active: 'active',
  releasing: 'active',
  scheduled: 'scheduled',
}

interface BarProps {
  row: CurtailmentRow
  end_at: string | null
  percentAt: (at_ms: number) => number
  timezone: string
}

function Bar({ row, end_at, percentAt, timezone }: BarProps) {
  const left = percentAt(Date.parse(row.start_at))
  const width = percentAt(instantOfEnd(end_at)) - left
  const kind = kinds[row.status] ?? 'past'
  const shown = (at: string | null) =>
    at === null ? 'until replaced' : formatTime(at, timezone, 'full')
  const when = [row.start_at, end_at].map(shown).join(' – ')
  return (
    <Tooltip label={`${stateOf(row).words}: limit ${formatPower(row.max_power_kw)}, ${when}`}>
      <Box
        component="span"
        pos="absolute"
        top={4}
        bottom={4}
        left={`${left}%`}
        w={`max(3px, ${width}%)`}
        style={looks[kind]}
      />
    </Tooltip>
  )
}
