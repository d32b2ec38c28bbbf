import { hour_ms } from '@heliograph/domain/durations'
import type { Quality } from '@heliograph/domain/readings'
import type { CecModule } from '@heliograph/physics/single-diode'
import type { SeriesWindow } from '../../http/time-windows.ts'
import type { Queries } from '../../storage/database.ts'
import type { StoredReading } from '../../telemetry/blocks/store.ts'
import { spanOf } from '../../telemetry/history.ts'
import type { Step } from '../../telemetry/steps.ts'
import { firstOf, walkReadings } from '../../telemetry/stored-readings.ts'
import { countStrings, holdsString } from '../../telemetry/strings/store.ts'
import type { PanelFields } from '../panels/model.ts'
import type { Plant, PlantString, RawWindow } from '../rollups/raw.ts'

export interface SiteModelRow
  extends Pick<PanelFields, 'params_id' | 'name' | 'manufacturer' | 'technology' | 'power_stc_w'>,
    Pick<PanelFields, 'cells_in_series' | keyof CecModule> {
  used_by_string_count: number
}

export type StringSetting = NonNullable<ReturnType<typeof settingOf>>

export interface ReadingsRequest {
  site_id: string
  inverter_id: number
  string_index: number
  /** Strings whose currents are read too, if the same reading contains them. */
  partner_indexes: readonly number[]
  window: SeriesWindow
  /** Reads only the first reading of each step that starts in the window; null: all. */
  step: Step | null
  limit: number
}

export interface StringInstant {
  measured_at: Date
  quality: Quality
  /** Index of the string of the first current. */
  from_index: number
  current_a: readonly (number | null)[] | null
  voltage_v: number | null
}

export interface Span {
  from_ms: number
  /** Inclusive. */
  to_ms: number
}

/** Models that the strings in service are made of, by id. */
export async function readModelsInUse(db: Queries, site_id: string): Promise<SiteModelRow[]> {
  const rows = await db.query<SiteModelRow>(siteModels, [site_id, null])
  return rows.filter(({ used_by_string_count }) => used_by_string_count > 0)
}

/** A model that the site announced, in use or not; else null. */
export const readSiteModel = (db: Queries, site_id: string, params_id: number) =>
  db.queryOne<SiteModelRow>(siteModels, [site_id, params_id])

/** Ascending; counted from the end of the window when the window takes the newest. */
export async function readStringInstants(
  db: Queries,
  request: ReadingsRequest,
): Promise<StringInstant[]> {
  const { string_index, partner_indexes, window, limit } = request
  const { newest } = window
  const indexes = [string_index, ...partner_indexes]
  const [lowest, highest] = [Math.min(...indexes), Math.max(...indexes)]
  async function* instants() {
    for await (const readings of walkString(db, request, ['quality', 'current_a', 'voltage_v'])) {
      yield readings.map((reading) => instantOf(reading, string_index, lowest, highest))
    }
  }
  const found = await firstOf(instants(), limit)
  return newest ? found.reverse() : found
}

/** The readings of the string, or the first one of each step. */
async function* walkString(
  db: Queries,
  { site_id, inverter_id, string_index, window, step }: Omit<ReadingsRequest, 'limit'>,
  columns: readonly string[],
): AsyncGenerator<StoredReading[]> {
  const { newest } = window
  const { from_ms, to_ms } = spanOf(window)
  const is_open = step === null || !Number.isFinite(from_ms)
  const first_ms = is_open ? from_ms : step.endOf(step.startOf(from_ms - 1))
  const walk = { site_id, device_id: inverter_id, from_ms: first_ms, to_ms, newest }
  const firstOfSteps = step && keepFirst(step, newest)
  for await (const readings of walkReadings(db, 'string', walk, columns)) {
    const own = readings.filter((reading) => holdsString(reading, string_index))
    yield firstOfSteps ? firstOfSteps.of(own) : own
  }
  if (firstOfSteps) yield firstOfSteps.rest()
}

/** Keeps the earliest reading of each step, of readings in the order of a walk. */
function keepFirst({ startOf }: Step, newest: boolean) {
  let held: StoredReading | null = null
  return {
    of(readings: readonly StoredReading[]): StoredReading[] {
      const kept: StoredReading[] = []
      for (const reading of readings) {
        const is_same = held && startOf(held.measured_at) === startOf(reading.measured_at)
        if (held && !is_same) kept.push(held)
        if (!is_same || newest) held = reading
      }
      return kept
    },
    rest: () => (held ? [held] : []),
  }
}

