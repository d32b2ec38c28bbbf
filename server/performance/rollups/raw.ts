/** Reads the readings and the inventory from which hourly sums are computed. */
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { Station } from '@heliograph/domain/site'
import type { CecModule } from '@heliograph/physics/single-diode'
import { readExchanges } from '../../plant/device-exchanges.ts'
import { siteFacts } from '../../plant/site-facts.ts'
import type { SiteFacts } from '../../plant/situation.ts'
import type { Queries } from '../../storage/database.ts'
import type { StoredReading } from '../../telemetry/blocks/store.ts'
import { readReadings } from '../../telemetry/stored-readings.ts'
import { readPanelsById } from '../panels/store.ts'

export interface RawInverter {
  time_ms: number
  state: string | null
  ac_power_kw: number | null
  dc_power_kw: number | null
  energy_total_kwh: number | null
  power_limit_pct: number | null
}

/** Reading of a range of strings by a combiner box or the inverter. */
export interface RawStrings {
  time_ms: number
  first_string_index: number
  current_a: readonly (number | null)[] | null
  voltage_v: readonly (number | null)[] | null
}

export interface RawWeather {
  time_ms: number
  instrument_values: readonly (number | null)[]
}

export interface PlantStation {
  station_id: number
  logger_id: number
  instruments: Station['instruments']
  is_retired?: boolean
}

export interface PlantString {
  inverter_id: number
  string_index: number
  mppt_index: number
  connected: boolean
  module_count: number
  params_id: number
  dc_capacity_kwp: number
  azimuth_deg: number
  tilt_deg: number
  orientation_assumed: boolean
  is_retired?: boolean
  /** Null when the circuit of the panel is unknown. */
  panel: Panel | null
}

type Panel = CecModule & { params_id: number; power_stc_w: number }

export interface PlantInverter {
  inverter_id: number
  logger_id: number
  rated_ac_power_kw: number
  nominal_efficiency_pct: number | null
  dc_capacity_kwp: number
  /** When other inverters took its place, Unix ms, ascending. */
  exchanged_ms: readonly number[]
  strings: PlantString[]
}

export interface Plant {
  facts: SiteFacts
  /** In service or retired. */
  inverters: Map<number, PlantInverter>
  stations: PlantStation[]
}

type InverterFacts = Omit<PlantInverter, 'exchanged_ms' | 'strings'>

export async function readLayout(db: Queries, site_id: string) {
  return {
    inverters: await db.query<InverterFacts>(
      `select inverter_id, logger_id, rated_ac_power_kw, nominal_efficiency_pct,
              dc_capacity_kwp
       from inverters where site_id = $1 order by inverter_id`,
      [site_id],
    ),
    stations: await db.query<PlantStation>(
      `select station_id, logger_id, instruments, retired_at is not null as is_retired
       from stations where site_id = $1 order by station_id`,
      [site_id],
    ),
  }
}

export async function readPlant(
  db: Queries,
  site_id: string,
  inverter_ids: readonly number[] | null = null,
): Promise<Plant> {
  const facts = await siteFacts(db, site_id)
  const { inverters, stations } = await readLayout(db, site_id)
  const exchanges = await readExchanges(db, site_id, 'inverter')
  const asked = new Set(inverter_ids ?? inverters.map(({ inverter_id }) => inverter_id))
  const plant: Plant = {
    facts,
    inverters: new Map(
      inverters
        .filter(({ inverter_id }) => asked.has(inverter_id))
        .map((row) => {
          const exchanged_ms = exchanges.get(`${row.inverter_id}`) ?? []
          return [row.inverter_id, { ...row, exchanged_ms, strings: [] }]
        }),
    ),
    stations,
  }
  for (const string of await readStrings(db, site_id, [...asked])) {
    plant.inverters.get(string.inverter_id)?.strings.push(string)
  }
  return plant
}

async function readStrings(
  db: Queries,
  site_id: string,
  inverter_ids: readonly number[],
): Promise<PlantString[]> {
  const rows = await db.query<Omit<PlantString, 'panel'>>(
    `select inverter_id, string_index, mppt_index, connected, module_count, params_id,
            dc_capacity_kwp, azimuth_deg, tilt_deg, orientation_assumed,
            retired_at is not null as is_retired
     from strings where site_id = $1 and inverter_id = any ($2) order by inverter_id, string_index`,
    [site_id, inverter_ids],
  )
  const panels = await readPanels(db, site_id)
  return rows.map((row) => ({ ...row, panel: panels.get(row.params_id) ?? null }))
}

/** Panels of a site with a known circuit: announced by the site, or of the library by id. */
export async function readPanels(db: Queries, site_id: string): Promise<Map<number, Panel>> {
  const announced = await db.query<AnnouncedPanel>(
    `select params_id, power_stc_w, alpha_sc_a_per_c, a_ref_v, i_l_ref_a, i_o_ref_a, r_s_ohm,
            r_sh_ref_ohm, adjust_pct
     from panel_models where site_id = $1`,
    [site_id],
  )
  const complete = announced.filter(hasCircuit)
  const others = announced.filter((row) => !hasCircuit(row))
  const library = await readPanelsById(
    db,
    others.map(({ params_id }) => params_id),
  )
  const found = others.flatMap(({ params_id, power_stc_w }): Panel[] => {
    const model = library.get(params_id)
    return model ? [{ ...model, power_stc_w }] : []
  })
  return new Map([...complete, ...found].map((panel) => [panel.params_id, panel]))
}

type AnnouncedPanel = {
  [Name in keyof Panel]: Name extends keyof CecModule ? number | null : number
}

const hasCircuit = (row: AnnouncedPanel): row is Panel =>
  Object.values(row).every((value) => value !== null)

export interface RawWindow {
  site_id: string
  ids: readonly number[]
  from_ms: number
  to_ms: number
}

/** Reads readings of a kind by device, ascending. */
const readerOf =
  <Row extends { time_ms: number }>(
    kind: ReadingKind,
    columns: readonly Exclude<keyof Row & string, 'time_ms' | 'first_string_index'>[],
  ) =>
  async (db: Queries, { ids, ...span }: RawWindow): Promise<Map<number, Row[]>> => {
    const readings = await readReadings(db, kind, { ...span, device_ids: ids }, columns)
    const [key] = readingKinds[kind].keys
    const rows = readings as unknown as (Row & StoredReading)[]
    for (const row of rows) row.time_ms = row.measured_at
    return Map.groupBy(rows, (row) => row[key] as number)
  }

export const readInverters = readerOf<RawInverter>('inverter', [
  'state',
  'ac_power_kw',
  'dc_power_kw',
  'energy_total_kwh',
  'power_limit_pct',
])

export const readStringRanges = readerOf<RawStrings>('string', ['current_a', 'voltage_v'])

const readInstruments = readerOf<RawWeather>('weather', ['instrument_values'])

export async function readWeather(...asked: Parameters<typeof readInstruments>) {
  const stations = await readInstruments(...asked)
  for (const row of [...stations.values()].flat()) row.instrument_values ??= []
  return stations
}
