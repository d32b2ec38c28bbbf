import { Group, Stack, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'

/** A page with its one heading, which is the title of the window, too. */
export function Page({
  title,
  actions,
  children,
}: {
  title: string
  actions?: ReactNode
  children: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} – Heliograph`
  }, [title])
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Title order={1} size="h2">
          {title}
        </Title>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}
