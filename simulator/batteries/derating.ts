/**
 * Derating by the battery management: near full and empty, hot and cold, and on an alarm. The
 * corners are our choice, in the range of data sheets of lithium-ion racks.
 */
import { between } from '@heliograph/physics/cell-curves'

export interface Derating {
  charge: number
  discharge: number
}

/** A twentieth remains at the ends, so that they are reached; `isFull` and `isEmpty` stop it. */
const by_soc = {
  charge: [
    [0.92, 1],
    [1, 0.05],
  ],
  discharge: [
    [0, 0.05],
    [0.08, 1],
  ],
} as const

/** Charging in frost would plate lithium on graphite. */
const by_temperature = {
  charge: [
    [0, 0],
    [15, 1],
    [45, 1],
    [55, 0],
  ],
  discharge: [
    [-20, 0],
    [0, 1],
    [48, 1],
    [60, 0],
  ],
} as const

/** Share of the rated current, 0 to 1, at a state of charge (0 to 1). */
export const deratingBySoc = (soc: number): Derating => ({
  charge: between(by_soc.charge, soc),
  discharge: between(by_soc.discharge, soc),
})

/** Share of the rated current by the coldest and the hottest cell. */
export function deratingByTemperature(min_c: number, max_c: number): Derating {
  const { charge, discharge } = by_temperature
  return {
    charge: Math.min(between(charge, min_c), between(charge, max_c)),
    discharge: Math.min(between(discharge, min_c), between(discharge, max_c)),
  }
}

const again_soc = 0.01

export const isFull = (soc: number, was_full: boolean): boolean =>
  soc >= (was_full ? 1 - again_soc : 1 - 1e-4)

export const isEmpty = (soc: number, was_empty: boolean): boolean =>
  soc <= (was_empty ? again_soc : 1e-4)
