/**
 * Days without a fault at a plant whose inverters are rated at 150 % of its permit, half of them
 * silent at night, with a battery as large as the permit at the same connection. The grid, the
 * alerts, the proof and the battery's schedule judge the edge.
 */
import { hour_ms } from '@heliograph/domain/durations'
import type { LinkEvent } from '@heliograph/domain/link'
import { solarPosition } from '@heliograph/physics/solar-position'
import { inverterPower } from '../edge/battery/fixtures/mixed-polls.ts'
import {
  batteryOf,
  type FakeInverter,
  hourOf,
  type MixedSite,
  mixedSite,
} from '../edge/battery/fixtures/mixed-site.ts'
import { Proof, type Verdict } from '../edge/control/proof.ts'
import { verdictText } from '../edge/control/proof-text.ts'
import { type Chance, chanceOf } from '../edge/control/simulation/chance.ts'
import { electricalBattery } from './electrical-battery.ts'

export interface NightsOutcome {
  begins: string
  seconds: number
  alerts: LinkEvent[]
  verdict: Verdict
  /** Words of `heliograph-edge proof`. */
  proof: string
  /** Highest power at the connection, percent of the permit. */
  power_max_pct: number
  pv_kwh: number
  evening_peak: Peak
  /** The hours of the peak in which no inverter can deliver. */
  evening_peak_in_the_dark: Peak
  /** Longest time at dawn in which limits held PV back below the permit, by its light. */
  held_back_s: { twilight: number; usable_light: number }
  /** Limits and battery together as usable light begins, percent of the permit; the least. */
  limits_at_light_pct: number | null
  falls_asleep: number
  brown_outs: number
}

interface Peak {
  scheduled_kwh: number
  /** What the cells and, beside the inverters, the permit leave of it. */
  possible_kwh: number
  discharged_kwh: number
}

/** Of `siteOf`. */
const place = { latitude: 48, longitude: 12 }
const permit_w = 200_000
const inverter_w = 75_000
const inverter_count = 4
/** Below this part of its rating an inverter stops; above it, it starts. */
const least_ratio = 0.003
/** Grid and insulation are checked for a minute at least (VDE-AR-N 4105, 8.3.1), often longer. */
const start_s = [60, 300] as const
/** VDE-AR-N 4105, 8.3.1: after a start power rises by a tenth of the rating in a minute. */
const start_ramp_per_s = 0.1 / 60
/** UTC: 18 to 22 h by the clock on the wall in winter. */
const peak_hours = [17, 18, 19, 20]
const morning_hours = [2, 3, 4, 5, 6]
const charging_hours = [8, 9, 10, 11, 12, 13]
/** Elevation from which inverters are no longer asleep under any clouds, as the edge has it. */
const usable_light_deg = 5
const night_deg = -6
const noon_hour = 11
const look_s = 10
/** An inverter that wakes is read within this, raised, and read again. */
const held_back_s_max = 30
/** Part of the permit that stays with inverters that answer, at night too (battery-room.ts). */
const headroom_ratio = 0.07
/** Readings of PV within this time are no night to the edge. */
const dark_s = 3600

interface Device {
  fake: FakeInverter
  sleeps: boolean
  forgets: boolean
  /** Asleep or starting: seconds until it feeds in; null: it has too little light to start. */
  starts_in_s: number | null
  is_running: boolean
  /** Bound of a start, W. */
  ramp_w: number
  brown_out_s: number
  cloud: number
}

interface Nights {
  site: MixedSite
  chance: Chance
  devices: Device[]
  elevation_deg: number
  dark_for_s: number
  held_s: number
  asked_w: number
  answering_s: number
  /** Usable light has begun, and the limits are not judged yet. */
  is_light_due: boolean
  /** Most of the permit that was in use since then. */
  light_pct: number
  outcome: Omit<NightsOutcome, 'verdict' | 'proof' | 'alerts'>
}

