/**
 * Whether the sun is so low that an inverter which does not answer delivers nothing. Inverters
 * sleep at night and do not answer then; counted with full power, they would use up the permit each
 * evening. Any doubt about the clock, the place or the power makes it day. Times of the stopwatch
 * are in ms, those of a clock are Unix ms.
 */
import type { Site } from '@heliograph/domain/site'
import { solarPosition } from '@heliograph/physics/solar-position'
import { controllerKey } from './device-name.ts'
import { sum } from './sum.ts'

/**
 * `low`: inverters may be asleep, and are not accused of what they could deliver while they do not
 * answer; nobody gets their share of the permit. `night`: PV that does not answer counts as 0 W.
 */
export type Sun = 'day' | 'low' | 'night'

/** Civil twilight ends: diffuse light is below 0.01 % of full sun. */
const night_elevation_deg = -6
/** Inverters fall asleep and wake below this, under heavy clouds too. */
const low_elevation_deg = 5
/** The night ends so much before dawn, so that batteries come down before inverters wake. */
const lead_ms_min = 240_000
const agreement_ms = 60_000
/** After a start: until then each device and meter that answers was read, and the server asked. */
const settle_ms = 60_000
/** Of the rating: less is an error of measurement, or light of lamps and the moon. */
const noise_ratio = 0.01
const doubt_ms = 3_600_000
/** A meter and the batteries behind it are read at different times: shorter excess is no PV. */
const meter_ms = 60_000
/** Of the rating, and for so long: with more, the sun is not low, whatever the clock says. */
const bright_ratio = 0.25
const bright_ms = 600_000
/** With that power at night, the coordinates or the clocks are wrong: so long there is no night. */
const refuted_ms = 86_400_000

interface SunTimes {
  /** By the wall clock. */
  now: number
  /** By all clocks that count: it is night when each of them says so. */
  times: readonly number[]
  /** By the server; null: it never told since the start. */
  server: number | null
  now_ms: number
  /** What others need to come down, where that is longer than `lead_ms_min`. */
  lead_ms: number
}

export class NightWatch {
  /** null: inverters of the site may deliver at night. */
  #place: Pick<Site, 'latitude' | 'longitude'> | null = null
  /** Rating by inverter_id, or by `controllerKey`; and by meter_id of the PV behind it. */
  #rated_w = new Map<number, number>()
  #metered = new Map<number, { logger_id: number | null; rated_w: number }>()
  #since_ms: number | null = null
  /** The server and the wall clock agreed since the start. */
  #is_confirmed = false
  /** When PV power was measured last; and that of a bright sun. */
  #power_ms = Number.NEGATIVE_INFINITY
  #bright_ms = Number.NEGATIVE_INFINITY
  #refuted_ms = Number.NEGATIVE_INFINITY
  /** By meter_id: since when each of its measurements is more than batteries explain. */
  readonly #metered_since_ms = new Map<number, number>()

  apply({ latitude, longitude, loggers, meters = [], batteries = [] }: Site): void {
    // A battery on the DC side discharges through an inverter.
    const is_ac = batteries.every(({ coupling }) => coupling === 'ac')
    const is_same = this.#place?.latitude === latitude && this.#place.longitude === longitude
    if (!is_same) this.#refuted_ms = Number.NEGATIVE_INFINITY
    this.#place = is_ac ? { latitude, longitude } : null
    const watts = (power_kw: number) => power_kw * 1000
    this.#rated_w = new Map(
      loggers.flatMap(({ logger_id, rated_power_kw, inverters }): [number, number][] => [
        [controllerKey(logger_id), watts(rated_power_kw)],
        ...inverters.map(({ inverter_id, rated_ac_power_kw }): [number, number] => [
          inverter_id,
          watts(rated_ac_power_kw),
        ]),
      ]),
    )
    const ratedAt = (logger_id: number | null) =>
      sum(
        loggers.filter((logger) => logger_id === null || logger.logger_id === logger_id),
        ({ rated_power_kw }) => watts(rated_power_kw),
      )
    this.#metered = new Map()
    for (const { meter_id, role, logger_id = null } of meters) {
      const of = role === 'grid_connection' ? null : logger_id
      if (role === 'auxiliary' || (role === 'plant' && of === null)) continue
      this.#metered.set(meter_id, { logger_id: of, rated_w: ratedAt(of) })
    }
  }

  /** AC power of an inverter, or of all inverters of the controller of a plant. */
  onPower(inverter_id: number, power_w: number | null, now_ms: number): void {
    this.#see(power_w, this.#rated_w.get(inverter_id) ?? 0, now_ms)
  }

  /**
   * @param power_w positive when the meter measures export
   * @param batteryPower what batteries deliver behind the meter of a plant, or of all (null)
   */
  onMeter(
    meter_id: number,
    power_w: number | null,
    batteryPower: (logger_id: number | null) => number,
    now_ms: number,
  ): void {
    const metered = this.#metered.get(meter_id)
    if (!metered) return
    const { logger_id, rated_w } = metered
    const pv_w = power_w === null ? 0 : power_w - batteryPower(logger_id)
    if (pv_w <= noise_ratio * rated_w) {
      this.#metered_since_ms.delete(meter_id)
      return
    }
    const since_ms = this.#metered_since_ms.get(meter_id) ?? now_ms
    this.#metered_since_ms.set(meter_id, since_ms)
    if (now_ms - since_ms >= meter_ms) this.#see(pv_w, rated_w, now_ms)
  }

  /** At each tick. null: in the first minute after the start the clock may be confirmed yet. */
  look({ now, times, server, now_ms, lead_ms }: SunTimes): Sun | null {
    this.#since_ms ??= now_ms
    if (server !== null && Math.abs(now - server) <= agreement_ms) this.#is_confirmed = true
    const ahead_ms = Math.max(lead_ms_min, lead_ms)
    // The server's time may be neither the earliest nor the latest of three.
    const clocks = [...times, server ?? now]
    const isBelow = (elevation_deg: number) =>
      clocks.every(
        (at) => this.#isBelow(elevation_deg, at) && this.#isBelow(elevation_deg, at + ahead_ms),
      )
    const is_bright = now_ms - this.#bright_ms < bright_ms
    const is_by_sun = isBelow(night_elevation_deg)
    if (is_bright && is_by_sun && this.#is_confirmed) this.#refuted_ms = now_ms
    const is_refuted = now_ms - this.#refuted_ms < refuted_ms
    if (!isBelow(low_elevation_deg) || is_bright || is_refuted) return 'day'
    const is_settled = now_ms - this.#since_ms >= settle_ms
    if (!this.#is_confirmed) return is_settled ? 'day' : null
    const is_dark = is_settled && now_ms - this.#power_ms >= doubt_ms
    return is_dark && is_by_sun ? 'night' : 'low'
  }

  #see(power_w: number | null, rated_w: number, now_ms: number): void {
    if (power_w === null) return
    if (power_w > noise_ratio * rated_w) this.#power_ms = now_ms
    if (power_w > bright_ratio * rated_w) this.#bright_ms = now_ms
  }

  #isBelow(elevation_deg: number, at: number): boolean {
    if (!this.#place) return false
    const { latitude, longitude } = this.#place
    return solarPosition(at, latitude, longitude).elevation_deg < elevation_deg
  }
}
