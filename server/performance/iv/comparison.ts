/** The points of one string: what it should have given at each instant, beside what it gave. */
import { type Place, type Position, placeOf } from '@heliograph/domain/place'
import type { Quality } from '@heliograph/domain/readings'
import type { Instrument } from '@heliograph/domain/site'
import type { StringModel } from '../diagnostics/expected-string.ts'
import { diagnoseString, type StringDiagnosis } from '../diagnostics/iv-diagnosis.ts'
import { type IvPoint, ivPoint } from '../diagnostics/iv-points.ts'
import { staleSamples } from '../diagnostics/stale.ts'
import { type HeldBy, heldBy } from '../rollups/inverter-hour.ts'
import { ratingOf } from '../rollups/inverter-span.ts'
import {
  apart_ms_max,
  type InverterSun,
  inverterSun,
  nearest,
  type PlantLight,
  plantLight,
  stationsAround,
  stationsFor,
} from '../rollups/plant-light.ts'
import type { Panel, PlantInverter, PlantStation, PlantString, RawWeather } from '../rollups/raw.ts'
import type { IvExpectedPoint, NoExpectationReason } from './schemas.ts'
import type { InverterInstant, Span, StringInstant, StringSetting } from './store.ts'

/** What is expected of a string, as far as it does not change with the light. */
export interface Expectation {
  string: PlantString & { panel: Panel }
  partner_indexes: readonly number[]
  inverter: PlantInverter
  place: Place
  /** Those that measure irradiance, at least one; the first that saw an instant counts. */
  stations: readonly PlantStation[]
  /** All that tell whether to believe these, themselves among them. */
  stations_around: readonly PlantStation[]
}

/** What can be expected of a string, by the met stations of its site; or why nothing can. */
export function expectationOf(
  { string, partner_indexes, inverter }: StringSetting,
  position: Position,
  stations: readonly PlantStation[],
): Expectation | NoExpectationReason {
  const { connected, panel } = string
  if (!connected) return 'not_connected'
  if (panel === null) return 'no_panel_model'
  const place = placeOf(position)
  if (place === null) return 'no_position'
  const sighted = stationsFor(inverter, stations).filter(measuresIrradiance)
  if (sighted.length === 0) return 'no_irradiance'
  return {
    string: { ...string, panel },
    partner_indexes,
    inverter,
    place,
    stations: sighted,
    stations_around: stationsAround(inverter, stations),
  }
}

const showsIrradiance = ({ quantity }: Instrument) =>
  quantity === 'poa_irradiance_w_m2' || quantity === 'ghi_w_m2'

const measuresIrradiance = ({ instruments }: PlantStation) => instruments.some(showsIrradiance)

/**
 * The time around the instants of a string in which what others measured says something of it, and
 * `beyond_ms` more on either side.
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
  /** Ascending, as all that follows. */
  instants: readonly StringInstant[]
  readings: readonly InverterInstant[]
  /** What is believed of the stations of the expectation. */
  weather: ReadonlyMap<number, readonly RawWeather[]>
}

export interface ComparedPoint {
  point: IvPoint
  quality: Quality
  /** The inverter feeds nothing by itself: what its strings give then says nothing of them. */
  is_off: boolean
  partner_currents_a: (number | null)[]
}

/** Below this share of its rating an inverter does not feed. */
const feeding_ratio = 0.005

/** A point for each instant of the string, in their order. */
export function comparePoints(expectation: Expectation, measured: Measured): ComparedPoint[] {
  const { string, partner_indexes, inverter } = expectation
  const { instants, readings } = measured
  const model = modelOf(expectation)
  const times_ms = instants.map(({ measured_at }) => measured_at.getTime())
  const moments = momentsOf(expectation, times_ms, measured.weather)
  const heard = nearest(times_ms, readings.map(timeOf))
  const held = holdsOf(inverter, moments, (nth) => readings[heard[nth]!])
  const currents = instants.map((instant) => currentOf(instant, string.string_index))
  const stale = staleSamples(
    currents.map((current_a, nth) => (held[nth] === null ? current_a : null)),
    times_ms,
  )
  return instants.map((instant, nth): ComparedPoint => {
    const { light, at } = moments[nth]!
    const ac_power_kw = readings[heard[nth]!]?.ac_power_kw ?? null
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

const timeOf = ({ time_ms }: { time_ms: number }) => time_ms

const modelOf = ({ string }: Expectation): StringModel => ({
  module: string.panel,
  module_count: string.module_count,
})

const currentOf = ({ from_index, current_a }: StringInstant, string_index: number) =>
  current_a?.[string_index - from_index] ?? null

/** An instant of the string, as an instant of the light on the plant. */
interface Moment {
  light: PlantLight
  at: number
}

/** Where no station is believed, there is still the sun to tell day from night. */
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
    // Only what is used is computed: a station may be read more often than the string.
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
  const silence = unlit.map((time_ms) => ({ time_ms, instrument_values: [] }))
  const light = plantLight(place, stations[0]!, silence)
  let at = 0
  return moments.map((moment) => moment ?? { light, at: at++ })
}

/** What held the inverter at each instant; what the sun allowed counts only at its rating. */
function holdsOf(
  inverter: PlantInverter,
  moments: readonly Moment[],
  readingAt: (nth: number) => InverterInstant | undefined,
): HeldBy[] {
  const rating = ratingOf(inverter)
  const suns = new Map<PlantLight, InverterSun>()
  return moments.map(({ light, at }, nth) => {
    const reading = readingAt(nth)
    if (!reading) return null
    const held = heldBy({ ...reading, light: null }, rating)
    if (held !== 'rating') return held
    const sun = suns.get(light) ?? inverterSun(inverter, light)
    suns.set(light, sun)
    return heldBy({ ...reading, light: sun.lights[at]! }, rating)
  })
}

/** Of the points that are measured well, while the inverter was at work. */
export function diagnosePoints(
  expectation: Expectation,
  points: readonly ComparedPoint[],
): StringDiagnosis {
  const sound = points.filter(({ quality, is_off }) => quality === 'good' && !is_off)
  return diagnoseString(
    modelOf(expectation),
    sound.map(({ point, partner_currents_a }) => ({ ...point, partner_currents_a })),
  )
}

const notCompared = {
  current_deviation_pct: null,
  voltage_deviation_pct: null,
  power_deviation_pct: null,
  current_deviation_at_voltage_pct: null,
} as const

/** A point as it is served. */
export function pointRecord({ point, quality, is_off }: ComparedPoint): IvExpectedPoint {
  const { measured_at, curtailed, flags, ...values } = point
  const served = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === null ? null : rounded(value)]),
  ) as typeof values
  return {
    measured_at,
    ...served,
    ...(is_off && notCompared),
    curtailed,
    flags: is_off ? [...flags, 'inverter_off'] : flags,
    quality,
  }
}

/** To 1e-4, finer than any instrument; power so as in the history of the string. */
const rounded = (value: number): number => Math.round(value * 10_000) / 10_000 + 0
