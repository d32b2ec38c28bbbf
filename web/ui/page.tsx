import { Group, Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useWindowTitle } from './open-page.tsx'

/** A page with its heading, which is also the title of the window. */
export function Page({
  title,
  actions,
  children,
}: {
  title: string
  actions?: ReactNode
  children: ReactNode
}) {
  useWindowTitle(title)
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