function instantOf(
  reading: StoredReading,
  string_index: number,
  lowest: number,
  highest: number,
): StringInstant {
  const {
    current_a,
    voltage_v,
    first_string_index: first,
    ...rest
  } = reading as StoredReading & {
    first_string_index: number
    current_a: readonly (number | null)[] | null
    voltage_v: readonly (number | null)[] | null
  }
  const from_index = Math.max(first, lowest)
  return {
    measured_at: new Date(rest.measured_at),
    quality: rest['quality'] as Quality,
    from_index,
    current_a: current_a?.slice(from_index - first, highest - first + 1) ?? null,
    voltage_v: voltage_v?.[string_index - first] ?? null,
  }
}

export async function countStringInstants(db: Queries, request: ReadingsRequest): Promise<number> {
  if (!request.step) return countStrings(db, { ...request, device_id: request.inverter_id })
  let count = 0
  for await (const { length } of walkString(db, request, ['current_a', 'voltage_v']))
    count += length
  return count
}

/** Spans this near to each other are read at once. */
const span_distance_ms = hour_ms

/** Readings within spans by device, ascending. Spans ascend and do not overlap. */
export async function readWithin<Row extends { time_ms: number }>(
  read: (db: Queries, window: RawWindow) => Promise<ReadonlyMap<number, readonly Row[]>>,
  db: Queries,
  { spans, ...of }: Pick<RawWindow, 'site_id' | 'ids'> & { spans: readonly Span[] },
): Promise<Map<number, Row[]>> {
  const found = new Map<number, Row[]>(of.ids.map((id) => [id, []]))
  for (let first = 0; first < spans.length; ) {
    let next = first + 1
    while (next < spans.length && isNear(spans[next - 1]!, spans[next]!)) next += 1
    const some = spans.slice(first, next)
    first = next
    const [from_ms, to_ms] = [some[0]!.from_ms, some.at(-1)!.to_ms + 1]
    const isWithin = ({ time_ms }: Row) =>
      some.some((span) => time_ms >= span.from_ms && time_ms <= span.to_ms)
    for (const [id, readings] of await read(db, { ...of, from_ms, to_ms })) {
      found.get(id)!.push(...readings.filter(isWithin))
    }
  }
  return found
}

const isNear = (span: Span, next: Span) => next.from_ms - span.to_ms < span_distance_ms

const siteModels = `
  SELECT m.params_id, m.name, m.manufacturer, m.technology, m.power_stc_w, m.cells_in_series,
         m.alpha_sc_a_per_c, m.a_ref_v, m.i_l_ref_a, m.i_o_ref_a, m.r_s_ohm, m.r_sh_ref_ohm,
         m.adjust_pct, count(s.string_index) AS used_by_string_count
  FROM panel_models m
  LEFT JOIN strings s ON s.site_id = m.site_id AND s.params_id = m.params_id AND s.connected
    AND s.retired_at IS NULL
  WHERE m.site_id = $1 AND ($2::int IS NULL OR m.params_id = $2)
  GROUP BY m.site_id, m.params_id
  ORDER BY m.params_id`

/** Undefined when the inverter does not exist or has no such string. */
export function settingOf(
  plant: Plant,
  { inverter_id, string_index }: Pick<ReadingsRequest, 'inverter_id' | 'string_index'>,
) {
  const inverter = plant.inverters.get(inverter_id)
  const string = inverter?.strings.find((each) => each.string_index === string_index)
  if (!inverter || !string) return undefined
  const strings = inverter.strings.filter(({ is_retired }) => !is_retired)
  const partners = strings.filter((each) => each !== string && isPartner(each, string))
  return {
    /** In service or retired. */
    string,
    /** With its strings in service. */
    inverter: { ...inverter, strings },
    /** Connected strings in service on the same MPPT with the same panels and orientation. */
    partner_indexes: partners.map((each) => each.string_index),
  }
}

const alike = ['mppt_index', 'params_id', 'module_count', 'azimuth_deg', 'tilt_deg'] as const

const isPartner = (one: PlantString, other: PlantString) =>
  one.connected && alike.every((name) => one[name] === other[name])
