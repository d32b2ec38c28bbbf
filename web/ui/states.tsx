import { HeliographError, isCode } from '@heliograph/sdk'
import { Alert, Button, Center, Loader, Stack, Text, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import { Muted } from './page.tsx'

export function Loading() {
  return (
    <Center mih={200} role="status" aria-label="Loading">
      <Loader />
    </Center>
  )
}

/** An error with its request id. `onRetry` is given for reads, which also repeat on their own. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (onRetry && isCode(error, 'network_error')) {
    return (
      <Alert color="red" title={titleOf(error)} role="alert" m="md">
        Loads as soon as the server answers.
      </Alert>
    )
  }
  return (
    <Alert color="red" title={titleOf(error)} role="alert" m="md">
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
  if (!(error instanceof HeliographError)) return 'Error'
  if (error.code === 'network_error') return 'The server cannot be reached'
  if (error.code === 'forbidden_scope') return 'Your role does not allow this'
  if (error.code === 'forbidden_module') return 'Your plan does not include this'
  if (error.code === 'not_found') return 'Not found'
  return 'Rejected by the server'
}

interface EmptyProps {
  title: string
  /** For screen readers, where the page has headings only with content. */
  heading?: string
  children?: ReactNode
}

export function Empty({ title, heading, children }: EmptyProps) {
  return (
    <Center mih={160} p="md">
      <Stack gap={4} align="center">
        {heading && (
          <VisuallyHidden>
            <h2>{heading}</h2>
          </VisuallyHidden>
        )}
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

/** For people who open a form that their role does not allow. */
export const NotAllowed = () => (
  <Empty title="Your role does not allow this">Ask an administrator for access.</Empty>
)

interface Asked<Data> {
  data: Data | undefined
  error: unknown
  refetch: () => unknown
}

/**
 * The data of a query, or its error. Data stays shown while the server cannot be reached: the shell
 * shows its age.
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

/** Texts for codes whose message is written for programs. */
const plain: Readonly<Record<string, string>> = {
  network_error: 'The server cannot be reached. Your input is kept: try again in a moment.',
  forbidden_scope: 'Ask an administrator for access.',
}

export function plainly(error: unknown): string {
  if (!(error instanceof HeliographError))
    return error instanceof Error ? error.message : `${error}`
  return plain[error.code] ?? error.message
}
