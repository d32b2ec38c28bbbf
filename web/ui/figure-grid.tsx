import { SimpleGrid } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './figure-grid.module.css'

/** Metrics beside each other: two columns on a phone, up to `cols` on a wide screen. */
export const FigureGrid = ({ cols = 4, children }: { cols?: number; children: ReactNode }) => (
  <SimpleGrid
    className={styles['grid']}
    type="container"
    cols={{ base: 2, '700px': cols > 4 ? cols / 2 : cols, '1320px': cols }}
    spacing={{ base: 'xs', '600px': 'md' }}
  >
    {children}
  </SimpleGrid>
)
