/** A mistake that somebody could make, and where. */
import type { EdgeName } from './episode.ts'

export interface Mutation {
  name: string
  /** Which edge is simulated with it; without one, the core in its thin loop. */
  edge?: EdgeName | 'batteries' | 'none'
  file: string
  /** Occurs once in the file. */
  from: string
  to: string
}

/** The folder that most of them are in. */
export const core = 'edge/control'
