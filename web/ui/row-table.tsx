import { Table, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'

/** A table that is scrolled sideways where the screen is narrow, by keyboard, too. */
export function RowTable({
  label,
  min_width = 640,
  head,
  children,
}: {
  /** What it lists, for who does not see it. */
  label: string
  min_width?: number
  head: readonly ReactNode[]
  children: ReactNode
}) {
  return (
    <Table.ScrollContainer
      type="native"
      minWidth={min_width}
      tabIndex={0}
      role="region"
      aria-label={label}
      className="scrolls"
    >
      <Table striped verticalSpacing="xs" className="figure">
        <Table.Thead>
          <Table.Tr>
            {head.map((name, nth) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the heads of a table stay
              <Table.Th key={nth} pos="relative">
                {name || <VisuallyHidden>Actions</VisuallyHidden>}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
