/** Compares the measured points of one string with the expected ones. */
import { cached } from '@heliograph/domain/cached'
import { placeOf } from '@heliograph/domain/place'
import type { Quality } from '@heliograph/domain/readings'
import { rounded } from '@heliograph/domain/significant'
import type { Instrument } from '@heliograph/domain/site'
import type { StringModel } from '../diagnostics/expected-string.ts'
import { diagnoseString } from '../diagnostics/iv-diagnosis.ts'
import { type IvPoint, ivPoint } from '../diagnostics/iv-points.ts'
import { staleSamples } from '../diagnostics/stale.ts'
import { type HeldBy, heldBy } from '../rollups/inverter-hour.ts'
import { feeding_ratio, ratingOf, timeOf } from '../rollups/inverter-span.ts'
import {
  apart_ms_max,
  inverterSun,
  nearest,
  type PlantLight,
  plantLight,
  stationsAround,
  stationsFor,
} from '../rollups/plant-light.ts'
import type { Plant, PlantInverter, PlantStation, RawInverter, RawWeather } from '../rollups/raw.ts'
import type { IvExpectedPoint, NoExpectationReason } from './schemas.ts'
import type { Span, StringInstant, StringSetting } from './store.ts'

/** Inputs of the expectation of a string that do not change with the irradiance. */
export type Expectation = Exclude<ReturnType<typeof expectationOf>, NoExpectationReason>

/**
 * The expectation of a string by the met stations of its site, those in service first, or the
 * reason why there is none.
 */
export function expectationOf(
  { string, partner_indexes, inverter }: StringSetting,
  { facts, ...plant }: Pick<Plant, 'facts' | 'stations'>,
) {
  const { connected, panel } = string
  const none = (reason: NoExpectationReason) => reason
  if (!connected) return none('not_connected')
  if (panel === null) return none('no_panel_model')
  const place = placeOf(facts)
  if (place === null) return none('no_position')
  const stations = plant.stations.toSorted((a, b) => Number(a.is_retired) - Number(b.is_retired))
  const with_irradiance = stationsFor(inverter, stations).filter(measuresIrradiance)
  if (with_irradiance.length === 0) return none('no_irradiance')
  return {
    string: { ...string, panel },
    partner_indexes,
    inverter,
    place,
    /** At least one; the first with a reading of an instant counts. */
    stations: with_irradiance,
    /** All stations whose readings take part in the screening of `stations`, including these. */
    stations_around: stationsAround(inverter, stations),
  }
}

const showsIrradiance = ({ quantity }: Instrument) =>
  quantity === 'poa_irradiance_w_m2' || quantity === 'ghi_w_m2'

const measuresIrradiance = ({ instruments }: PlantStation) => instruments.some(showsIrradiance)

/**
 * Spans around the instants of a string in which readings of other devices match, extended by
 * `beyond_ms` on either side.
 */
export function spansAround(instants: readonly StringInstant[], beyond_ms = 0): Span[] {
  const spans: Span[] = []
  for (const { measured_at } of instants) {
    const from_ms = measured_at.getTime() - apart_ms_max - beyond_ms
    const to_ms = measured_at.getTime() + apart_ms_max + beyond_ms
    const last = spans.at(-1)
    if (last && from_ms <= last.to_ms) last.to_ms = to_ms
    else spans.push({ from_ms, to_ms })
  }
  return spans
}

interface Measured {
  /** Ascending, like the other series. */
  instants: readonly StringInstant[]
  readings: readonly RawInverter[]
  /** Screened readings of the stations of the expectation. */
  weather: ReadonlyMap<number, readonly RawWeather[]>
}

export interface ComparedPoint {
  point: IvPoint
  quality: Quality
  /** The inverter does not feed although nothing limits it; its strings cannot be rated then. */
  is_off: boolean
  partner_currents_a: (number | null)[]
}

