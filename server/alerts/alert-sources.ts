/** All alert sources. A new source is registered here. */
import type { AlertSource } from './finding.ts'
import type { AlertCode } from './rules.ts'
import { findBatteries } from './sources/batteries.ts'
import { findCommunication } from './sources/communication.ts'
import { findControl } from './sources/control.ts'
import { findDataGaps } from './sources/data-gaps.ts'
import { findDispatch } from './sources/dispatch.ts'
import { findEdgeConditions } from './sources/edge-conditions.ts'
import { alertsOfEvents } from './sources/event-alerts.ts'
import { findInverterAlarms } from './sources/inverter-alarms.ts'
import { findMarkets } from './sources/markets.ts'
import { findNodes } from './sources/nodes.ts'
import { findPerformance } from './sources/performance.ts'
import { findStrings } from './sources/strings.ts'

export interface ListedSource {
  name: string
  /** Each code belongs to one source. While the source fails, none of these alerts clears. */
  codes: readonly AlertCode[]
  scan: AlertSource
}

export const alertSources: readonly ListedSource[] = [
  {
    name: 'communication',
    codes: ['edge_offline', 'logger_offline', 'inverter_offline', 'device_offline'],
    scan: findCommunication,
  },
  {
    name: 'inverter alarms',
    codes: ['inverter_fault', 'inverter_alarm'],
    scan: findInverterAlarms,
  },
  { name: 'strings', codes: ['string_zero_current', 'string_underperformance'], scan: findStrings },
  {
    name: 'performance',
    codes: ['inverter_underperformance', 'logger_underperformance'],
    scan: findPerformance,
  },
  { name: 'data gaps', codes: ['data_gap'], scan: findDataGaps },
  {
    name: 'edge conditions',
    codes: [...alertsOfEvents, 'device_exchanged'],
    scan: findEdgeConditions,
  },
  {
    name: 'control',
    codes: [
      'curtailment_not_applied',
      'curtailment_not_verified',
      'curtailment_not_released',
      'permit_clamp',
    ],
    scan: findControl,
  },
  {
    name: 'batteries',
    codes: [
      'bess_offline',
      'battery_alarm',
      'battery_fire',
      'heartbeat_lost',
      'battery_stale',
      'soc_low',
    ],
    scan: findBatteries,
  },
  { name: 'dispatch', codes: ['dispatch_deviation'], scan: findDispatch },
  {
    name: 'nodes',
    codes: ['temperature_high', 'fan_failure', 'door_open', 'node_offline'],
    scan: findNodes,
  },
  { name: 'markets', codes: ['price_negative', 'prices_missing'], scan: findMarkets },
]

export { readSuppression } from './suppression.ts'