/** @throws {Error} naming the second and what does not hold */
export async function playNights(
  seed: number,
  { seconds, begins }: { seconds: number; begins?: string },
): Promise<NightsOutcome> {
  const nights = await begin(seed, begins)
  const { site, outcome } = nights
  for (let second = 0; second < seconds; second += 1) {
    if (second % 3600 === 0) plan(nights)
    if (second % look_s === 0) look(nights)
    for (const device of nights.devices) shine(nights, device)
    await site.pass(1)
    judge(nights)
  }
  const alerts = site.events.filter(({ edge }) => edge === 'rising')
  const verdict = proofOf(site)
  return { ...outcome, seconds, alerts, verdict, proof: verdictText(verdict, []).trim() }
}

async function begin(seed: number, begins?: string): Promise<Nights> {
  const chance = chanceOf(seed)
  const month = String(chance.between(1, 12)).padStart(2, '0')
  const start = begins ?? `2026-${month}-${chance.between(10, 21)}T10:00:00Z`
  const pcs = [0, 1].map((pcs_idx) => {
    return { pcs_idx, rated_power_kw: 100, connection: 'a', unit_id: 1, driver: 'sunspec' as const }
  })
  const site = await mixedSite({
    begins: start,
    plants: [{ logger_id: 1, rated_w: new Array<number>(inverter_count).fill(inverter_w) }],
    batteries: [
      batteryOf(1, {
        logger_id: 1,
        rated_energy_kwh: 1200,
        rated_charge_power_kw: 200,
        rated_discharge_power_kw: 200,
        cluster_count: 1,
        modules_per_cluster: 2,
        cells_per_module: 16,
        pcs,
      }),
    ],
    permit: { plant_w: new Map([[1, permit_w]]), site_w: permit_w },
    physicsOf: (battery) => electricalBattery(battery, { seed }).physics,
    serverNow: (elapsed_ms) => Date.parse(start) + elapsed_ms,
  })
  const devices = site.inverters.map((fake, nth): Device => {
    const rest = { starts_in_s: 0, is_running: false, ramp_w: 0, brown_out_s: 0, cloud: 1 }
    // Of the silent half, one keeps its limit without power.
    return { fake, sleeps: nth % 2 === 0, forgets: nth !== 0, ...rest }
  })
  const peak = () => ({ scheduled_kwh: 0, possible_kwh: 0, discharged_kwh: 0 })
  const outcome: Nights['outcome'] = {
    begins: start,
    seconds: 0,
    power_max_pct: 0,
    pv_kwh: 0,
    evening_peak: peak(),
    evening_peak_in_the_dark: peak(),
    held_back_s: { twilight: 0, usable_light: 0 },
    limits_at_light_pct: null,
    falls_asleep: 0,
    brown_outs: 0,
  }
  const none = {
    elevation_deg: 0,
    dark_for_s: 0,
    held_s: 0,
    asked_w: 0,
    answering_s: 0,
    is_light_due: false,
    light_pct: 0,
  }
  return { site, chance, devices, outcome, ...none }
}

const hourAt = (at: number) => new Date(at).getUTCHours()
const elevationAt = (at: number) => solarPosition(at, place.latitude, place.longitude).elevation_deg

/** The hour that begins: the evening peak, some power before dawn, and a charge around noon. */
function plan(nights: Nights): void {
  const { site, chance } = nights
  const start_at = site.clock.now().getTime()
  const end_at = start_at + hour_ms
  const power_kw = powerIn(hourAt(start_at), chance)
  nights.asked_w = 1000 * power_kw
  site.hours(hourOf(power_kw, { schedule_id: start_at / hour_ms, start_at, end_at }))
}

function powerIn(hour: number, chance: Chance): number {
  if (peak_hours.includes(hour)) return chance.pick([200, 190, 180])
  if (morning_hours.includes(hour)) return chance.pick([0, 60, 200])
  return charging_hours.includes(hour) ? -chance.pick([180, 200]) : 0
}

