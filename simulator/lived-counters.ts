/**
 * Counters of a plant in operation since its commissioning: its yield by sun, weather, dirt and
 * age, sampled.
 */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import type { Site } from '@heliograph/domain/site'
import { advance, type Counters, initialCounters } from './counters.ts'
import type { Simulation, SiteSnapshot } from './site.ts'

/** No part of a day, so that samples cover all hours of the day and all seasons. */
const sample_ms = 31 * hour_ms
/** Age of a plant without a commissioning date. */
const usual_age_days = 540
/** Counters must stay above 0 over the history before the first start. */
const least_age_days = 90

export function livedCounters(simulation: Simulation, time_ms: number): Counters {
  const { site } = simulation
  const since = commissioned(site, time_ms)
  const counters = newCounters(site, Math.min(...since.values(), time_ms - least_age_days * day_ms))
  while (counters.time_ms < time_ms) {
    const until_ms = Math.min(time_ms, counters.time_ms + sample_ms)
    const middle_ms = (counters.time_ms + until_ms) / 2
    advance(counters, built(simulation.at(middle_ms), since), until_ms)
  }
  return counters
}

/** Unix ms, by inverter. */
function commissioned(site: Site, time_ms: number): Map<number, number> {
  const latest_ms = time_ms - least_age_days * day_ms
  return new Map(
    site.loggers.flatMap((logger) => {
      const date = logger.commissioned_date ?? site.commissioned_date
      const since_ms = date === undefined ? time_ms - usual_age_days * day_ms : Date.parse(date)
      return logger.inverters.map(({ inverter_id }) => [inverter_id, Math.min(since_ms, latest_ms)])
    }),
  )
}

/** The part of the site that existed then, with its share of the export. */
function built(snapshot: SiteSnapshot, since: ReadonlyMap<number, number>): SiteSnapshot {
  const inverters = snapshot.inverters.filter(
    ({ inverter_id }) => snapshot.time_ms >= since.get(inverter_id)!,
  )
  const share = inverters.length / snapshot.inverters.length
  return { ...snapshot, inverters, export_power_kw: snapshot.export_power_kw * share }
}

function newCounters(site: Site, time_ms: number): Counters {
  const counters = initialCounters(site, time_ms)
  for (const counter of Object.values(counters.inverters)) {
    counter.ac_kwh = 0
    counter.mppt_kwh.fill(0)
  }
  return { ...counters, export_kwh: 0 }
}
