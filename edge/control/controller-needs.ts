/** What the controller works with. */
import type { Clock, Stopwatch, Timers } from '@heliograph/domain/clock'
import type { RowReport } from '@heliograph/domain/curtailment'
import type { LinkEvent } from '@heliograph/domain/link'
import type { Dispatcher } from '../battery/dispatcher.ts'
import type { Conditions, Source } from '../conditions.ts'
import type { ServerTime } from '../plant-clock.ts'
import type { ControlLog } from './control-entry.ts'
import type { ControlStore } from './control-store.ts'
import type { Permit } from './permit-terms.ts'

export interface ControllerNeeds {
  clock: Clock
  stopwatch: Stopwatch
  timers: Timers
  store: ControlStore
  /** null: none was ever accepted. */
  permit(): Permit | null
  log: ControlLog
  /** By the server, whose clock rows are made by; null: never told since the start. */
  serverNow?(): ServerTime | null
  onEvent(event: LinkEvent | null): void
  conditions: Conditions
  /** The edge itself, as a source of events. */
  source: Source
  onReport(reports: RowReport[]): void
  /** What goes wrong beside the devices: the disk, the control log, the decision itself. */
  onFault?(error: Error): void
  /** Of a site without batteries as well. */
  batteries: Dispatcher
}