/** Where the sun is; as usable light begins, all limits are to be up again. */
function look(nights: Nights): void {
  const { site, outcome } = nights
  const was_low = nights.elevation_deg < usable_light_deg
  nights.elevation_deg = elevationAt(site.clock.now().getTime())
  const is_low = nights.elevation_deg < usable_light_deg
  const is_morning = hourAt(site.clock.now().getTime()) < noon_hour
  if (is_morning && was_low && !is_low) nights.is_light_due = true
  const all_answer = site.inverters.every(({ silent_ms }) => silent_ms === null)
  nights.answering_s = all_answer ? nights.answering_s + look_s : 0
  // One whose start broke down at this moment has to be back first.
  if (!nights.is_light_due || nights.answering_s < held_back_s_max) return
  const limits_w = sum(site.inverters.map(({ limit_w, rated_w }) => limit_w ?? rated_w))
  const limits_pct = (100 * (limits_w + Math.max(0, batteryPower(site)))) / permit_w
  // Between the lower of one and the raise of another less is in use, for seconds.
  nights.light_pct = Math.max(nights.light_pct, limits_pct)
  if (nights.answering_s < 2 * held_back_s_max) return
  outcome.limits_at_light_pct = Math.min(outcome.limits_at_light_pct ?? 100, nights.light_pct)
  Object.assign(nights, { is_light_due: false, light_pct: 0 })
}

const batteryPower = ({ batteries }: MixedSite): number =>
  sum(batteries.flatMap(({ pcs }) => pcs.map(({ power_w }) => power_w)))

/** One second of light, sleep and start of an inverter. */
function shine({ site, chance, elevation_deg, outcome }: Nights, device: Device): void {
  const { fake, sleeps } = device
  const { rated_w } = fake
  if (chance.yes(1 / 600)) device.cloud = chance.pick([1.05, 1, 0.9, 0.6, 0.25])
  // Haze takes most of the light of a low sun.
  const height = Math.max(0, Math.sin((elevation_deg * Math.PI) / 180))
  const light_w = 1.2 * rated_w * height ** 1.2 * device.cloud
  const had_light = device.is_running || device.starts_in_s !== null
  if (device.brown_out_s > 0) device.brown_out_s -= 1
  const is_dim = elevation_deg < usable_light_deg && device.is_running
  if (sleeps && is_dim && chance.yes(1 / 1500)) {
    // Too little light for what the start draws: DC power breaks down.
    device.brown_out_s = chance.between(20, 180)
    outcome.brown_outs += 1
  }
  const has_light =
    device.brown_out_s === 0 && light_w > least_ratio * rated_w * (had_light ? 1 : 1.5)
  if (!has_light) {
    if (had_light) fallAsleep(device, site.clock.elapsedMs(), outcome)
    fake.available_w = 0
    return
  }
  if (!device.is_running) {
    device.starts_in_s ??= chance.between(...start_s)
    // Its processor has power, and answers, before it feeds in.
    if (fake.silent_ms !== null && device.starts_in_s < start_s[0]) wake(device)
    device.starts_in_s -= 1
    if (device.starts_in_s > 0) return
    if (fake.silent_ms !== null) wake(device)
    Object.assign(device, { is_running: true, starts_in_s: null, ramp_w: 0 })
  }
  device.ramp_w = Math.min(rated_w, device.ramp_w + start_ramp_per_s * rated_w)
  fake.available_w = Math.min(rated_w, light_w, device.ramp_w)
  outcome.pv_kwh += inverterPower(fake) / 3.6e6
}

function fallAsleep(device: Device, now_ms: number, outcome: Nights['outcome']): void {
  Object.assign(device, { is_running: false, starts_in_s: null })
  if (!device.sleeps) return
  device.fake.silent_ms = now_ms
  outcome.falls_asleep += 1
}

function wake({ fake, forgets }: Device): void {
  fake.silent_ms = null
  if (!forgets) return
  fake.limit_w = null
  fake.falls_to_w = fake.rated_w
}

function judge(nights: Nights): void {
  const { site, outcome, devices } = nights
  const pv_w = sum(devices.map(({ fake }) => inverterPower(fake)))
  const battery_w = batteryPower(site)
  outcome.power_max_pct = Math.max(outcome.power_max_pct, (100 * (pv_w + battery_w)) / permit_w)
  nights.dark_for_s = pv_w > 0.01 * inverter_w ? 0 : nights.dark_for_s + 1
  judgePeak(nights, { pv_w, battery_w })
  judgeDawn(nights, pv_w + Math.max(0, battery_w))
  const [fault] = site.faults
  if (fault) throw new Error(`${site.clock.now().toISOString()}: ${fault.message}`)
}

