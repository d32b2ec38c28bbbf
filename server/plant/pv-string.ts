/** Strings: series of panels on the inputs of an inverter, with their latest measurements. */

import { median } from '@heliograph/domain/median'
import type { Quality } from '@heliograph/domain/readings'
import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { InverterId, Named, Nullable, StringIndex } from '../http/params.ts'
import { type Stored, served } from '../storage/records.ts'
import { frame, frameOf, inventoried, isStale } from './frame.ts'
import { orientationOf, orientations } from './orientation.ts'
import { quantity } from './quantities.ts'
import { isNight, type Situation } from './situation.ts'

export type PvString = Static<typeof PvString>
export const PvString = Named('PvString', {
  inverter_id: InverterId,
  string_index: StringIndex,
  mppt_index: field.Count('MPPT input, counted from 0.'),
  combiner_id: field.TextOrNull('The combiner box that measures the current.'),
  combiner_input: field.IntOrNull('Input of the combiner box.'),
  connected: field.Flag('False for an unused input.', true),
  module_count: field.Count('Panels in series.', 24),
  params_id: field.Int('The panel model, see /iv/modules.', 1),
  panel_model: Nullable(Type.String({ examples: ['Example Solar 455'] })),
  module_power_wp: field.NumOrNull('Power of one panel at STC, Wp.', 454.84),
  dc_capacity_kwp: field.Num('Power of the string at STC, kWp.', 10.92),
  azimuth_deg: field.Num('Degrees clockwise from north.', 95),
  tilt_deg: field.Num('Degrees from the horizontal.', 15),
  orientation: Type.Enum([...orientations], { examples: ['east'] }),
  updated_at: inventoried.updated_at,
  retired_at: field.AtOrNull('When it was removed from the inventory.'),
})

export type PvStringRow = Stored<Omit<PvString, 'orientation'>>

export function pvStringRecord(row: PvStringRow): PvString {
  const orientation = orientationOf(row.azimuth_deg, row.tilt_deg)
  return served(PvString, { ...row, orientation })
}

const stringStatuses = [
  'ok',
  'zero_current',
  'reverse_current',
  'disconnected',
  'asleep',
  'no_data',
] as const
export type StringStatus = (typeof stringStatuses)[number]

const stringStatusRule =
  '`disconnected`: the input is unused. `asleep`: no fresh measurement or no current, with the sun ' +
  'less than 3° above the horizon. `no_data`: no fresh measurement by day. `reverse_current`: ' +
  'below -0.5 A. `zero_current`: below 0.1 A while the median of the connected strings of the ' +
  'inverter is at least 1 A. `ok`: otherwise.'

const zero_a = 0.1
const reverse_a = -0.5
const producing_a = 1

const PowerKw = field.NumOrNull(
  'DC power, kW: current times voltage; null unless both are measured.',
  8.5042,
)

const measuredOfString = {
  current_a: quantity('current_a'),
  voltage_v: quantity('voltage_v'),
  power_kw: PowerKw,
  status: field.OneOf(stringStatuses, stringStatusRule),
}

export type StringNow = Static<typeof StringNow>
export const StringNow = Named('StringNow', {
  inverter_id: InverterId,
  string_index: StringIndex,
  ...frame,
  ...measuredOfString,
})

/** The short form of a string, for all strings of a site. */
export type StringGlance = Static<typeof StringGlance>
export const StringGlance = Named('StringGlance', {
  inverter_id: InverterId,
  string_index: StringIndex,
  measured_at: field.AtOrNull('When the values were measured if they are stale; null while fresh.'),
  quality: frame.quality,
  ...measuredOfString,
})

/** The strings in service of one inverter. */
export interface StringsRow {
  inverter_id: number
  string_indexes: readonly number[]
  /** Unused inputs among them. */
  unconnected_indexes: readonly number[]
}

/** The latest reading of a range of strings. */
export interface StringRangeRow {
  inverter_id: number
  first_string_index: number
  measured_at: Date
  received_at: Date
  quality: Quality
  current_a: readonly (number | null)[] | null
  voltage_v: readonly (number | null)[] | null
}

/** @param ranges those of this inverter */
export function stringsNow(
  row: StringsRow,
  ranges: readonly StringRangeRow[],
  situation: Situation,
): StringNow[] {
  const { poll, now } = situation
  return stringGlances(row, ranges, situation).map((string) => {
    const range = rangeOf(string.string_index, ranges)
    return { ...string, ...(range ? frameOf(range, poll.inverter_s, now) : missing) }
  })
}

/** Short forms, since a site may have tens of thousands of strings. */
export function stringGlances(
  { inverter_id, string_indexes, unconnected_indexes }: StringsRow,
  ranges: readonly StringRangeRow[],
  situation: Situation,
): StringGlance[] {
  const { poll, now } = situation
  const live = ranges.filter(({ measured_at }) => !isStale(measured_at, poll.inverter_s, now))
  const unconnected = new Set(unconnected_indexes)
  const connected = string_indexes.filter((string_index) => !unconnected.has(string_index))
  const median_a = median(connected.flatMap((index) => measuredOf(index, live, 'current_a') ?? []))
  const is_night = isNight(situation)
  const times = new Map(ranges.map((range) => [range, glanceTime(range, situation)]))
  return string_indexes.map((string_index) => {
    const range = rangeOf(string_index, ranges)
    const current_a = measuredOf(string_index, ranges, 'current_a')
    const voltage_v = measuredOf(string_index, ranges, 'voltage_v')
    return {
      inverter_id,
      string_index,
      ...(range ? times.get(range)! : never),
      current_a,
      voltage_v,
      power_kw:
        current_a === null || voltage_v === null
          ? null
          : Math.round(current_a * voltage_v * 10) / 10_000,
      status: unconnected.has(string_index)
        ? 'disconnected'
        : stringStatus(measuredOf(string_index, live, 'current_a'), median_a, is_night),
    }
  })
}

/** @param current_a fresh; null without a fresh measurement */
export function stringStatus(
  current_a: number | null,
  median_a: number | null,
  is_night: boolean,
): StringStatus {
  if (current_a === null) return is_night ? 'asleep' : 'no_data'
  if (current_a < reverse_a) return 'reverse_current'
  if (current_a >= zero_a) return 'ok'
  if (is_night) return 'asleep'
  return median_a !== null && median_a >= producing_a ? 'zero_current' : 'ok'
}

const never = { measured_at: null, quality: 'missing' } as const

function glanceTime(range: StringRangeRow, { poll, now }: Situation) {
  const { measured_at, quality } = frameOf(range, poll.inverter_s, now)
  return { measured_at: quality === 'stale' ? measured_at : null, quality }
}

const missing = { measured_at: null, received_at: null, age_s: null, quality: 'missing' } as const

function rangeOf(string_index: number, ranges: readonly StringRangeRow[]) {
  return ranges.find(({ first_string_index, current_a, voltage_v }) => {
    const length = Math.max(current_a?.length ?? 0, voltage_v?.length ?? 0)
    return string_index >= first_string_index && string_index < first_string_index + length
  })
}

function measuredOf(
  string_index: number,
  ranges: readonly StringRangeRow[],
  name: 'current_a' | 'voltage_v',
): number | null {
  const range = rangeOf(string_index, ranges)
  return range?.[name]?.[string_index - range.first_string_index] ?? null
}
