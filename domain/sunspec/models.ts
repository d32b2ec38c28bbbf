/**
 * The SunSpec information models that this project reads or serves, by id. Source: model
 * definitions of the SunSpec Alliance, which a test compares.
 */
import { batteryModels } from './models-battery.ts'
import { combinerModels } from './models-combiner.ts'
import { derModels } from './models-der.ts'
import { inverterModels } from './models-inverter.ts'
import { meterModels } from './models-meter.ts'
import { weatherModels } from './models-weather.ts'
import type { Model } from './point.ts'

const common = {
  1: {
    id: 1,
    points: [
      ['Mn', 2, 'string16'],
      ['Md', 18, 'string16'],
      ['Opt', 34, 'string8'],
      ['Vr', 42, 'string8'],
      ['SN', 50, 'string16'],
      ['DA', 66, 'uint16'],
      ['Pad', 67, 'pad'],
    ],
  },
} as const satisfies Record<number, Model>

export const models = {
  ...common,
  ...inverterModels,
  ...meterModels,
  ...weatherModels,
  ...combinerModels,
  ...derModels,
  ...batteryModels,
} as const

export type ModelId = keyof typeof models

export function isKnownModel(id: number): id is ModelId {
  return Object.hasOwn(models, id)
}
