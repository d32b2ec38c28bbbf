/**
 * Plants and batteries over days in virtual time: the edge's own control and dispatch, electrical
 * batteries, a sun with clouds, approved schedules, and all that goes wrong. What it did is judged
 * by what the grid, the cells and the log show. As a program: `npm run simulate-battery`.
 */

import { parseArgs } from 'node:util'
import type { Battery } from '@heliograph/domain/battery'
import type { CurtailmentRow } from '@heliograph/domain/curtailment'
import type { DispatchHour } from '@heliograph/domain/dispatch'
import { hour_ms } from '@heliograph/domain/durations'
import { inverterPower } from '../edge/battery/fixtures/mixed-polls.ts'
import {
  type BatteryPhysics,
  batteryOf,
  type FakeBattery,
  hourOf,
  type MixedSite,
  mixedSite,
} from '../edge/battery/fixtures/mixed-site.ts'
import { type Chance, chanceOf } from '../edge/control/simulation/chance.ts'
import { storedEnergyOf } from '../simulator/batteries/battery-model.ts'
import type { BatteryState } from '../simulator/batteries/battery-state.ts'
import { faultsOf, nightsText, playNights } from './battery-nights.ts'
import { electricalBattery } from './electrical-battery.ts'

export interface WeekOutcome {
  seconds: number
  charged_kwh: number
  discharged_kwh: number
  pv_kwh: number
  lost_pv_kwh: number
  reports: number
  /** Notes by who decided. */
  notes: Record<string, number>
  restarts: number
}

interface Unit {
  fake: FakeBattery
  state: BatteryState
  stored_kwh: number
  hours: DispatchHour[]
  /** The contactors are open until then. */
  open_until_ms: number
  deviates_s: number
  beyond_s: number
}

interface Week {
  site: MixedSite
  units: Unit[]
  chance: Chance
  rows: CurtailmentRow[]
  /** Hours that the server approved and the edge could not hear of yet. */
  unheard: DispatchHour[]
  is_linked: boolean
  /** Since something was permitted less, or the program began. */
  changed_ms: number
  exceeded_s: number
  outcome: WeekOutcome
  schedule_id: number
}

const site_w = 300_000
/** What a device needs to be seen, told, and to come down by its ramp. */
const coming_down_s = 25
/** What rounding of registers and the losses of a converter make of a setpoint. */
const stray_ratio = 0.03
/** So long a setpoint may differ from its schedule before the log has to say why. */
const untold_s_max = 40

/** @throws {Error} naming the second and what does not hold */
export async function playWeek(seed: number, seconds: number): Promise<WeekOutcome> {
  const week = await begin(seed)
  const { site, chance } = week
  for (let second = 0; second < seconds; second += 1) {
    if (second % 3600 === 0) plan(week)
    shine(week)
    befall(week)
    if (chance.yes(1 / 7200)) {
      week.outcome.restarts += 1
      await site.restart(1000 * chance.between(0, 40))
      week.changed_ms = site.clock.elapsedMs()
    }
    await site.pass(1)
    judge(week)
  }
  judgeBooks(week)
  return { ...week.outcome, seconds }
}

async function begin(seed: number): Promise<Week> {
  const chance = chanceOf(seed)
  const states = new Map<number, BatteryState>()
  const units: Unit[] = []
  const physicsOf = (battery: Battery): BatteryPhysics => {
    const { state, physics } = electricalBattery(battery, {
      seed,
      isOpen: () => {
        const unit = units.find(({ fake }) => fake.battery.bess_id === battery.bess_id)
        return site.clock.elapsedMs() < (unit?.open_until_ms ?? 0)
      },
    })
    states.set(battery.bess_id, state)
    return physics
  }
  const at = { connection: 'a', unit_id: 1, driver: 'sunspec' } as const
  const cells = { cluster_count: 2, modules_per_cluster: 2, cells_per_module: 16 }
  const pcs = [0, 1].map((pcs_idx) => ({ pcs_idx, rated_power_kw: 60, ...at }))
  const site: MixedSite = await mixedSite({
    plants: [
      { logger_id: 1, rated_w: [100_000, 100_000] },
      { logger_id: 2, rated_w: [80_000] },
    ],
    batteries: [
      batteryOf(1, { logger_id: 1, ...cells, pcs }),
      batteryOf(2, { rated_energy_kwh: 250, ...cells }),
    ],
    permit: permitOf(1),
    physicsOf,
  })
  for (const fake of site.batteries) {
    const state = states.get(fake.battery.bess_id)!
    const none = { open_until_ms: 0, deviates_s: 0, beyond_s: 0 }
    units.push({ fake, state, stored_kwh: storedEnergyOf(state), hours: [], ...none })
  }
  const energy = { charged_kwh: 0, discharged_kwh: 0, pv_kwh: 0, lost_pv_kwh: 0 }
  const counts = { seconds: 0, reports: 0, notes: {}, restarts: 0 }
  return {
    site,
    units,
    chance,
    rows: [],
    unheard: [],
    is_linked: true,
    schedule_id: 0,
    changed_ms: 0,
    exceeded_s: 0,
    outcome: { ...energy, ...counts },
  }
}

