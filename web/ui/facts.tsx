import { SimpleGrid, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { none } from './format.ts'

/** Names with values. Null shows a dash, or is hidden with `left_out`. */
export function Facts({
  rows,
  cols = 2,
  left_out = false,
}: {
  rows: readonly [string, ReactNode][]
  cols?: number
  left_out?: boolean
}) {
  const shown = left_out ? rows.filter(([, value]) => value !== null) : rows
  return (
    <SimpleGrid
      component="dl"
      cols={{ base: Math.min(cols, 2), xs: cols }}
      spacing="sm"
      verticalSpacing="xs"
      m={0}
    >
      {shown.map(([name, value]) => (
        <div key={name}>
          <Text component="dt" size="sm" c="dimmed">
            {name}
          </Text>
          <Text component="dd" m={0} className="figure" style={{ overflowWrap: 'anywhere' }}>
            {value ?? none}
          </Text>
        </div>
      ))}
    </SimpleGrid>
  )
}