function judgePeak(
  nights: Nights,
  { pv_w, battery_w }: Record<'pv_w' | 'battery_w', number>,
): void {
  const { site, outcome, asked_w, elevation_deg, dark_for_s } = nights
  if (!peak_hours.includes(hourAt(site.clock.now().getTime() - 1))) return
  const { battery, physics } = site.batteries[0]!
  const is_empty = physics.soc_pct <= battery.soc_min_pct + 1
  const possible_w = is_empty ? 0 : Math.min(asked_w, physics.max_discharge_w, permit_w - pv_w)
  const is_dark = elevation_deg < night_deg && dark_for_s > dark_s
  const peaks = is_dark
    ? [outcome.evening_peak, outcome.evening_peak_in_the_dark]
    : [outcome.evening_peak]
  for (const peak of peaks) {
    peak.scheduled_kwh += asked_w / 3.6e6
    peak.possible_kwh += possible_w / 3.6e6
    peak.discharged_kwh += Math.max(0, battery_w) / 3.6e6
  }
}

/** In the morning no limit holds PV back while the connection has room. */
function judgeDawn(nights: Nights, power_w: number): void {
  const { site, devices, elevation_deg, outcome } = nights
  const is_morning =
    hourAt(site.clock.now().getTime()) < noon_hour && elevation_deg < 2 * usable_light_deg
  const has_room = power_w < 0.9 * permit_w
  const is_held = devices.some(
    ({ fake }) => inverterPower(fake) < fake.available_w - 0.01 * fake.rated_w,
  )
  nights.held_s = is_morning && has_room && is_held ? nights.held_s + 1 : 0
  const light = elevation_deg < usable_light_deg ? 'twilight' : 'usable_light'
  const { held_back_s } = outcome
  held_back_s[light] = Math.max(held_back_s[light], nights.held_s)
}

function proofOf({ entries, clock }: MixedSite): Verdict {
  const now = clock.now().getTime()
  // The first limits come down by the ramp of each device.
  const proof = new Proof({ from_at: entries[0]!.at + 60_000, to_at: now }, now)
  for (const entry of entries) proof.take(entry)
  return proof.end()
}

export function nightsText(outcome: NightsOutcome): string {
  const { alerts, verdict: _, proof, ...figures } = outcome
  const faults = faultsOf(outcome)
  return [
    JSON.stringify(figures, null, 2),
    `${alerts.length} alerts`,
    ...alerts.map(({ at, code, message }) => `${new Date(at).toISOString()} ${code}: ${message}`),
    proof,
    ...(faults.length > 0 ? faults.map((what) => `FAULT ${what}`) : ['As it must be.']),
    '',
  ].join('\n')
}

/** What a day without a fault must not show. */
export function faultsOf(outcome: NightsOutcome): string[] {
  const { alerts, verdict, power_max_pct, held_back_s, limits_at_light_pct } = outcome
  const { evening_peak_in_the_dark: dark } = outcome
  const claims: [boolean, string][] = [
    [alerts.length === 0, `${alerts.length} alerts, the first ${alerts[0]?.message}`],
    [verdict.is === 'kept' && verdict.coming_down.length === 0, outcome.proof],
    [power_max_pct <= 100.1, `${power_max_pct} % of the permit`],
    [
      dark.discharged_kwh >= (1 - headroom_ratio) * dark.possible_kwh,
      `${dark.discharged_kwh} of ${dark.possible_kwh} kWh in the dark part of the evening peak`,
    ],
    [
      limits_at_light_pct === null || limits_at_light_pct > 100 * (1 - headroom_ratio),
      `limits and battery come to ${limits_at_light_pct} % as usable light begins`,
    ],
    [
      held_back_s.usable_light <= held_back_s_max,
      `PV was held back for ${held_back_s.usable_light} s of usable light`,
    ],
  ]
  return claims.flatMap(([holds, what]) => (holds ? [] : [what]))
}

const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0)
