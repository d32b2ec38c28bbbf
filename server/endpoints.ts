import * as alerts from './alerts/endpoints.ts'
import * as dashboard from './batteries/logs/dashboard.ts'
import * as batteryLogs from './batteries/logs/endpoints.ts'
import * as schedules from './batteries/schedules/endpoints.ts'
import * as units from './batteries/units/endpoints.ts'
import * as curtailment from './control/endpoints.ts'
import * as suggestion from './control/suggest-endpoint.ts'
import type { Deps } from './deps.ts'
import * as earnings from './earnings/endpoints.ts'
import * as forecasts from './forecasts/endpoints.ts'
import type { Endpoint } from './http/endpoint.ts'
import * as markets from './markets/endpoints.ts'
import * as overview from './overview/endpoints.ts'
import * as locations from './overview/locations.ts'
import * as sites from './overview/sites/endpoints.ts'
import * as efficiency from './performance/efficiency/endpoints.ts'
import * as stringEfficiency from './performance/efficiency/string-endpoints.ts'
import * as energy from './performance/energy/endpoints.ts'
import * as iv from './performance/iv/endpoints.ts'
import * as events from './push/endpoints.ts'
import * as reports from './reports/endpoints.ts'
import * as gaps from './telemetry/gaps/endpoints.ts'
import * as inverters from './telemetry/inverters/endpoints.ts'
import * as loggers from './telemetry/loggers/endpoints.ts'
import * as sensors from './telemetry/sensors/endpoints.ts'
import * as strings from './telemetry/strings/endpoints.ts'
import * as weather from './telemetry/weather/endpoints.ts'
import * as defects from './work/defects/endpoints.ts'
import * as notifications from './work/notifications/endpoints.ts'
import * as categories from './work/orders/category-endpoint.ts'
import * as orders from './work/orders/endpoints.ts'

/** Every endpoint of the API, in the order of the specification. */
export const endpoints: readonly Endpoint<Deps>[] = [
  sites.listSites,

  overview.getOverview,
  overview.getPlantStatus,
  energy.plantSummary,
  locations.listLocations,
  locations.getLocation,
  gaps.listGaps,
  gaps.listLoggerGaps,

  loggers.listLoggers,
  loggers.loggerHistory,
  energy.loggerHourlyEnergy,

  inverters.listInverters,
  inverters.getInverter,
  inverters.inverterHistory,
  inverters.listAlarmTable,
  inverters.decodeAlarmWords,

  strings.listStrings,
  strings.listStringsNow,
  strings.stringHistory,
  energy.stringEnergyByHour,

  sensors.listSensors,
  sensors.getSensorNow,
  sensors.sensorHistory,

  weather.listWeather,
  weather.getLoggerWeather,
  weather.loggerWeatherHistory,

  efficiency.rankLoggers,
  efficiency.rankInverters,
  stringEfficiency.rankStrings,
  stringEfficiency.healthMatrix,
  efficiency.analyseLosses,
  stringEfficiency.compareStrings,

  iv.listPanelModels,
  iv.searchPanelModels,
  iv.getPanelModel,
  iv.compareWithExpected,

  energy.energyByHour,

  curtailment.listCurtailment,
  curtailment.curtailmentHistory,
  suggestion.suggestCurtailment,
  sensors.relayHistory,
  curtailment.curtailWindow,
  curtailment.curtailNow,
  curtailment.releaseCurtailment,

  markets.listMarkets,
  markets.marketPrices,
  markets.compareMarkets,

  earnings.earningsSummary,
  earnings.earningsByHour,
  earnings.marketAssignments,
  earnings.crossBorder,

  forecasts.listForecasts,
  forecasts.getLoggerForecast,
  forecasts.listProduction,
  forecasts.listPriceForecasts,
  forecasts.listModels,

  units.listUnits,
  units.getFleetSummary,
  units.getUnit,
  units.getUnitNow,
  units.unitHistory,
  dashboard.getDashboard,
  batteryLogs.listDeviations,
  units.listClusters,
  units.getCluster,
  units.getPcsNow,
  units.pcsHistory,
  batteryLogs.getPcsFaults,
  batteryLogs.listAlarmStates,
  batteryLogs.alarmHistory,
  batteryLogs.countAlarms,
  batteryLogs.dispatchLog,
  batteryLogs.controlLog,
  units.getEnvelope,
  units.listProtection,
  units.getSetup,

  schedules.listSchedules,
  schedules.getSchedule,
  schedules.optimizeUnit,
  schedules.optimizeAll,
  schedules.approveSchedule,
  schedules.rejectSchedule,
  schedules.approveSchedules,
  schedules.reviseScheduleHour,

  alerts.listAlerts,
  alerts.acknowledgeAlert,
  alerts.resolveAlert,

  orders.listWorkOrders,
  orders.getWorkOrder,
  categories.listCategories,
  notifications.listNotifications,
  notifications.countUnread,
  defects.listDefects,
  defects.getDefect,
  orders.createOrder,
  orders.changeOrder,
  orders.changeOrderItem,
  orders.approveOrder,
  notifications.readNotification,
  defects.reportDefect,
  defects.changeOneDefect,

  reports.reportsOverview,
  reports.reportsCatalog,
  reports.listReportRuns,
  reports.getReportFile,
  reports.listReportSubscriptions,
  reports.createReportSubscription,
  reports.changeReportSubscription,
  reports.deleteReportSubscription,
  reports.runReportSubscription,

  events.listEvents,
  overview.getMetrics,
]
