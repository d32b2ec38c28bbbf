/** Readings of a met station from its SunSpec models, with averages over its instruments. */
import { plotAverages } from '@heliograph/domain/instruments'
import { emptyReading, type WeatherReading } from '@heliograph/domain/readings'
import type { Instrument, Station } from '@heliograph/domain/site'
import type { Decoded } from '@heliograph/domain/sunspec/codec'
import type { Model } from '@heliograph/domain/sunspec/point'
import {
  type StationPoint,
  stationModels,
  stationPoint,
} from '@heliograph/domain/sunspec/station-points'
import type { Answer, Complaint, Values } from './driver.ts'
import { plausible } from './plausible.ts'
import type { Snapshot } from './sunspec-snapshot.ts'

/** The register of an instrument. @throws for a `point` that no met station has */
export function registerOf({ sensor_id, point }: Instrument): StationPoint {
  const register = stationPoint(point)
  if (register) return register
  throw new Error(`instrument ${sensor_id}: a met station has no point ${point}`)
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
    const odd: Complaint[] = []
    const checked = plausible({ [instrument.quantity]: value }, odd)[instrument.quantity] ?? null
    complaints.push(...odd.map(({ reason }) => ({ point: instrument.point, reason })))
    return checked
  })
  const averages = plotAverages(station.instruments, measured)
  const values = { ...emptyReading('weather'), ...averages, instrument_values: measured }
  return { values, complaints }
}

type Points = Readonly<Record<string, number | null>>

function registersOf(snapshot: Snapshot, id: StationPoint['model_id']): Points[] {
  const decoded = snapshot.all(id) as Decoded<Model>[]
  return decoded.flatMap(({ values, groups }) =>
    groups.length > 0 ? groups : [values],
  ) as Points[]
}
