/** Parameters and fields of bodies that are an instant. */
export const timestampNames: readonly string[] = [
  'detected_at',
  'due_at',
  'end',
  'end_at',
  'scheduled_end_at',
  'scheduled_start_at',
  'since',
  'start',
  'start_at',
]

/** Operations that answer as CSV and as newline-delimited JSON, too. */
export type ExportOperation =
  | 'bessAlarmsHistoryList'
  | 'bessControlLogList'
  | 'bessDispatchLogList'
  | 'bessHistoryList'
  | 'bessPcsHistoryList'
  | 'commandsRelayHistoryList'
  | 'curtailmentHistoryList'
  | 'earningsCrossBorderPricesList'
  | 'earningsHourlyList'
  | 'energyHourlyList'
  | 'gapsList'
  | 'gapsLoggerList'
  | 'invertersHistoryList'
  | 'ivExpectedList'
  | 'loggersHistoryList'
  | 'loggersHourlyEnergyList'
  | 'predictionsPricesList'
  | 'predictionsProductionList'
  | 'sensorsHistoryList'
  | 'stringsHistoryList'
  | 'stringsHourlyList'
  | 'weatherHistoryList'
