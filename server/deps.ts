import { type Clock, systemTimers } from '@heliograph/domain/clock'
import { createBatteryPlanner } from './batteries/planning/planner.ts'
import type { Needs as ScheduleNeeds } from './batteries/schedules/endpoints.ts'
import type { Needs as BessNeeds } from './batteries/units/endpoints.ts'
import { createFleetReads } from './batteries/units/fleet-facts.ts'
import type { Needs as CurtailmentSuggestNeeds } from './control/suggest-endpoint.ts'
import type { Needs as PredictionNeeds } from './forecasts/endpoints.ts'
import { createPredictions } from './forecasts/predictions.ts'
import type { Context } from './http/context.ts'
import type { Needs as PlantNeeds } from './overview/endpoints.ts'
import { createCatalog } from './reports/catalog.ts'
import type { Needs as ReportNeeds } from './reports/endpoints.ts'
import type { Database } from './storage/database.ts'

/** Everything the handlers need, built once in main.ts and again in tests. */
export type Deps = Context &
  PlantNeeds &
  CurtailmentSuggestNeeds &
  PredictionNeeds &
  BessNeeds &
  ScheduleNeeds &
  ReportNeeds

export function createDeps(db: Database, clock: Clock, timers = systemTimers): Deps {
  return {
    db,
    clock,
    timers,
    predictions: createPredictions(db, clock),
    reportCatalog: createCatalog(),
    batteryPlanner: createBatteryPlanner({ timers }),
  }
}
