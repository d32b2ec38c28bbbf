/** What is polled: a device, how often, and what becomes of its answers. */
import type { DeviceKind, LinkEvent } from '@heliograph/domain/link'
import type { InverterReading, WeatherReading } from '@heliograph/domain/readings'
import type { PollIntervals } from '@heliograph/domain/site'
import type { BatteryHooks } from './battery-reads.ts'
import type { Conditions } from './conditions.ts'
import type { Controller } from './control/controller.ts'
import type { Bus, Device, Driver } from './drivers/driver.ts'
import type { Stamp } from './plant-clock.ts'
import type { Poll } from './polled-device.ts'
import type { Recorder } from './recorder.ts'

export interface Plan<Of> {
  kind: DeviceKind
  id: string
  interval_ms: number
  connection_id: string
  /** A device with another description is another device. */
  description: unknown
  /** Further ids of its kind that it tells of. */
  tells_of?: readonly string[]
  open(bus: Bus): Promise<Device<Of>>
  /** Records what was read, and gives the events that follow from it. */
  onRead(values: Of, stamp: Stamp, poll?: Poll): readonly LinkEvent[]
  onGone?(): void
}

/** The newest reading of each device that is not known to be gone. */
export interface Newest {
  inverters: Map<number, InverterReading>
  stations: Map<number, WeatherReading>
}

export type PollControl = Pick<Controller, 'onRead' | 'onGone' | 'onMeter' | 'limitedBy'>

export interface PlanNeeds {
  driverOf(name: string): Driver
  recorder: Pick<Recorder, 'reading' | 'tell'>
  conditions: Conditions
  newest: Newest
  control?: PollControl
  /** What goes by the batteries; without it they are only read. */
  batteries?: BatteryHooks
  intervals: Required<PollIntervals>
}

/** Checks a plan's types, then forgets them, so that every device fits one list. */
export function plan<Of>(definition: Plan<Of>): Plan<unknown> {
  return definition as unknown as Plan<unknown>
}

type Opener = Extract<keyof Driver, `open${string}`>

/** @throws Error where the driver has no such devices */
export function having<Name extends Opener>(
  driver: Driver,
  name: Name,
  called: string,
): NonNullable<Driver[Name]> {
  const open = driver[name]
  if (!open) throw new Error(`the driver ${called} reads no ${name.slice('open'.length)}`)
  return open
}
