/** What a page shows while it has nothing to show: loading, failed, empty. */

import { HeliographError, isCode } from '@heliograph/sdk'
import { Alert, Button, Center, Loader, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Muted } from './muted.tsx'
import { plainly } from './plainly.ts'

export function Loading() {
  return (
    <Center mih={200} role="status" aria-label="Loading">
      <Loader />
    </Center>
  )
}

/** In words, with what support asks for. `onRetry`: of a read, which is repeated by itself. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (onRetry && isCode(error, 'network_error')) {
    return (
      <Alert color="red" title={titleOf(error)} role="alert" variant="outline" m="md">
        This part is loaded as soon as the server answers.
      </Alert>
    )
  }
  return (
    <Alert color="red" title={titleOf(error)} role="alert" variant="outline" m="md">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{plainly(error)}</Text>
        {error instanceof HeliographError && error.request_id && (
          <Muted>Request {error.request_id}</Muted>
        )}
        {onRetry && (
          <Button size="xs" variant="default" onClick={() => onRetry()}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

function titleOf(error: unknown): string {
  if (!(error instanceof HeliographError)) return 'Something went wrong'
  if (error.code === 'network_error') return 'The server cannot be reached'
  if (error.code === 'forbidden_scope') return 'Your role does not allow this'
  if (error.code === 'forbidden_module') return 'Your plan does not include this'
  if (error.code === 'not_found') return 'This is not there'
  return 'The server refused'
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Center mih={160} p="md">
      <Stack gap={4} align="center">
        <Text fw={600} fz="lg" ta="center">
          {title}
        </Text>
        {children && (
          <Text c="dimmed" ta="center" component="div">
            {children}
          </Text>
        )}
      </Stack>
    </Center>
  )
}

/** Who has come by its address to a form of what others do. */
export const NotAllowed = () => (
  <Empty title="Your role does not allow this">An administrator can change what you may do.</Empty>
)

interface Asked<Data> {
  data: Data | undefined
  error: unknown
  refetch: () => unknown
}

/**
 * The data of a query, or why there is none. Data that is there stays while the server is gone:
 * the shell says how old it is.
 */
export function Answered<Data>({
  query,
  children,
}: {
  query: Asked<Data>
  children: (data: Data) => ReactNode
}) {
  if (query.data !== undefined) return children(query.data)
  if (query.error) return <Failure error={query.error} onRetry={() => void query.refetch()} />
  return <Loading />
}