/** One point per instant of the string, in the same order. */
export function comparePoints(expectation: Expectation, measured: Measured): ComparedPoint[] {
  const { string, partner_indexes, inverter } = expectation
  const { instants, readings } = measured
  const model = modelOf(expectation)
  const times_ms = instants.map(({ measured_at }) => measured_at.getTime())
  const moments = momentsOf(expectation, times_ms, measured.weather)
  const reading_at = nearest(times_ms, readings.map(timeOf))
  const held = holdsOf(inverter, moments, (nth) => readings[reading_at[nth]!])
  const currents = instants.map((instant) => currentOf(instant, string.string_index))
  const stale = staleSamples(
    currents.map((current_a, nth) => (held[nth] === null ? current_a : null)),
    times_ms,
  )
  return instants.map((instant, nth): ComparedPoint => {
    const { light, at } = moments[nth]!
    const ac_power_kw = readings[reading_at[nth]!]?.ac_power_kw ?? null
    const point = ivPoint(model, light.on(string)[at]!, {
      measured_at: instant.measured_at.toISOString(),
      current_a: currents[nth]!,
      voltage_v: instant.voltage_v,
      is_curtailed: held[nth] === 'curtailment',
      is_clipped: held[nth] === 'rating' || held[nth] === 'derating',
      is_stale: stale[nth]!,
    })
    return {
      point,
      quality: instant.quality,
      is_off:
        held[nth] === null &&
        ac_power_kw !== null &&
        ac_power_kw < feeding_ratio * inverter.rated_ac_power_kw &&
        !point.flags.includes('night'),
      partner_currents_a: partner_indexes.map((index) => currentOf(instant, index)),
    }
  })
}

const modelOf = ({ string }: Expectation): StringModel => ({
  module: string.panel,
  module_count: string.module_count,
})

const currentOf = ({ from_index, current_a }: StringInstant, string_index: number) =>
  current_a?.[string_index - from_index] ?? null

/** Index of an instant of the string in the irradiance of the plant. */
interface Moment {
  light: PlantLight
  at: number
}

/** Instants without screened readings keep the position of the sun, to tell day from night. */
function momentsOf(
  { place, stations }: Expectation,
  times_ms: readonly number[],
  weather: Measured['weather'],
): Moment[] {
  const moments = new Array<Moment | null>(times_ms.length).fill(null)
  for (const station of stations) {
    const readings = (weather.get(station.station_id) ?? []).filter(({ instrument_values }) =>
      station.instruments.some(
        (instrument, at) => showsIrradiance(instrument) && instrument_values[at] !== null,
      ),
    )
    const near = nearest(times_ms, readings.map(timeOf))
    const lit = near.flatMap((at, nth) => (at >= 0 && moments[nth] === null ? [nth] : []))
    // Computes only the readings in use: a station may be polled more often than the string.
    const used = [...new Set(lit.map((nth) => near[nth]!))]
    const places = new Map(used.map((reading, at) => [reading, at]))
    const light = plantLight(
      place,
      station,
      used.map((reading) => readings[reading]!),
    )
    for (const nth of lit) moments[nth] = { light, at: places.get(near[nth]!)! }
  }
  const unlit = times_ms.filter((_, nth) => moments[nth] === null)
  const empty = unlit.map((time_ms) => ({ time_ms, instrument_values: [] }))
  const light = plantLight(place, stations[0]!, empty)
  let at = 0
  return moments.map((moment) => moment ?? { light, at: at++ })
}

/** What limited the inverter at each instant; the irradiance matters only at the rating. */
function holdsOf(
  inverter: PlantInverter,
  moments: readonly Moment[],
  readingAt: (nth: number) => RawInverter | undefined,
): HeldBy[] {
  const rating = ratingOf(inverter)
  const sunOf = cached((light: PlantLight) => inverterSun(inverter, light))
  return moments.map(({ light, at }, nth) => {
    const reading = readingAt(nth)
    if (!reading) return null
    const held = heldBy({ ...reading, light: null }, rating)
    if (held !== 'rating') return held
    return heldBy({ ...reading, light: sunOf(light).lights[at]! }, rating)
  })
}

/** Diagnosis from the points of good quality while the inverter worked. */
export function diagnosePoints(expectation: Expectation, points: readonly ComparedPoint[]) {
  const sound = points.filter(({ quality, is_off }) => quality === 'good' && !is_off)
  return diagnoseString(
    modelOf(expectation),
    sound.map(({ point, partner_currents_a }) => ({ ...point, partner_currents_a })),
  )
}

/** A point under the field names of the API; without deviations while the inverter is off. */
export function pointRecord({ point, quality, is_off }: ComparedPoint): IvExpectedPoint {
  const { measured_at, curtailed, flags, ...values } = point
  // Rounded to 1e-4, finer than any instrument and as in the history of the string.
  const served = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      is_off && name.includes('_deviation_') ? null : rounded(value, 4),
    ]),
  ) as typeof values
  const own = is_off ? [...flags, 'inverter_off' as const] : flags
  return { measured_at, ...served, curtailed, flags: own, quality }
}
