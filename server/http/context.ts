import type { Clock, Timers } from '@heliograph/domain/clock'
import type { Database } from '../storage/database.ts'

/** Dependencies of handlers. */
export interface Context {
  db: Database
  clock: Clock
  timers: Timers
}
