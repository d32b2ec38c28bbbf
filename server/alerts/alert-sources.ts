/** All alert sources. A new source is registered here. */
import type { AlertSource } from './finding.ts'
import type { AlertCode } from './rules.ts'
import { batteryCodes, findBatteries } from './sources/batteries.ts'
import { communicationCodes, findCommunication } from './sources/communication.ts'
import { controlCodes, findControl } from './sources/control.ts'
import { dataGapCodes, findDataGaps } from './sources/data-gaps.ts'
import { dispatchCodes, findDispatch } from './sources/dispatch.ts'
import { edgeConditionCodes, findEdgeConditions } from './sources/edge-conditions.ts'
import { findInverterAlarms, inverterAlarmCodes } from './sources/inverter-alarms.ts'
import { findMarkets, marketCodes } from './sources/markets.ts'
import { findNodes, nodeCodes } from './sources/nodes.ts'
import { findPerformance, performanceCodes } from './sources/performance.ts'
import { findStrings, stringCodes } from './sources/strings.ts'

export interface ListedSource {
  name: string
  /** Each code belongs to one source. While the source fails, none of these alerts clears. */
  codes: readonly AlertCode[]
  scan: AlertSource
}

export const alertSources: readonly ListedSource[] = [
  { name: 'communication', codes: communicationCodes, scan: findCommunication },
  { name: 'inverter alarms', codes: inverterAlarmCodes, scan: findInverterAlarms },
  { name: 'strings', codes: stringCodes, scan: findStrings },
  { name: 'performance', codes: performanceCodes, scan: findPerformance },
  { name: 'data gaps', codes: dataGapCodes, scan: findDataGaps },
  { name: 'edge conditions', codes: edgeConditionCodes, scan: findEdgeConditions },
  { name: 'control', codes: controlCodes, scan: findControl },
  { name: 'batteries', codes: batteryCodes, scan: findBatteries },
  { name: 'dispatch', codes: dispatchCodes, scan: findDispatch },
  { name: 'nodes', codes: nodeCodes, scan: findNodes },
  { name: 'markets', codes: marketCodes, scan: findMarkets },
]

export { readSuppression } from './suppression.ts'
