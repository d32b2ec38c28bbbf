/** Fields that somebody else changed meanwhile. */
import { Alert, List, Text } from '@mantine/core'
import { useSite } from '../shell/site-shell.tsx'
import { formatNumber, formatTime } from './format.ts'
import { inWords } from './words.ts'
import type { Difference } from './write-seen.ts'

const instant = /^\d{4}-\d\d-\d\dT.*Z$/

function inText(value: unknown, timezone: string): string {
  if (typeof value === 'string' && instant.test(value)) return formatTime(value, timezone, 'full')
  if (value === null || value === undefined || value === '') return 'empty'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return formatNumber(value, Number.isInteger(value) ? 0 : 2)
  if (Array.isArray(value)) return value.length === 0 ? 'none' : `${value.length} entries`
  return String(value)
}

export function Differences({ differences }: { differences: readonly Difference[] }) {
  const { timezone } = useSite()
  return (
    <Alert color="orange" variant="outline" title="Changed by somebody else" role="alert">
      <Text size="sm">Nothing was overwritten. Your input is still here.</Text>
      <List size="sm">
        {differences.map(({ field, before, now }) => (
          <List.Item key={field}>
            {inWords(field)}: {inText(before, timezone)} → {inText(now, timezone)}
          </List.Item>
        ))}
      </List>
      <Text size="sm">Try again to apply your change.</Text>
    </Alert>
  )
}
