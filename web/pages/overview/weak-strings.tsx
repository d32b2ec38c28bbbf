import type { StringHealth } from '@heliograph/sdk'
import { Anchor, Text } from '@mantine/core'
import { Link } from 'wouter'
import { useRead } from '../../queries.ts'
import { useMayRead } from './may-read.ts'
import { weakWords } from './weak-words.ts'

/** Count of unhealthy strings of the last seven days, shown also at night. */
export function WeakStrings({ site_id }: { site_id: string }) {
  const mayRead = useMayRead()
  const { data } = useRead(
    'health-matrix',
    'efficiencyHealthList',
    { site_id },
    { enabled: mayRead('diagnostics:read'), staleTime: 300_000, refetchInterval: 300_000 },
  )
  const strings: readonly StringHealth[] = data?.data ?? []
  const words = weakWords(strings.map(({ status }) => status))
  if (words === null) return null
  return (
    <Text size="sm" mt="xs">
      <Anchor
        component={Link}
        href={`/sites/${site_id}/string-health`}
        size="sm"
        underline="always"
      >
        {words}
      </Anchor>
    </Text>
  )
}