const permitOf = (ratio: number) => ({
  plant_w: new Map([
    [1, 180_000 * ratio],
    [2, 80_000 * ratio],
  ]),
  site_w: site_w * ratio,
})

/** Approves the next hour of each battery; some are of a newer schedule, that replaces others. */
function plan(week: Week): void {
  const { site, units, chance } = week
  const start_at = Math.floor(site.clock.now().getTime() / hour_ms) * hour_ms
  for (const unit of units) {
    const { bess_id } = unit.fake.battery
    week.schedule_id += 1
    const any = () => chance.between(-110, 110)
    const quarter_power_kw = chance.yes(0.3) ? [any(), any(), any(), any()] : null
    const { schedule_id } = week
    const when = { start_at, end_at: start_at + hour_ms }
    const power_kw = chance.yes(0.1) ? 0 : any()
    week.unheard.push(hourOf(power_kw, { bess_id, schedule_id, ...when, quarter_power_kw }))
  }
}

/** Half a sine of a day from 6 to 18 h UTC, under clouds that come and go. */
function shine({ site, chance, outcome }: Week): void {
  const day = (site.clock.now().getTime() / 86_400_000) % 1
  const height = Math.max(0, Math.sin(2 * Math.PI * (day - 0.25)))
  for (const one of site.inverters) {
    const before = one.available_w / Math.max(1, one.rated_w * height)
    const clear = chance.yes(1 / 400) ? chance.pick([1.05, 1, 0.6, 0.25]) : before
    one.available_w = one.rated_w * height * (one.available_w === 0 ? 1 : Math.min(1.05, clear))
    outcome.pv_kwh += inverterPower(one) / 3.6e6
    outcome.lost_pv_kwh += (Math.min(one.available_w, one.rated_w) - inverterPower(one)) / 3.6e6
  }
}

function befall(week: Week): void {
  const { site, units, chance } = week
  const now_ms = site.clock.elapsedMs()
  const silent = (since_ms: number | null) => {
    if (!chance.yes(since_ms === null ? 1 / 6000 : 1 / 60)) return since_ms
    return since_ms === null ? now_ms : null
  }
  for (const { fake } of units) {
    fake.silent_ms = silent(fake.silent_ms)
    for (const pcs of fake.pcs) pcs.silent_ms = silent(pcs.silent_ms)
    if (chance.yes(fake.is_frozen ? 1 / 60 : 1 / 6000)) fake.is_frozen = !fake.is_frozen
  }
  for (const unit of units) {
    if (chance.yes(1 / 9000)) unit.open_until_ms = now_ms + 1000 * chance.between(30, 300)
  }
  if (chance.yes(1 / 2500)) {
    site.permit = permitOf(chance.pick([1, 1, 0.6, 0.3]))
    week.changed_ms = now_ms
  }
  if (chance.yes(1 / 4000)) curtail(week)
  if (chance.yes(1 / 3000)) week.is_linked = !week.is_linked
  if (!week.is_linked) return
  if (week.unheard.length === 0) return
  for (const hour of week.unheard) {
    units.find(({ fake }) => fake.battery.bess_id === hour.bess_id)!.hours.push(hour)
  }
  site.hours(...week.unheard)
  week.unheard = []
}

function curtail({ site, chance, rows }: Week): void {
  const start_at = site.clock.now().getTime()
  const row: CurtailmentRow = {
    group_id: `00000000-0000-4000-8000-${String(rows.length).padStart(12, '0')}`,
    logger_id: 1,
    start_at,
    end_at: start_at + 1000 * chance.between(60, 1800),
    max_power_kw: chance.between(20, 150),
    released_at: null,
  }
  rows.push(row)
  site.row(row)
}

function judge(week: Week): void {
  judgeGrid(week)
  for (const unit of week.units) {
    judgeWindow(week, unit)
    judgeLog(week, unit)
  }
  const [fault] = week.site.faults
  if (fault) throw fault
}

/** The power at each connection, as a meter would see it. */
function judgeGrid(week: Week): void {
  const { site } = week
  const { plant_w, site_w: all_w } = site.permit!
  const sums = [...plant_w, [null, all_w!] as const].map(([logger_id, permit_w]) => {
    const isIn = (id: number | null | undefined) => logger_id === null || id === logger_id
    const pv = site.inverters.filter((one) => isIn(one.logger_id)).map(inverterPower)
    const units = site.batteries.filter(({ battery }) => isIn(battery.logger_id))
    const powers = units.flatMap(({ pcs }) => pcs.map(({ power_w }) => power_w))
    return { logger_id, permit_w, power_w: [...pv, ...powers].reduce((sum, w) => sum + w, 0) }
  })
  const over = sums.filter(({ permit_w, power_w }) => power_w > permit_w * 1.005)
  const is_coming = site.clock.elapsedMs() - week.changed_ms < 1000 * coming_down_s
  week.exceeded_s = over.length > 0 && !is_coming ? week.exceeded_s + 1 : 0
  if (week.exceeded_s <= 3) return
  const [{ logger_id, permit_w, power_w }] = over as [(typeof over)[number]]
  broken(week, `${logger_id ?? 'the site'} delivers ${power_w.toFixed(0)} W of ${permit_w}`)
}

