/** Readings of a met station out of its SunSpec models, and their averages over its instruments. */
import { plotAverages } from '@heliograph/domain/instruments'
import { emptyReading, type WeatherReading } from '@heliograph/domain/readings'
import type { Instrument, Station } from '@heliograph/domain/site'
import type { Decoded } from '@heliograph/domain/sunspec/codec'
import { models } from '@heliograph/domain/sunspec/models'
import type { Model } from '@heliograph/domain/sunspec/point'
import type { Answer, Values } from './driver.ts'
import { plausible } from './plausible.ts'
import type { Snapshot } from './sunspec-snapshot.ts'

export const stationModels = [302, 303, 307] as const
type StationModel = (typeof stationModels)[number]

interface Register {
  model_id: StationModel
  /** Counted over all occurrences of the model and, where its points repeat, all their groups. */
  nth: number
  name: string
}

/** Where an instrument is read. Throws when `point` names nothing that a met station has. */
export function registerOf({ sensor_id, point }: Instrument): Register {
  const [, id, nth, name = ''] = /^(\d+)\[(\d+)\]\.(\w+)$/.exec(point) ?? []
  const model_id = stationModels.find((known) => known === Number(id))
  const model: Model | undefined = model_id && models[model_id]
  const names = (model?.group?.points ?? model?.points ?? []).map(([known]) => known)
  if (!model_id || !names.includes(name)) {
    throw new Error(`instrument ${sensor_id}: a met station has no point ${point}`)
  }
  return { model_id, nth: Number(nth), name }
}

export function stationAnswer(
  snapshot: Snapshot,
  station: Station,
): Answer<Values<WeatherReading>> {
  const { complaints } = snapshot
  const registers = new Map(stationModels.map((id) => [id, registersOf(snapshot, id)]))
  const measured = station.instruments.map((instrument) => {
    const { model_id, nth, name } = registerOf(instrument)
    const found = registers.get(model_id)?.[nth]
    if (!found)
      complaints.push({ point: instrument.point, reason: 'the station has no such sensor' })
    const value = found?.[name] ?? null
    return plausible({ [instrument.quantity]: value }, complaints)[instrument.quantity] ?? null
  })
  const averages = plotAverages(station.instruments, measured)
  const values = { ...emptyReading('weather'), ...averages, instrument_values: measured }
  return { values, complaints }
}

type Points = Readonly<Record<string, number | null>>

function registersOf(snapshot: Snapshot, id: StationModel): Points[] {
  const decoded = snapshot.all(id) as Decoded<Model>[]
  return decoded.flatMap(({ values, groups }) =>
    groups.length > 0 ? groups : [values],
  ) as Points[]
}
