import { Card, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Muted } from './muted.tsx'

/** A metric with its name and a note. */
export function Figure({
  label,
  value,
  note,
  tone,
}: {
  label: string
  value: ReactNode
  note?: ReactNode
  tone?: 'bad' | 'good'
}) {
  const color = tone === 'bad' ? 'red' : tone === 'good' ? 'teal' : undefined
  return (
    <Card withBorder padding="sm">
      <Muted>{label}</Muted>
      <Group gap="xs" align="baseline">
        <Text
          className="figure"
          fz={24}
          fw={600}
          lh={1.3}
          style={{ overflowWrap: 'anywhere' }}
          {...(color && { c: color })}
        >
          {value}
        </Text>
      </Group>
      {note && (
        <Text size="sm" c="dimmed" component="div">
          {note}
        </Text>
      )}
    </Card>
  )
}
