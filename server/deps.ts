import { type Clock, systemTimers } from '@heliograph/domain/clock'
import { createBatteryPlanner } from './batteries/planning/planner.ts'
import type { Needs as ScheduleNeeds } from './batteries/schedules/endpoints.ts'
import type { Needs as BessNeeds } from './batteries/units/endpoints.ts'
import { createFleetReads } from './batteries/units/fleet-facts.ts'
import type { Needs as EventNeeds } from './push/endpoints.ts'
import { createEventFeed } from './push/feed.ts'
import { templates } from './reports/catalog.ts'
import type { Needs as ReportNeeds } from './reports/endpoints.ts'
import type { Database } from './storage/database.ts'

/** The context of every handler, with what some hold beyond a request. */
export type Deps = BessNeeds & ScheduleNeeds & ReportNeeds & EventNeeds

export function createDeps(db: Database, clock: Clock, timers = systemTimers): Deps {
  return {
    db,
    clock,
    timers,
    reportCatalog: templates,
    fleetReads: createFleetReads(db, clock),
    batteryPlanner: createBatteryPlanner({ timers }),
    eventFeed: createEventFeed(db),
  }
}
