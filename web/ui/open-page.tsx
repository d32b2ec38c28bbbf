import { Alert, Center, Paper, Stack, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'

export function useWindowTitle(title: string) {
  useEffect(() => {
    document.title = `${title} – Heliograph`
  }, [title])
}

interface OpenPageProps {
  heading: string
  /** Of the window; the heading unless given. */
  title?: string
  /** The token of a link, where the page is opened by one; empty when the link was cut off. */
  token?: string
  children: ReactNode
}

/** A page for people who are not signed in: one card in the middle. */
export function OpenPage({ heading, title = heading, token, children }: OpenPageProps) {
  useWindowTitle(title)
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="lg" w={400} maw="100%">
        <Stack>
          <Title order={1} size="h3">
            {heading}
          </Title>
          {token === '' && (
            <Alert color="orange" variant="outline" role="alert">
              This link is incomplete. Open it exactly as it is in the mail.
            </Alert>
          )}
          {children}
        </Stack>
      </Paper>
    </Center>
  )
}
