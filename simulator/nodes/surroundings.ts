/** The transformer stations of the simulated site over time. */
import { day_ms, hour_ms, minute_ms } from '@heliograph/domain/durations'
import type { Node } from '@heliograph/domain/node'
import { placeOf } from '@heliograph/domain/place'
import type { Simulation, SiteSnapshot } from '../site.ts'
import { weatherAt } from '../weather.ts'
import { type StationState, type Surroundings, stationAt } from './station.ts'

/** Time after which the oil, the slowest part, no longer depends on the start. */
const settled_ms = 12 * hour_ms
/** Time of the solar day at which the fans are off. */
const coolest_ms = 4 * hour_ms

/** Conditions of all nodes of the site, in their order. */
export const allSurroundings = (simulation: Simulation, snapshot: SiteSnapshot): Surroundings[] =>
  (simulation.site.nodes ?? []).map((node) => surroundings(simulation, snapshot, node))

/** Conditions of one node: the weather, and the power of its plant. */
export function surroundings(
  { site, seed }: Simulation,
  { time_ms, inverters }: SiteSnapshot,
  { logger_id }: Pick<Node, 'logger_id'>,
): Surroundings {
  const of = site.loggers.filter((one) => logger_id === undefined || one.logger_id === logger_id)
  const ids = new Set(of.flatMap((logger) => logger.inverters.map((one) => one.inverter_id)))
  const power_kw = inverters
    .filter(({ inverter_id }) => ids.has(inverter_id))
    .reduce((sum, { ac_power_kw }) => sum + Math.max(0, ac_power_kw), 0)
  const rated_kw = of.reduce((sum, { rated_power_kw }) => sum + rated_power_kw, 0)
  const place = { ...placeOf({ elevation_m: null, ...site })!, east_m: 0 }
  const { ambient_temperature_c, relative_humidity_pct } = weatherAt(seed, time_ms, place)
  return { time_ms, ambient_temperature_c, relative_humidity_pct, load_ratio: power_kw / rated_kw }
}

export interface NodeSpan {
  start_ms: number
  end_ms: number
  around?: (time_ms: number) => Surroundings[] | undefined
}

/**
 * The stations of all nodes in the order of the site, at every full minute from `start_ms` to
 * before `end_ms`. They are computed from a time before dawn, at least half a day earlier, when the
 * fans are off: the result does not depend on `start_ms`.
 */
export function* stationMinutes(
  simulation: Simulation,
  { start_ms, end_ms, around }: NodeSpan,
): Generator<StationState[]> {
  const nodes = simulation.site.nodes ?? []
  const first_ms = Math.ceil(start_ms / minute_ms) * minute_ms
  let states: (StationState | null)[] = nodes.map(() => null)
  for (
    let time_ms = dawnBefore(simulation, first_ms - settled_ms);
    time_ms < end_ms;
    time_ms += minute_ms
  ) {
    const all = around?.(time_ms) ?? allSurroundings(simulation, simulation.at(time_ms))
    const now = nodes.map((node, nth) =>
      stationAt(node, all[nth]!, { before: states[nth] ?? null, seed: simulation.seed }),
    )
    if (time_ms >= first_ms) yield now
    states = now
  }
}

function dawnBefore({ site: { longitude } }: Simulation, time_ms: number): number {
  const ahead_ms = Math.round((longitude / 360) * day_ms) - coolest_ms
  const dawn_ms = Math.floor((time_ms + ahead_ms) / day_ms) * day_ms - ahead_ms
  return Math.floor(dawn_ms / minute_ms) * minute_ms
}
