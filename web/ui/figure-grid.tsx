import { SimpleGrid } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './figure-grid.module.css'

/** Figures beside each other: two on a phone, so many on a desk. */
export const FigureGrid = ({ cols = 4, children }: { cols?: number; children: ReactNode }) => (
  <SimpleGrid
    className={styles['grid']}
    cols={{ base: 2, md: cols > 4 ? cols / 2 : cols, xl: cols }}
    spacing={{ base: 'xs', sm: 'md' }}
  >
    {children}
  </SimpleGrid>
)
