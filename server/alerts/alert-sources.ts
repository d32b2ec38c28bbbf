/** Every source of alerts. A line here is all that a new one needs beside its code. */
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
  /** For the log. */
  name: string
  /** What it finds: while it fails, no alert of these clears. No two sources share a code. */
  codes: readonly AlertCode[]
  look: AlertSource
}

export const alertSources: readonly ListedSource[] = [
  { name: 'communication', codes: communicationCodes, look: findCommunication },
  { name: 'inverter alarms', codes: inverterAlarmCodes, look: findInverterAlarms },
  { name: 'strings', codes: stringCodes, look: findStrings },
  { name: 'performance', codes: performanceCodes, look: findPerformance },
  { name: 'data gaps', codes: dataGapCodes, look: findDataGaps },
  { name: 'edge conditions', codes: edgeConditionCodes, look: findEdgeConditions },
  { name: 'control', codes: controlCodes, look: findControl },
  { name: 'batteries', codes: batteryCodes, look: findBatteries },
  { name: 'dispatch', codes: dispatchCodes, look: findDispatch },
  { name: 'nodes', codes: nodeCodes, look: findNodes },
  { name: 'markets', codes: marketCodes, look: findMarkets },
]

export { readSuppression } from './suppression.ts'
