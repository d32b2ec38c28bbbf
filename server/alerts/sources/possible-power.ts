/** Power that inverters could deliver now, from the irradiance of their met station. */
import { ratingOf } from '../../performance/rollups/inverter-span.ts'
import { inverterSun, plantLight, stationsFor } from '../../performance/rollups/plant-light.ts'
import { type PlantStation, type PlantString, readPanels } from '../../performance/rollups/raw.ts'
import { isStale } from '../../plant/frame.ts'
import type { SourceContext } from '../finding.ts'
import { type InverterNow, isLive, type PlantNow } from './plant-now.ts'

interface StationNow extends PlantStation {
  measured_at: Date
  instrument_values: (number | null)[]
}

/** AC power, kW, by inverter; without an entry where irradiance or panels are unknown. */
export type PossiblePower = ReadonlyMap<number, number>

/** Uses the newest reading of the met station and the models of the hourly sums. */
export async function readPossiblePower(
  { db, site: { site_id } }: SourceContext,
  { place, situation }: PlantNow,
  inverters: readonly InverterNow[],
): Promise<PossiblePower> {
  const possible = new Map<number, number>()
  if (inverters.length === 0 || place === null) return possible
  const ids = inverters.map(({ inverter_id }) => inverter_id)
  const [stations, strings, panels] = await Promise.all([
    db.query<StationNow>(
      `select s.station_id, s.logger_id, s.instruments, l.measured_at,
         coalesce(l.instrument_values, '{}') as instrument_values
       from stations s join weather_latest l using (site_id, station_id)
       where s.site_id = $1 and s.retired_at is null order by s.station_id`,
      [site_id],
    ),
    db.query<Omit<PlantString, 'panel'>>(
      `select inverter_id, string_index, mppt_index, connected, module_count, params_id,
         dc_capacity_kwp, azimuth_deg, tilt_deg
       from strings
       where site_id = $1 and inverter_id = any ($2) and connected and retired_at is null
       order by inverter_id, string_index`,
      [site_id, ids],
    ),
    readPanels(db, site_id),
  ])
  const { poll, now } = situation
  const fresh = stations.filter(({ measured_at }) => !isStale(measured_at, poll.weather_s, now))
  const lights = new Map(
    fresh.map((station) => {
      const { station_id, measured_at, instrument_values } = station
      const reading = { time_ms: measured_at.getTime(), instrument_values }
      return [station_id, plantLight(place, station, [reading])]
    }),
  )
  const stringsOf = Map.groupBy(strings, ({ inverter_id }) => inverter_id)
  for (const inverter of inverters) {
    const [station] = stationsFor(inverter, fresh)
    const own = stringsOf.get(inverter.inverter_id)
    if (!station || !own) continue
    const whole = own.map((each) => ({ ...each, panel: panels.get(each.params_id) ?? null }))
    const sun = inverterSun({ strings: whole }, lights.get(station.station_id)!)
    const expected_dc_kw = sun.lights[0]?.expected_dc_kw ?? null
    if (expected_dc_kw === null) continue
    const { rated_ac_power_kw, acPower } = ratingOf(inverter)
    possible.set(inverter.inverter_id, Math.min(rated_ac_power_kw, acPower(expected_dc_kw)))
  }
  return possible
}

/** Possible minus present power, kW; null where either is unknown. */
export function missingPower(inverter: InverterNow, possible: PossiblePower): number | null {
  const possible_kw = possible.get(inverter.inverter_id)
  if (possible_kw === undefined || !isLive(inverter) || inverter.ac_power_kw === null) return null
  return Math.max(0, possible_kw - Math.max(0, inverter.ac_power_kw))
}
