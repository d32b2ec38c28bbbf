import { Card, Group, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** A part of a page with its heading, and a link at the right. */
export function Section({
  title,
  aside,
  children,
}: {
  title: string
  aside?: ReactNode
  children: ReactNode
}) {
  return (
    <Card withBorder padding="sm" component="section">
      <Group justify="space-between" mb="xs" gap="xs">
        <Title order={2} size="h4">
          {title}
        </Title>
        {aside}
      </Group>
      {children}
    </Card>
  )
}
