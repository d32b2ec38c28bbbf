import type { Deps } from './deps.ts'
import { acknowledgeAlert, listAlerts, resolveAlert } from './features/alerts/endpoints.ts'
import {
  getCluster,
  getEnvelope,
  getFleetSummary,
  getPcsNow,
  getSetup,
  getUnit,
  getUnitNow,
  listClusters,
  listProtection,
  listUnits,
  pcsHistory,
  unitHistory,
} from './features/bess/endpoints.ts'
import { getDashboard } from './features/bess-logs/dashboard-endpoint.ts'
import {
  alarmHistory as batteryAlarmHistory,
  controlLog,
  countAlarms as countBatteryAlarms,
  dispatchLog,
  getPcsFaults,
  listAlarmStates as listBatteryAlarms,
  listDeviations,
} from './features/bess-logs/endpoints.ts'
import {
  approveSchedule,
  approveSchedules,
  getSchedule,
  listSchedules,
  optimizeAll,
  optimizeUnit,
  rejectSchedule,
  reviseScheduleHour,
} from './features/bess-schedules/endpoints.ts'
import {
  curtailmentHistory,
  curtailNow,
  curtailWindow,
  listCurtailment,
  releaseCurtailment,
} from './features/curtailment/endpoints.ts'
import { suggestCurtailment } from './features/curtailment/suggest-endpoint.ts'
import {
  changeOneDefect,
  getDefect,
  listDefects,
  reportDefect,
} from './features/defects/endpoints.ts'
import {
  crossBorder,
  earningsByHour,
  earningsSummary,
  marketAssignments,
} from './features/earnings/endpoints.ts'
import { analyseLosses, rankInverters, rankLoggers } from './features/efficiency/endpoints.ts'
import {
  compareStrings,
  healthMatrix,
  rankStrings,
} from './features/efficiency/string-endpoints.ts'
import {
  energyByHour,
  loggerHourlyEnergy,
  plantSummary,
  stringEnergyByHour,
} from './features/energy/endpoints.ts'
import { listGaps, listLoggerGaps } from './features/gaps/endpoints.ts'
import {
  decodeAlarmWords,
  getInverter,
  inverterHistory,
  listAlarmTable,
  listInverters,
} from './features/inverters/endpoints.ts'
import {
  compareWithExpected,
  getPanelModel,
  listPanelModels,
  searchPanelModels,
} from './features/iv/endpoints.ts'
import { listLoggers, loggerHistory } from './features/loggers/endpoints.ts'
import { compareMarkets, listMarkets, marketPrices } from './features/markets/endpoints.ts'
import {
  countUnread,
  listNotifications,
  readNotification,
} from './features/notifications/endpoints.ts'
import {
  getLocation,
  getOverview,
  getPlantStatus,
  listLocations,
} from './features/plant/endpoints.ts'
import {
  getLoggerForecast,
  listForecasts,
  listModels,
  listPriceForecasts,
  listProduction,
} from './features/predictions/endpoints.ts'
import {
  changeReportSubscription,
  createReportSubscription,
  deleteReportSubscription,
  getReportFile,
  listReportRuns,
  listReportSubscriptions,
  reportsCatalog,
  reportsOverview,
  runReportSubscription,
} from './features/reports/endpoints.ts'
import {
  getSensorNow,
  listSensors,
  relayHistory,
  sensorHistory,
} from './features/sensors/endpoints.ts'
import { listSites } from './features/sites/endpoints.ts'
import { listStrings, listStringsNow, stringHistory } from './features/strings/endpoints.ts'
import {
  getLoggerWeather,
  listWeather,
  loggerWeatherHistory,
} from './features/weather/endpoints.ts'
import { listCategories } from './features/work-orders/category-endpoint.ts'
import {
  approveOrder,
  changeOrder,
  changeOrderItem,
  createOrder,
  getWorkOrder,
  listWorkOrders,
} from './features/work-orders/endpoints.ts'
import type { Endpoint } from './http/endpoint.ts'

/** Every endpoint of the API, in the order of the specification. */
export const endpoints: readonly Endpoint<Deps>[] = [
  listSites,

  getOverview,
  getPlantStatus,
  plantSummary,
  listLocations,
  getLocation,
  listGaps,
  listLoggerGaps,

  listLoggers,
  loggerHistory,
  loggerHourlyEnergy,

  listInverters,
  getInverter,
  inverterHistory,
  listAlarmTable,
  decodeAlarmWords,

  listStrings,
  listStringsNow,
  stringHistory,
  stringEnergyByHour,

  listSensors,
  getSensorNow,
  sensorHistory,

  listWeather,
  getLoggerWeather,
  loggerWeatherHistory,

  rankLoggers,
  rankInverters,
  rankStrings,
  healthMatrix,
  analyseLosses,
  compareStrings,

  listPanelModels,
  searchPanelModels,
  getPanelModel,
  compareWithExpected,

  energyByHour,

  listCurtailment,
  curtailmentHistory,
  suggestCurtailment,
  relayHistory,
  curtailWindow,
  curtailNow,
  releaseCurtailment,

  listMarkets,
  marketPrices,
  compareMarkets,

  earningsSummary,
  earningsByHour,
  marketAssignments,
  crossBorder,

  listForecasts,
  getLoggerForecast,
  listProduction,
  listPriceForecasts,
  listModels,

  listUnits,
  getFleetSummary,
  getUnit,
  getUnitNow,
  unitHistory,
  getDashboard,
  listDeviations,
  listClusters,
  getCluster,
  getPcsNow,
  pcsHistory,
  getPcsFaults,
  listBatteryAlarms,
  batteryAlarmHistory,
  countBatteryAlarms,
  dispatchLog,
  controlLog,
  getEnvelope,
  listProtection,
  getSetup,

  listSchedules,
  getSchedule,
  optimizeUnit,
  optimizeAll,
  approveSchedule,
  rejectSchedule,
  approveSchedules,
  reviseScheduleHour,

  listAlerts,
  acknowledgeAlert,
  resolveAlert,

  listWorkOrders,
  getWorkOrder,
  listCategories,
  listNotifications,
  countUnread,
  listDefects,
  getDefect,
  createOrder,
  changeOrder,
  changeOrderItem,
  approveOrder,
  readNotification,
  reportDefect,
  changeOneDefect,

  reportsOverview,
  reportsCatalog,
  listReportRuns,
  getReportFile,
  listReportSubscriptions,
  createReportSubscription,
  changeReportSubscription,
  deleteReportSubscription,
  runReportSubscription,
]
