import { acknowledgeAlert, listAlerts, resolveAlert } from './alerts/endpoints.ts'
import { getDashboard } from './batteries/logs/dashboard-endpoint.ts'
import {
  alarmHistory as batteryAlarmHistory,
  controlLog,
  countAlarms as countBatteryAlarms,
  dispatchLog,
  getPcsFaults,
  listAlarmStates as listBatteryAlarms,
  listDeviations,
} from './batteries/logs/endpoints.ts'
import {
  approveSchedule,
  approveSchedules,
  getSchedule,
  listSchedules,
  optimizeAll,
  optimizeUnit,
  rejectSchedule,
  reviseScheduleHour,
} from './batteries/schedules/endpoints.ts'
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
} from './batteries/units/endpoints.ts'
import {
  curtailmentHistory,
  curtailNow,
  curtailWindow,
  listCurtailment,
  releaseCurtailment,
} from './control/endpoints.ts'
import { suggestCurtailment } from './control/suggest-endpoint.ts'
import type { Deps } from './deps.ts'
import {
  crossBorder,
  earningsByHour,
  earningsSummary,
  marketAssignments,
} from './earnings/endpoints.ts'
import {
  getLoggerForecast,
  listForecasts,
  listModels,
  listPriceForecasts,
  listProduction,
} from './forecasts/endpoints.ts'
import type { Endpoint } from './http/endpoint.ts'
import { compareMarkets, listMarkets, marketPrices } from './markets/endpoints.ts'
import { getOverview, getPlantStatus } from './overview/endpoints.ts'
import { getLocation, listLocations } from './overview/locations.ts'
import { listSites } from './overview/sites/endpoints.ts'
import { analyseLosses, rankInverters, rankLoggers } from './performance/efficiency/endpoints.ts'
import {
  compareStrings,
  healthMatrix,
  rankStrings,
} from './performance/efficiency/string-endpoints.ts'
import {
  energyByHour,
  loggerHourlyEnergy,
  plantSummary,
  stringEnergyByHour,
} from './performance/energy/endpoints.ts'
import {
  compareWithExpected,
  getPanelModel,
  listPanelModels,
  searchPanelModels,
} from './performance/iv/endpoints.ts'
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
} from './reports/endpoints.ts'
import { listGaps, listLoggerGaps } from './telemetry/gaps/endpoints.ts'
import {
  decodeAlarmWords,
  getInverter,
  inverterHistory,
  listAlarmTable,
  listInverters,
} from './telemetry/inverters/endpoints.ts'
import { listLoggers, loggerHistory } from './telemetry/loggers/endpoints.ts'
import {
  getSensorNow,
  listSensors,
  relayHistory,
  sensorHistory,
} from './telemetry/sensors/endpoints.ts'
import { listStrings, listStringsNow, stringHistory } from './telemetry/strings/endpoints.ts'
import {
  getLoggerWeather,
  listWeather,
  loggerWeatherHistory,
} from './telemetry/weather/endpoints.ts'
import { changeOneDefect, getDefect, listDefects, reportDefect } from './work/defects/endpoints.ts'
import { countUnread, listNotifications, readNotification } from './work/notifications/endpoints.ts'
import { listCategories } from './work/orders/category-endpoint.ts'
import {
  approveOrder,
  changeOrder,
  changeOrderItem,
  createOrder,
  getWorkOrder,
  listWorkOrders,
} from './work/orders/endpoints.ts'

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
