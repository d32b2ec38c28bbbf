import { Table } from '@mantine/core'
import type { ReactNode } from 'react'

/** A table that is scrolled sideways where the screen is narrow, by keyboard, too. */
export function WideTable({
  label,
  width = 640,
  children,
}: {
  /** What it lists, for who does not see it. */
  label: string
  /** Below this many pixels it scrolls. */
  width?: number
  children: ReactNode
}) {
  return (
    <Table.ScrollContainer
      type="native"
      minWidth={width}
      tabIndex={0}
      role="region"
      aria-label={label}
      className="scrolls"
    >
      <Table verticalSpacing="xs" className="figure">
        {children}
      </Table>
    </Table.ScrollContainer>
  )
}
