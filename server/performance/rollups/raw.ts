/** Reads the readings and the inventory from which hourly sums are computed. */
import type { Position } from '@heliograph/domain/place'
import type { Station } from '@heliograph/domain/site'
import type { CecModule } from '@heliograph/physics/single-diode'
import { siteElevation } from '../../plant/site-elevation.ts'
import type { Queries } from '../../storage/database.ts'
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

export interface SiteFacts extends Position {
  timezone: string
}

export interface PlantStation {
  station_id: number
  logger_id: number
  instruments: Station['instruments']
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
  /** Null when the circuit of the panel is unknown. */
  panel: Panel | null
}

export type Panel = CecModule & { params_id: number; power_stc_w: number }

export interface PlantInverter {
  inverter_id: number
  logger_id: number
  rated_ac_power_kw: number
  nominal_efficiency_pct: number | null
  dc_capacity_kwp: number
  strings: PlantString[]
}

export interface Plant {
  facts: SiteFacts
  /** In service or retired. */
  inverters: Map<number, PlantInverter>
  stations: PlantStation[]
}

type InverterFacts = Omit<PlantInverter, 'strings'>

/** The inverters and met stations of a site. */
export async function readLayout(
  db: Queries,
  site_id: string,
): Promise<{ inverters: InverterFacts[]; stations: PlantStation[] }> {
  return {
    inverters: await db.query<InverterFacts>(
      `select inverter_id, logger_id, rated_ac_power_kw, nominal_efficiency_pct,
              dc_capacity_kwp
       from inverters where site_id = $1 order by inverter_id`,
      [site_id],
    ),
    stations: await db.query<PlantStation>(
      'select station_id, logger_id, instruments from stations where site_id = $1 order by station_id',
      [site_id],
    ),
  }
}

/** Inventory of some or all inverters of a site; null before the site announced an inventory. */
export async function readPlant(
  db: Queries,
  site_id: string,
  inverter_ids: readonly number[] | null = null,
): Promise<Plant | null> {
  const [facts] = await db.query<SiteFacts>(
    `select inventory->>'timezone' as timezone, (inventory->>'latitude')::float8 as latitude,
            (inventory->>'longitude')::float8 as longitude,
            ${siteElevation('s')} as elevation_m
     from sites s where site_id = $1 and inventory is not null`,
    [site_id],
  )
  if (!facts) return null
  const { inverters, stations } = await readLayout(db, site_id)
  const asked = new Set(inverter_ids ?? inverters.map(({ inverter_id }) => inverter_id))
  const plant: Plant = {
    facts,
    inverters: new Map(
      inverters
        .filter(({ inverter_id }) => asked.has(inverter_id))
        .map((row) => [row.inverter_id, { ...row, strings: [] }]),
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
            dc_capacity_kwp, azimuth_deg, tilt_deg, orientation_assumed
     from strings where site_id = $1 and inverter_id = any ($2) order by inverter_id, string_index`,
    [site_id, inverter_ids],
  )
  const panels = await readPanels(db, site_id)
  return rows.map((row) => ({ ...row, panel: panels.get(row.params_id) ?? null }))
}

/** Panels of a site with a known circuit: announced by the site, or of the library by id. */
export async function readPanels(db: Queries, site_id: string): Promise<Map<number, Panel>> {
  const announced = await db.query<Rated & { [Name in keyof CecModule]: number | null }>(
    `select params_id, power_stc_w, alpha_sc_a_per_c, a_ref_v, i_l_ref_a, i_o_ref_a, r_s_ohm,
            r_sh_ref_ohm, adjust_pct
     from panel_models where site_id = $1`,
    [site_id],
  )
  const [complete, without_circuit] = [
    announced.filter(hasCircuit),
    announced.filter((row) => !hasCircuit(row)),
  ]
  const library = await readPanelsById(
    db,
    without_circuit.map(({ params_id }) => params_id),
  )
  const found = without_circuit.flatMap(({ params_id, power_stc_w }): Panel[] => {
    const model = library.get(params_id)
    return model ? [{ ...circuitOf(model), params_id, power_stc_w }] : []
  })
  return new Map([...complete, ...found].map((panel) => [panel.params_id, panel]))
}

type Rated = Pick<Panel, 'params_id' | 'power_stc_w'>

const hasCircuit = (row: Rated & { [Name in keyof CecModule]: number | null }): row is Panel =>
  Object.values(row).every((value) => value !== null)

const circuitOf = (model: CecModule): CecModule => ({
  alpha_sc_a_per_c: model.alpha_sc_a_per_c,
  a_ref_v: model.a_ref_v,
  i_l_ref_a: model.i_l_ref_a,
  i_o_ref_a: model.i_o_ref_a,
  r_s_ohm: model.r_s_ohm,
  r_sh_ref_ohm: model.r_sh_ref_ohm,
  adjust_pct: model.adjust_pct,
})

export interface RawWindow {
  site_id: string
  ids: readonly number[]
  from_ms: number
  to_ms: number
}

const time_ms = '(extract(epoch from measured_at) * 1000)::float8 as time_ms'
const within = 'measured_at >= $3 and measured_at < $4'
const values = ({ site_id, ids, from_ms, to_ms }: RawWindow) => [
  site_id,
  ids,
  new Date(from_ms).toISOString(),
  new Date(to_ms).toISOString(),
]

export async function readInverters(
  db: Queries,
  window: RawWindow,
): Promise<Map<number, RawInverter[]>> {
  const rows = await db.query<RawInverter & { inverter_id: number }>(
    `select inverter_id, ${time_ms}, state, ac_power_kw, dc_power_kw, energy_total_kwh,
            power_limit_pct
     from inverter_readings
     where site_id = $1 and inverter_id = any($2) and ${within}
     order by inverter_id, measured_at`,
    values(window),
  )
  return Map.groupBy(rows, ({ inverter_id }) => inverter_id)
}

export async function readStringRanges(
  db: Queries,
  window: RawWindow,
): Promise<Map<number, RawStrings[]>> {
  const rows = await db.query<RawStrings & { inverter_id: number }>(
    `select inverter_id, ${time_ms}, first_string_index, current_a, voltage_v
     from string_readings
     where site_id = $1 and inverter_id = any($2) and ${within}
     order by inverter_id, measured_at, first_string_index`,
    values(window),
  )
  return Map.groupBy(rows, ({ inverter_id }) => inverter_id)
}

export async function readWeather(
  db: Queries,
  window: RawWindow,
): Promise<Map<number, RawWeather[]>> {
  const rows = await db.query<RawWeather & { station_id: number }>(
    `select station_id, ${time_ms}, coalesce(instrument_values, '{}') as instrument_values
     from weather_readings
     where site_id = $1 and station_id = any($2) and ${within}
     order by station_id, measured_at`,
    values(window),
  )
  return Map.groupBy(rows, ({ station_id }) => station_id)
}
