import { csiKtlCt } from './csi-ktl-ct.ts'
import { huaweiSmartLogger } from './huawei-smartlogger.ts'
import { huaweiSun2000 } from './huawei-sun2000.ts'
import { sinexcelPws } from './sinexcel-pws.ts'
import { sofarG3 } from './sofar-g3.ts'
import { solisHybrid } from './solis-hybrid.ts'
import { sunspec701 } from './sunspec-701.ts'
import { sunspecBattery, sunspecString } from './sunspec-battery.ts'
import { sunspecInverter } from './sunspec-inverter.ts'
import type { AlarmTable } from './table.ts'
import { yaskawaSolectriaPviTl } from './yaskawa-solectria-pvi-tl.ts'

/** Every alarm table. A driver names one of them by its `table_id`. */
export const alarmTables: readonly AlarmTable[] = [
  sunspecInverter,
  sunspec701,
  huaweiSun2000,
  huaweiSmartLogger,
  csiKtlCt,
  yaskawaSolectriaPviTl,
  sunspecBattery,
  sunspecString,
  sinexcelPws,
  solisHybrid,
  sofarG3,
]

export function findAlarmTable(table_id: string): AlarmTable | undefined {
  return alarmTables.find((table) => table.table_id === table_id)
}
