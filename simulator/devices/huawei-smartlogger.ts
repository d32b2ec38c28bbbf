/**
 * A Huawei SmartLogger as plant controller: stores a command at once and passes it on to the
 * inverters a few seconds later.
 */
import type { Logger } from '@heliograph/domain/site'
import { createImage, type RegisterDevice } from './register-device.ts'
import { Refusal } from './unit.ts'

interface SmartLoggerState {
  /** Tenths of a percent, as last written. */
  stored: number
  /** Tenths of a percent, before the last write. */
  before: number
  stored_at_ms: number
  /** 0 none, 4 a master over Modbus; others as in 40737. */
  mode: number
}

interface SmartLoggerNow {
  plant_power_kw: number
}

const remote_control = 4
const full = 1000

/** `delay_ms`: time until the inverters have a stored command, 1 to 5 s in real devices. */
export function huaweiSmartLogger(
  { inverters }: Logger,
  { delay_ms = 2000 }: { delay_ms?: number } = {},
): RegisterDevice<SmartLoggerState, SmartLoggerNow> {
  const rated_w =
    inverters.reduce((sum, { rated_ac_power_kw }) => sum + rated_ac_power_kw, 0) * 1000

  const applied = ({ stored, before, stored_at_ms }: SmartLoggerState, now_ms: number) =>
    now_ms - stored_at_ms >= delay_ms ? stored : before

  return {
    initial: { stored: full, before: full, stored_at_ms: Number.NEGATIVE_INFINITY, mode: 0 },
    registers({ plant_power_kw }, state, now_ms) {
      const { image, holding } = createImage('high_first')
      holding.u16(40_428, state.stored)
      holding.u32(40_525, plant_power_kw * 1000)
      holding.u16(40_699, 1)
      holding.u16(40_737, state.mode)
      holding.u32(40_802, applied(state, now_ms) / 10)
      // Year of its clock; inverters have the gradient of their power here.
      holding.u16(42_017, 2026)
      // An older version: without the alarms of 50002 and on.
      holding.u16(50_000, 0)
      holding.u16(50_001, 0)
      return image
    },
    write(state, { address, values, now_ms }) {
      const [value = 0] = values
      if (address !== 40_428 || values.length !== 1) return new Refusal('illegal data address')
      if (value > full) return new Refusal('illegal data value')
      // The newest master takes over control.
      return {
        stored: value,
        before: applied(state, now_ms),
        stored_at_ms: now_ms,
        mode: remote_control,
      }
    },
    limit_w: (state, now_ms) => {
      const tenths = applied(state, now_ms)
      return tenths === full ? null : (tenths / full) * rated_w
    },
  }
}
