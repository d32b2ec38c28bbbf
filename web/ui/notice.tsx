import { Alert } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ReactNode } from 'react'

/** Something to know before going on; no failure. */
export function Notice({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <Alert
      variant="default"
      role="status"
      title={title}
      icon={<IconAlertTriangle color="var(--mantine-color-orange-6)" aria-hidden />}
    >
      {children}
    </Alert>
  )
}
