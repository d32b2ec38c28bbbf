import type { Driver, DriverName } from './driver.ts'
import { controllerDriver } from './plant-controller.ts'
import { huaweiSmartLogger } from './profiles/huawei-smartlogger.ts'
import { huaweiSun2000 } from './profiles/huawei-sun2000.ts'
import { sinexcelPws } from './profiles/sinexcel-pws.ts'
import { sma } from './profiles/sma.ts'
import { sungrowSg } from './profiles/sungrow-sg.ts'
import { registerDriver } from './register-driver.ts'
import { pcsDriver } from './register-pcs.ts'
import { sunspec } from './sunspec.ts'

export const drivers: Readonly<Record<DriverName, Driver>> = {
  sunspec,
  huawei_sun2000: registerDriver(huaweiSun2000),
  sungrow_sg: registerDriver(sungrowSg),
  sma: registerDriver(sma),
  huawei_smartlogger: controllerDriver(huaweiSmartLogger),
  sinexcel_pws: pcsDriver(sinexcelPws),
}
