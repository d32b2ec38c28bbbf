import { Alert } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ReactNode } from 'react'

/** A warning that is not an error. */
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