/** No charge beyond the upper end of the window, and no discharge below the lower one. */
function judgeWindow(week: Week, unit: Unit): void {
  const { battery, pcs, physics } = unit.fake
  const power_w = pcs.reduce((sum, one) => sum + one.power_w, 0)
  const is_below = physics.soc_pct < battery.soc_min_pct && power_w > 2000
  const is_above = physics.soc_pct > battery.soc_max_pct && power_w < -2000
  unit.beyond_s = is_below || is_above ? unit.beyond_s + 1 : 0
  if (unit.beyond_s <= coming_down_s) return
  broken(week, `battery ${battery.bess_id} at ${physics.soc_pct.toFixed(1)} % has ${power_w} W`)
}

/** Whatever is not as its schedule asks is in the log, with who decided that and why. */
function judgeLog(week: Week, unit: Unit): void {
  const { site } = week
  const { battery, pcs } = unit.fake
  const told_w = pcs.reduce((sum, one) => sum + (one.setpoint_w ?? 0), 0)
  const asked_w = askedOf(unit, site.clock.now().getTime())
  const stray_w = Math.abs(told_w - asked_w)
  const rated_w = 1000 * battery.rated_discharge_power_kw
  unit.deviates_s = stray_w > stray_ratio * rated_w ? unit.deviates_s + 1 : 0
  const is_new = site.clock.elapsedMs() - week.changed_ms < 1000 * untold_s_max
  if (unit.deviates_s <= untold_s_max || is_new) return
  const note = site.notes.findLast(({ bess_id }) => bess_id === battery.bess_id)
  const is_told = note && note.tier !== 'dispatch' && note.overrode_tier === 'dispatch'
  const report = site.reports.findLast(({ bess_id }) => bess_id === battery.bess_id)
  if (is_told || report?.failure_code != null) return
  broken(week, `battery ${battery.bess_id} is told ${told_w} of ${asked_w} W, and nothing says why`)
}

/** What the newest schedule that the edge heard of asks for, W. */
function askedOf({ hours }: Unit, now: number): number {
  const hour = hours.findLast(({ start_at, end_at }) => now >= start_at && now < end_at)
  if (!hour) return 0
  const quarter = Math.floor((4 * (now - hour.start_at)) / hour_ms)
  return 1000 * (hour.quarter_power_kw?.[quarter] ?? hour.power_kw)
}

function judgeBooks(week: Week): void {
  const { site, units, outcome } = week
  for (const { fake, state, stored_kwh } of units) {
    const { totals } = state
    const booked_kwh =
      totals.absorbed_kwh -
      totals.injected_kwh -
      totals.conversion_loss_kwh -
      totals.heat_kwh -
      totals.balancing_kwh -
      totals.faded_kwh
    const difference_kwh = storedEnergyOf(state) - stored_kwh - booked_kwh
    const { bess_id } = fake.battery
    if (Math.abs(difference_kwh) > 1e-6) broken(week, `${difference_kwh} kWh out of nowhere`)
    outcome.charged_kwh += totals.absorbed_kwh
    outcome.discharged_kwh += totals.injected_kwh
    const reports = site.reports.filter((one) => one.bess_id === bess_id)
    outcome.reports += new Set(reports.map(({ issued_at }) => issued_at)).size
  }
  for (const { clamp_reason, clamped_power_kw } of site.reports) {
    if (clamp_reason !== null && clamped_power_kw === null) broken(week, 'a clamp without power')
  }
  for (const { tier, reason_code, message } of site.notes) {
    outcome.notes[tier] = (outcome.notes[tier] ?? 0) + 1
    if (!reason_code || !message) broken(week, 'a note without a reason')
  }
}

function broken({ site }: Week, what: string): never {
  throw new Error(`${site.clock.elapsedMs() / 1000} s: ${what}`)
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      site: { type: 'string', default: 'faults' },
      days: { type: 'string', default: '7' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    },
  })
  const seed = Number(values.seed)
  const seconds = Number(values.days) * 86_400
  process.stdout.write(`seed ${seed}\n`)
  if (values.site === 'nights') {
    const outcome = await playNights(seed, { seconds })
    process.stdout.write(nightsText(outcome))
    process.exitCode = faultsOf(outcome).length > 0 ? 1 : 0
  } else {
    const outcome = await playWeek(seed, seconds)
    process.stdout.write(`${JSON.stringify(outcome, null, 2)}\n`)
  }
}
