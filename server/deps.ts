import type { Clock } from '@heliograph/domain/clock'
import type { Needs as InverterNeeds } from './features/inverters/endpoints.ts'
import { createInverterStore } from './features/inverters/store.ts'
import type { Needs as LoggerNeeds } from './features/loggers/endpoints.ts'
import { createLoggerStore } from './features/loggers/store.ts'
import type { Needs as PlantNeeds } from './features/plant/endpoints.ts'
import { createPlantStore } from './features/plant/store.ts'
import type { Needs as SiteNeeds } from './features/sites/endpoints.ts'
import { createSiteStore } from './features/sites/store.ts'
import { createSiteSummaries } from './features/sites/summaries.ts'
import type { Needs as StringNeeds } from './features/strings/endpoints.ts'
import { createStringStore } from './features/strings/store.ts'
import type { Database } from './storage/database.ts'

/** Everything the handlers need, built once in main.ts and again in tests. */
export type Deps = SiteNeeds & PlantNeeds & LoggerNeeds & InverterNeeds & StringNeeds

export function createDeps(db: Database, clock: Clock): Deps {
  const sites = createSiteStore(db)
  return {
    clock,
    sites,
    siteSummaries: createSiteSummaries(sites, clock),
    plants: createPlantStore(db),
    loggers: createLoggerStore(db),
    inverters: createInverterStore(db),
    strings: createStringStore(db),
  }
}
