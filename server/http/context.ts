import type { Clock, Timers } from '@heliograph/domain/clock'
import type { Database } from '../storage/database.ts'

/** What the handler of an endpoint may use besides its request. */
export interface Context {
  db: Database
  clock: Clock
  timers: Timers
}
