/** Registers of instruments by their name in site.yaml: `302[0].POAI`. */
import { models } from './models.ts'
import type { Model } from './point.ts'

export const stationModels = [302, 303, 307] as const

/** Model, occurrence or sensor number from 0, point. */
const stationPointForm = '^(\\d+)\\[(\\d+)\\]\\.([A-Za-z]\\w*)$'

export interface StationPoint {
  model_id: (typeof stationModels)[number]
  /** Counts all occurrences of the model and, if its points repeat, all their groups. */
  nth: number
  name: string
}

/** The named point; null if no SunSpec model of a met station has it. */
export function stationPoint(text: string): StationPoint | null {
  const [, id, nth, name = ''] = new RegExp(stationPointForm).exec(text) ?? []
  const model_id = stationModels.find((known) => known === Number(id))
  if (model_id === undefined) return null
  const model: Model = models[model_id]
  const points = model.group?.points ?? model.points
  return points.some(([known]) => known === name) ? { model_id, nth: Number(nth), name } : null
}

/** Names that `stationPoint` accepts: `302: GHI, POAI …` for each model. */
export function stationPointNames(): string {
  const described = stationModels.map((model_id) => {
    const model: Model = models[model_id]
    const names = (model.group?.points ?? model.points).map(([name]) => name)
    return `${model_id} (${names.join(', ')})`
  })
  return described.join(', ')
}
