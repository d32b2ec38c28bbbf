/** A line for each source, with bars for its gaps. */

import type { Gap } from '@heliograph/sdk'
import { Box, Group, Stack, Text } from '@mantine/core'
import { useSite } from '../../../shell/site-shell.tsx'
import { useDevices } from '../../../ui/devices.tsx'
import { formatDuration } from '../../../ui/duration.ts'
import { formatTime } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { inWords } from '../../../ui/words.ts'
import { sourceName } from './figures.tsx'

const colors: Record<Gap['status'], string> = {
  open: 'var(--mantine-color-red-7)',
  backfilling: 'var(--mantine-color-blue-6)',
  backfilled: 'var(--mantine-color-teal-6)',
  unrecoverable: 'var(--mantine-color-gray-6)',
}

/** Further sources are only in the table. */
const lines_max = 40

interface GapTimelineProps {
  site_id: string
  gaps: readonly Gap[]
  start_ms: number
  end_ms: number
}

export function GapTimeline({ site_id, gaps, start_ms, end_ms }: GapTimelineProps) {
  const { timezone } = useSite()
  const devices = useDevices(site_id)
  const lines = [...Map.groupBy(gaps, (gap) => sourceName(devices, gap))]
  const lengthOf = (list: readonly Gap[]) => list.reduce((sum, gap) => sum + gap.duration_s, 0)
  lines.sort(([, a], [, b]) => lengthOf(b) - lengthOf(a))
  const at = (ms: number) => formatTime(new Date(ms).toISOString(), timezone, 'full')
  return (
    <Stack gap={6}>
      <Group gap="md">
        {Object.entries(colors).map(([status, color]) => (
          <Group key={status} gap={6}>
            <Box w={14} h={14} bg={color} style={{ borderRadius: 3 }} />
            <Text size="sm">{inWords(status)}</Text>
          </Group>
        ))}
      </Group>
      {lines.slice(0, lines_max).map(([name, list]) => (
        <Line key={name} {...{ name, list, start_ms, end_ms, timezone }} />
      ))}
      <Group justify="space-between">
        <Muted>{at(start_ms)}</Muted>
        <Muted>{at(end_ms)}</Muted>
      </Group>
      {lines.length > lines_max && (
        <Text size="sm">
          {lines.length - lines_max} more sources with shorter gaps are in the table.
        </Text>
      )}
    </Stack>
  )
}

interface LineProps {
  name: string
  list: readonly Gap[]
  start_ms: number
  end_ms: number
  timezone: string
}

function Line({ name, list, start_ms, end_ms, timezone }: LineProps) {
  const share = (ms: number) =>
    (100 * (Math.min(Math.max(ms, start_ms), end_ms) - start_ms)) / (end_ms - start_ms)
  const duration_s = list.reduce((sum, gap) => sum + gap.duration_s, 0)
  return (
    <div>
      <Group justify="space-between" gap={4}>
        <Text size="sm">{name}</Text>
        <Muted>
          {list.length} {list.length === 1 ? 'gap' : 'gaps'}, {formatDuration(duration_s)}
        </Muted>
      </Group>
      <Box
        h={14}
        pos="relative"
        role="img"
        aria-label={`${name}: ${list.length} gaps, ${formatDuration(duration_s)} in all`}
        bg="var(--mantine-color-default-hover)"
        style={{ borderRadius: 3, overflow: 'hidden' }}
      >
        {list.map((gap) => {
          const from = share(Date.parse(gap.start_at))
          const to = share(gap.end_at === null ? end_ms : Date.parse(gap.end_at))
          return (
            <Box
              key={gap.gap_id}
              pos="absolute"
              h="100%"
              bg={colors[gap.status]}
              title={titleOf(gap, timezone)}
              style={{ left: `${from}%`, width: `max(3px, ${to - from}%)` }}
            />
          )
        })}
      </Box>
    </div>
  )
}

function titleOf(gap: Gap, timezone: string): string {
  const from = formatTime(gap.start_at, timezone, 'full')
  return `${from}, ${formatDuration(gap.duration_s)}: ${inWords(gap.cause)}, ${inWords(gap.status)}`
}
