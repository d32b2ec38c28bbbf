/**
 * Protection of each cluster by the battery management, at three levels with hysteresis and delay:
 * a pre-alarm warns, level 1 derates, level 2 opens the contactors.
 */
import type { BatterySetup } from '@heliograph/domain/battery'
import type { Derating } from './derating.ts'

/** 0: none, 1: pre-alarm, 2: level 1, 3: level 2. */
export type AlarmLevel = 0 | 1 | 2 | 3

/** Level of each watched parameter, and how long the next level has been due, s. */
export interface AlarmStates {
  levels: AlarmLevel[]
  pending_s: number[]
}

interface Trip {
  trip: number
  recover: number
}

interface Watch {
  parameter: BatterySetup['protection'][number]['parameter']
  /** Trips above or below the value. */
  side: 'above' | 'below'
  delay_s: number
  /** Pre-alarm, level 1, level 2: mV, C or percent of the rated current. */
  lfp: readonly [Trip, Trip, Trip]
  nmc: readonly [Trip, Trip, Trip]
  /** Halved by level 1. */
  derates: 'charge' | 'discharge' | 'both'
  /** Bits of the event words of models 802, 803 and 804: a warning, and an alarm. */
  bits: { warning: number; alarm: number }
}

const at = (trip: number, recover: number): Trip => ({ trip, recover })

/** Values are our choice, in the range of data sheets. */
export const watched = [
  {
    parameter: 'cell_over_voltage',
    derates: 'charge',
    side: 'above',
    delay_s: 2,
    lfp: [at(3600, 3500), at(3650, 3550), at(3700, 3600)],
    nmc: [at(4180, 4140), at(4220, 4160), at(4250, 4180)],
    bits: { warning: 10, alarm: 9 },
  },
  {
    parameter: 'cell_under_voltage',
    derates: 'discharge',
    side: 'below',
    delay_s: 2,
    lfp: [at(2180, 2500), at(2100, 2400), at(2000, 2300)],
    nmc: [at(2880, 3050), at(2800, 3000), at(2700, 2950)],
    bits: { warning: 12, alarm: 11 },
  },
  {
    parameter: 'cell_over_temperature',
    derates: 'both',
    side: 'above',
    delay_s: 2,
    lfp: [at(48, 45), at(55, 50), at(60, 52)],
    nmc: [at(45, 42), at(52, 48), at(58, 50)],
    bits: { warning: 2, alarm: 1 },
  },
  {
    parameter: 'cell_under_temperature',
    derates: 'both',
    side: 'below',
    delay_s: 2,
    lfp: [at(2, 5), at(-10, -5), at(-20, -15)],
    nmc: [at(2, 5), at(-10, -5), at(-20, -15)],
    bits: { warning: 4, alarm: 3 },
  },
  {
    parameter: 'charge_over_current',
    derates: 'charge',
    side: 'above',
    delay_s: 5,
    lfp: [at(110, 105), at(120, 110), at(140, 110)],
    nmc: [at(110, 105), at(120, 110), at(140, 110)],
    bits: { warning: 6, alarm: 5 },
  },
  {
    parameter: 'discharge_over_current',
    derates: 'discharge',
    side: 'above',
    delay_s: 5,
    lfp: [at(110, 105), at(120, 110), at(140, 110)],
    nmc: [at(110, 105), at(120, 110), at(140, 110)],
    bits: { warning: 8, alarm: 7 },
  },
  {
    parameter: 'cell_voltage_difference',
    derates: 'both',
    side: 'above',
    delay_s: 30,
    lfp: [at(300, 200), at(500, 300), at(800, 500)],
    nmc: [at(200, 150), at(350, 250), at(600, 400)],
    bits: { warning: 17, alarm: 25 },
  },
  {
    parameter: 'temperature_difference',
    derates: 'both',
    side: 'above',
    delay_s: 30,
    lfp: [at(10, 8), at(15, 12), at(25, 20)],
    nmc: [at(10, 8), at(15, 12), at(25, 20)],
    bits: { warning: 19, alarm: 18 },
  },
  {
    parameter: 'soc_low',
    derates: 'discharge',
    side: 'below',
    delay_s: 5,
    lfp: [at(4, 6), at(1.5, 3), at(-1, 0)],
    nmc: [at(4, 6), at(1.5, 3), at(-1, 0)],
    bits: { warning: 14, alarm: 13 },
  },
] as const satisfies readonly Watch[]

export const noAlarms = (): AlarmStates => ({
  levels: watched.map(() => 0),
  pending_s: watched.map(() => 0),
})

/** Measurements in the order of `watched`; null if not applicable at present. */
export type Measured = readonly (number | null)[]

/** Raises levels after their delay and lowers recovered ones, in place. */
export function followAlarms(
  alarms: AlarmStates,
  measured: Measured,
  { chemistry, seconds }: { chemistry: 'lfp' | 'nmc'; seconds: number },
): void {
  for (let nth = 0; nth < watched.length; nth += 1) {
    const watch: Watch = watched[nth]!
    const value = measured[nth] ?? null
    if (value === null) continue
    const sign = watch.side === 'above' ? 1 : -1
    const trips = watch[chemistry]
    let level = alarms.levels[nth]!
    while (level > 0 && sign * (value - trips[level - 1]!.recover) < 0) {
      level = (level - 1) as AlarmLevel
    }
    const due = trips.findLastIndex(({ trip }) => sign * (value - trip) > 0) + 1
    const pending_s = due > level ? alarms.pending_s[nth]! + seconds : 0
    const is_over = pending_s >= watch.delay_s
    alarms.levels[nth] = is_over ? (due as AlarmLevel) : level
    alarms.pending_s[nth] = is_over ? 0 : pending_s
  }
}

/** Event word of models 802 to 804: a pre-alarm is a warning, higher levels are an alarm. */
export function eventWord(levels: readonly AlarmLevel[]): number {
  let word = 0
  for (const [nth, { bits }] of watched.entries()) {
    const level = levels[nth] ?? 0
    if (level === 1) word |= 1 << bits.warning
    if (level >= 2) word |= 1 << bits.alarm
  }
  return word >>> 0
}

export const levelOf = (levels: readonly AlarmLevel[]): AlarmLevel =>
  Math.max(0, ...levels) as AlarmLevel

/** Share of the current: half at level 1, none at level 2. */
export function deratingByAlarm(levels: readonly AlarmLevel[]): Derating {
  let charge = 1
  let discharge = 1
  for (const [nth, { derates }] of watched.entries()) {
    const level = levels[nth] ?? 0
    if (level < 2) continue
    const left = level === 3 ? 0 : 0.5
    if (level === 3 || derates !== 'discharge') charge = Math.min(charge, left)
    if (level === 3 || derates !== 'charge') discharge = Math.min(discharge, left)
  }
  return { charge, discharge }
}
