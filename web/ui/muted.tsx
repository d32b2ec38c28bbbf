import { Text, type TextProps } from '@mantine/core'
import type { ReactNode } from 'react'

/** Small text that adds to what stands beside it. */
export const Muted = (props: TextProps & { children: ReactNode }) => (
  <Text size="sm" c="dimmed" {...props} />
)
