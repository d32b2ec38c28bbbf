import { type Clock, systemTimers } from '@heliograph/domain/clock'
import type { Needs as AlertNeeds } from './alerts/endpoints.ts'
import { createAlertStore } from './alerts/listed.ts'
import type { Needs as BatteryDashboardNeeds } from './batteries/logs/dashboard-endpoint.ts'
import type { Needs as BatteryLogNeeds } from './batteries/logs/endpoints.ts'
import { createBatteryLogStore } from './batteries/logs/store.ts'
import { createBatteryPlanner } from './batteries/planning/planner.ts'
import type { Needs as ScheduleNeeds } from './batteries/schedules/endpoints.ts'
import { createScheduleStore } from './batteries/schedules/store.ts'
import type { Needs as BessNeeds } from './batteries/units/endpoints.ts'
import { createBessStore } from './batteries/units/store.ts'
import type { Needs as CurtailmentNeeds } from './control/endpoints.ts'
import { createCurtailmentStore } from './control/store.ts'
import type { Needs as CurtailmentSuggestNeeds } from './control/suggest-endpoint.ts'
import { createSuggestStore } from './control/suggest-store.ts'
import type { Needs as EarningsNeeds } from './earnings/endpoints.ts'
import { createEarningsStore } from './earnings/store.ts'
import type { Needs as PredictionNeeds } from './forecasts/endpoints.ts'
import { createPredictions } from './forecasts/predictions.ts'
import type { Context } from './http/context.ts'
import { createPriceStore } from './markets/price-store.ts'
import type { Needs as PlantNeeds } from './overview/endpoints.ts'
import type { Needs as EfficiencyNeeds } from './performance/efficiency/endpoints.ts'
import { createEfficiencyStore } from './performance/efficiency/inverter-sums.ts'
import type { Needs as StringHealthNeeds } from './performance/efficiency/string-endpoints.ts'
import { createStringSumsStore } from './performance/efficiency/string-store.ts'
import type { Needs as EnergyNeeds } from './performance/energy/endpoints.ts'
import { createEnergyStore } from './performance/energy/logger-hours.ts'
import type { Needs as IvNeeds } from './performance/iv/endpoints.ts'
import { createIvStore } from './performance/iv/store.ts'
import { createPanelStore } from './performance/panels/store.ts'
import { inverterExists, loggerExists } from './plant/device-ids.ts'
import { siteFacts } from './plant/site-facts.ts'
import { createCatalog } from './reports/catalog.ts'
import type { Needs as ReportNeeds } from './reports/endpoints.ts'
import { createReportStore } from './reports/store.ts'
import type { Database } from './storage/database.ts'
import { stringConfiguration } from './telemetry/strings/store.ts'
import type { Needs as DefectNeeds } from './work/defects/endpoints.ts'
import { createDefectStore } from './work/defects/store.ts'
import type { Needs as NotificationNeeds } from './work/notifications/endpoints.ts'
import { createNotificationStore } from './work/notifications/store.ts'
import type { Needs as WorkOrderNeeds } from './work/orders/endpoints.ts'
import { createWorkOrderStore } from './work/orders/store.ts'

/** Everything the handlers need, built once in main.ts and again in tests. */
export type Deps = Context &
  PlantNeeds &
  EfficiencyNeeds &
  StringHealthNeeds &
  EnergyNeeds &
  IvNeeds &
  CurtailmentNeeds &
  CurtailmentSuggestNeeds &
  EarningsNeeds &
  PredictionNeeds &
  BessNeeds &
  BatteryLogNeeds &
  BatteryDashboardNeeds &
  ScheduleNeeds &
  WorkOrderNeeds &
  NotificationNeeds &
  DefectNeeds &
  ReportNeeds &
  AlertNeeds

export function createDeps(db: Database, clock: Clock, timers = systemTimers): Deps {
  const sites = { facts: (site_id: string) => siteFacts(db, site_id) }
  const alerts = createAlertStore(db)
  return {
    db,
    clock,
    timers,
    sites,
    loggers: { exists: (site_id, logger_id) => loggerExists(db, site_id, logger_id) },
    inverters: { exists: (site_id, inverter_id) => inverterExists(db, site_id, inverter_id) },
    strings: { configuration: (...of) => stringConfiguration(db, ...of) },
    efficiency: createEfficiencyStore(db),
    stringSums: createStringSumsStore(db),
    energy: createEnergyStore(db),
    iv: createIvStore(db),
    panels: createPanelStore(db),
    curtailment: createCurtailmentStore(db, { clock, timers }),
    curtailmentSuggest: createSuggestStore(db),
    predictions: createPredictions(db, clock),
    prices: createPriceStore(db),
    earnings: createEarningsStore(db),
    bess: createBessStore(db, { clock, sites }),
    reports: createReportStore(db),
    reportCatalog: createCatalog(),
    batteryLogs: createBatteryLogStore(db),
    batterySchedules: createScheduleStore(db),
    workOrders: createWorkOrderStore(db),
    notifications: createNotificationStore(db),
    defects: createDefectStore(db),
    alerts,
    batteryPlanner: createBatteryPlanner({ timers }),
  }
}
