import { type Clock, systemTimers } from '@heliograph/domain/clock'
import { createAlertStore } from './alerts/listed.ts'
import { createBatteryPlanner } from './batteries/planning/planner.ts'
import type { Needs as AlertNeeds } from './features/alerts/endpoints.ts'
import type { Needs as BessNeeds } from './features/bess/endpoints.ts'
import { createBessStore } from './features/bess/store.ts'
import type { Needs as BatteryDashboardNeeds } from './features/bess-logs/dashboard-endpoint.ts'
import type { Needs as BatteryLogNeeds } from './features/bess-logs/endpoints.ts'
import { createBatteryLogStore } from './features/bess-logs/store.ts'
import type { Needs as ScheduleNeeds } from './features/bess-schedules/endpoints.ts'
import { createScheduleStore } from './features/bess-schedules/store.ts'
import type { Needs as CurtailmentNeeds } from './features/curtailment/endpoints.ts'
import { createCurtailmentStore } from './features/curtailment/store.ts'
import type { Needs as CurtailmentSuggestNeeds } from './features/curtailment/suggest-endpoint.ts'
import { createSuggestStore } from './features/curtailment/suggest-store.ts'
import type { Needs as DefectNeeds } from './features/defects/endpoints.ts'
import { createDefectStore } from './features/defects/store.ts'
import type { Needs as EarningsNeeds } from './features/earnings/endpoints.ts'
import type { Needs as EfficiencyNeeds } from './features/efficiency/endpoints.ts'
import type { Needs as StringHealthNeeds } from './features/efficiency/string-endpoints.ts'
import type { Needs as EnergyNeeds } from './features/energy/endpoints.ts'
import type { Needs as GapNeeds } from './features/gaps/endpoints.ts'
import { createGapStore } from './features/gaps/store.ts'
import type { Needs as InverterNeeds } from './features/inverters/endpoints.ts'
import { createInverterStore } from './features/inverters/store.ts'
import type { Needs as IvNeeds } from './features/iv/endpoints.ts'
import { createIvStore } from './features/iv/store.ts'
import type { Needs as LoggerNeeds } from './features/loggers/endpoints.ts'
import { createLoggerStore } from './features/loggers/store.ts'
import type { Needs as MarketNeeds } from './features/markets/endpoints.ts'
import { createMarketStore } from './features/markets/store.ts'
import type { Needs as NotificationNeeds } from './features/notifications/endpoints.ts'
import { createNotificationStore } from './features/notifications/store.ts'
import type { Needs as PlantNeeds } from './features/plant/endpoints.ts'
import { createPlantEnergy } from './features/plant/energy.ts'
import { createPlantStore } from './features/plant/store.ts'
import type { Needs as PredictionNeeds } from './features/predictions/endpoints.ts'
import type { Needs as ReportNeeds } from './features/reports/endpoints.ts'
import { createReportStore } from './features/reports/store.ts'
import type { Needs as SensorNeeds } from './features/sensors/endpoints.ts'
import { createSensorStore } from './features/sensors/store.ts'
import type { Needs as SiteNeeds } from './features/sites/endpoints.ts'
import { createSiteStore } from './features/sites/store.ts'
import { createSiteSummaries } from './features/sites/summaries.ts'
import type { Needs as StringNeeds } from './features/strings/endpoints.ts'
import { createStringStore } from './features/strings/store.ts'
import type { Needs as WeatherNeeds } from './features/weather/endpoints.ts'
import { createWeatherStore } from './features/weather/store.ts'
import type { Needs as WorkOrderNeeds } from './features/work-orders/endpoints.ts'
import { createWorkOrderStore } from './features/work-orders/store.ts'
import { createEarningsStore } from './figures/earnings/store.ts'
import { createEfficiencyStore } from './figures/inverter-sums.ts'
import { createEnergyStore } from './figures/logger-hours.ts'
import { createStringSumsStore } from './figures/string-store.ts'
import { createPanelStore } from './panels/store.ts'
import { createPredictions } from './predictions/predictions.ts'
import { createPriceStore } from './prices/store.ts'
import { createCatalog } from './reports/catalog.ts'
import type { Database } from './storage/database.ts'

/** Everything the handlers need, built once in main.ts and again in tests. */
export type Deps = SiteNeeds &
  PlantNeeds &
  GapNeeds &
  LoggerNeeds &
  InverterNeeds &
  StringNeeds &
  SensorNeeds &
  WeatherNeeds &
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
  AlertNeeds &
  MarketNeeds

export function createDeps(db: Database, clock: Clock, timers = systemTimers): Deps {
  const sites = createSiteStore(db)
  const plants = createPlantStore(db)
  const alerts = createAlertStore(db)
  return {
    clock,
    sites,
    siteSummaries: createSiteSummaries({ sites, alerts }, clock),
    plants,
    plantEnergy: createPlantEnergy({ sites, plants }, clock),
    gaps: createGapStore(db),
    loggers: createLoggerStore(db),
    inverters: createInverterStore(db),
    strings: createStringStore(db),
    sensors: createSensorStore(db),
    weather: createWeatherStore(db),
    efficiency: createEfficiencyStore(db),
    stringSums: createStringSumsStore(db),
    energy: createEnergyStore(db),
    iv: createIvStore(db),
    panels: createPanelStore(db),
    curtailment: createCurtailmentStore(db, { clock, timers }),
    curtailmentSuggest: createSuggestStore(db),
    predictions: createPredictions(db, clock),
    markets: createMarketStore(db),
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
