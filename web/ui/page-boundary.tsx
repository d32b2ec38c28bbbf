/** Shows an error in place of a page that failed, and reloads a page whose code was not fetched. */
import { Alert, Button, Stack, Text } from '@mantine/core'
import { Component, type ReactNode, useEffect } from 'react'
import { useLocation } from 'wouter'

/** Errors of missing code: no network, or files replaced by an upgrade. */
const unfetched = new WeakSet<object>()

/** Vite reports each such error before it throws it. */
export function watchUnfetchedCode(): void {
  addEventListener('vite:preloadError', (event) => unfetched.add(event.payload))
}

const isUnfetched = (error: unknown) => error instanceof Error && unfetched.has(error)

interface BoundaryProps {
  /** Address of the page; a new address clears the error. */
  path: string
  children: ReactNode
}

interface State {
  error: unknown
}

class Boundary extends Component<BoundaryProps, State> {
  override state: State = { error: null }

  static getDerivedStateFromError(error: unknown): State {
    return { error }
  }

  override componentDidUpdate(before: BoundaryProps) {
    if (before.path !== this.props.path && this.state.error !== null) this.setState({ error: null })
  }

  override render() {
    const { error } = this.state
    if (error === null) return this.props.children
    return isUnfetched(error) ? <NotFetched /> : <Failed />
  }
}

export function PageBoundary({ children }: { children: ReactNode }) {
  const [path] = useLocation()
  return <Boundary path={path}>{children}</Boundary>
}

interface BrokenProps {
  title: string
  action: string
  children: string
}

const Broken = ({ title, action, children }: BrokenProps) => (
  <Alert color="red" title={title} role="alert" m="md">
    <Stack gap="xs" align="flex-start">
      <Text size="sm">{children}</Text>
      <Button size="xs" variant="default" onClick={() => location.reload()}>
        {action}
      </Button>
    </Stack>
  </Alert>
)

const Failed = () => (
  <Broken title="This page cannot be shown" action="Reload">
    An error occurred on this page. Other pages still work.
  </Broken>
)

const retry_ms = 2000
/** Minimum time between reloads: code that is missing on the server must not cause a loop. */
const reload_ms_min = 30_000
const reloaded_key = 'reloaded-for-code-at'

/** React caches a failed import, so only a reload fetches it again. Drafts survive the reload. */
function NotFetched() {
  useEffect(() => {
    const timer = setInterval(() => void reloadIfServed(), retry_ms)
    void reloadIfServed()
    return () => clearInterval(timer)
  }, [])
  return (
    <Broken title="This page could not be loaded" action="Reload now">
      The server cannot be reached, or has been upgraded. The page reloads as soon as the server
      answers.
    </Broken>
  )
}

async function reloadIfServed(): Promise<void> {
  const reloaded_ms = Number(sessionStorage.getItem(reloaded_key))
  if (Date.now() - reloaded_ms < reload_ms_min) return
  // The server answers page addresses with 404 to clients that do not accept HTML.
  const headers = { accept: 'text/html' }
  const answer = await fetch(location.href, { cache: 'no-store', headers }).catch(() => null)
  if (!answer?.ok) return
  sessionStorage.setItem(reloaded_key, String(Date.now()))
  location.reload()
}
