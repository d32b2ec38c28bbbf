/** Energy counters of the simulated devices. */
import { hour_ms } from '@heliograph/domain/durations'
import type { Site } from '@heliograph/domain/site'
import { mpptCount } from '@heliograph/domain/site'
import type { SiteSnapshot } from './site.ts'

export interface Counters {
  time_ms: number
  inverters: Record<number, { ac_kwh: number; mppt_kwh: number[] }>
  export_kwh: number
  import_kwh: number
}

/** Full-load hours of a used plant when the simulation begins. */
const first_full_load_h = 1480

export function initialCounters(site: Site, time_ms: number): Counters {
  const inverters: Counters['inverters'] = {}
  let export_kwh = 0
  for (const { inverters: own } of site.loggers) {
    for (const inverter of own) {
      const ac_kwh = inverter.rated_ac_power_kw * first_full_load_h
      const mppts = mpptCount(inverter)
      export_kwh += ac_kwh
      inverters[inverter.inverter_id] = {
        ac_kwh,
        mppt_kwh: new Array<number>(mppts).fill(ac_kwh / mppts),
      }
    }
  }
  return { time_ms, inverters, export_kwh, import_kwh: 0 }
}

/** Adds the power of a snapshot from the instant of the counters until `until_ms`. */
export function advance(counters: Counters, snapshot: SiteSnapshot, until_ms: number): void {
  const hours = (until_ms - counters.time_ms) / hour_ms
  if (hours <= 0) return
  for (const inverter of snapshot.inverters) {
    const counter = counters.inverters[inverter.inverter_id]!
    counter.ac_kwh += Math.max(0, inverter.ac_power_kw) * hours
    inverter.mppt_current_a.forEach((current_a, mppt) => {
      const power_kw = (current_a * inverter.mppt_voltage_v[mppt]!) / 1000
      counter.mppt_kwh[mppt] = (counter.mppt_kwh[mppt] ?? 0) + power_kw * hours
    })
  }
  counters.export_kwh += Math.max(0, snapshot.export_power_kw) * hours
  counters.import_kwh += Math.max(0, -snapshot.export_power_kw) * hours
  counters.time_ms = until_ms
}
