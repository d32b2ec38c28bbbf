import type { StringHealth } from '@heliograph/sdk'
import { Anchor, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { heliograph } from '../../api.ts'
import { useMayRead } from './may-read.ts'
import { weakWords } from './weak-words.ts'

/** Strings that are known to be bad, by the last seven days: at night, too. */
export function WeakStrings({ site_id }: { site_id: string }) {
  const mayRead = useMayRead()
  const { data } = useQuery({
    queryKey: ['health-matrix', site_id, '7'],
    queryFn: ({ signal }) => heliograph.efficiencyHealthList({ site_id }, { signal }),
    enabled: mayRead('diagnostics:read'),
    staleTime: 300_000,
    refetchInterval: 300_000,
  })
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
