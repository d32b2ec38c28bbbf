/** Answers of a battery's devices, and who receives them. */
import type { BatteryAnswer, BatteryDevice, PcsAnswer } from './drivers/driver.ts'
import type { PowerControl } from './drivers/power-control.ts'
import type { Stamp } from './plant-clock.ts'
import type { Poll } from './polled-device.ts'

export interface BatteryRead {
  /** Takes our heartbeat by `beat`; another object after each new contact. */
  device: BatteryDevice
  answer: BatteryAnswer
  /** Whether its heartbeat count moved in time; null without one, or before that can be told. */
  heartbeat_ok: boolean | null
  stamp: Stamp
}

export interface PcsRead {
  /** null: its power cannot be set. Another object after each new contact. */
  control: PowerControl | null
  answer: PcsAnswer
  heartbeat_ok: boolean | null
  stamp: Stamp
  poll?: Poll | undefined
}

/** Receives each answer of a battery's devices at once, in the order of the answers. */
export interface BatteryHooks {
  onBattery(bess_id: number, read: BatteryRead): void
  onPcs(bess_id: number, pcs_idx: number, read: PcsRead): void
  /** Communication lost; `pcs_idx` null: with the management system of the battery. */
  onGone(bess_id: number, pcs_idx: number | null): void
}
