/** A page that cannot be shown says so, in its place, and is loaded again once it can be. */
import { Alert, Button, Stack, Text } from '@mantine/core'
import { Component, type ReactNode, useEffect } from 'react'
import { useLocation } from 'wouter'

/** Errors of code that was not fetched: there is no network, or an upgrade replaced it. */
const unfetched = new WeakSet<object>()

/** Vite reports each such error before it throws it. */
export function watchUnfetchedCode(): void {
  addEventListener('vite:preloadError', (event) => unfetched.add(event.payload))
}

const isUnfetched = (error: unknown) => error instanceof Error && unfetched.has(error)

interface BoundaryProps {
  /** The address of the page: another page is tried anew. */
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

const Failed = () => (
  <Alert color="red" title="This page cannot be shown" role="alert" variant="outline" m="md">
    <Stack gap="xs" align="flex-start">
      <Text size="sm">Something went wrong in it. Other pages work on.</Text>
      <Button size="xs" variant="default" onClick={() => location.reload()}>
        Reload
      </Button>
    </Stack>
  </Alert>
)

const retry_ms = 2000
/** Between two reloads: code that is missing on the server, too, must not reload without end. */
const reload_ms_min = 30_000
const reloaded_key = 'reloaded-for-code-at'

/** React keeps a failed part: only a reload fetches it again. Drafts outlast the reload. */
function NotFetched() {
  useEffect(() => {
    const timer = setInterval(() => void reloadIfServed(), retry_ms)
    void reloadIfServed()
    return () => clearInterval(timer)
  }, [])
  return (
    <Alert color="red" title="This page could not be loaded" role="alert" variant="outline" m="md">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          The server cannot be reached, or was upgraded meanwhile. The page is loaded again by
          itself as soon as the server answers.
        </Text>
        <Button size="xs" variant="default" onClick={() => location.reload()}>
          Reload now
        </Button>
      </Stack>
    </Alert>
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
