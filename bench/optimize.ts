/**
 * Revenue of battery plans, and the time to compute them.
 *
 * First, real day-ahead prices in each market: each day is planned on its own prices and starts
 * with the state of charge that the day before left. The peer is the rule "charge in the cheapest
 * hours, discharge in the dearest" with the same battery, losses and limits, and with the best
 * number of hours for each day. Days with a hole and days of 23 and 25 hours are left out. The
 * bench fails if the rule earns more.
 *
 * There is no real year of quarter hours: for the times, hourly prices of 2024 are split into
 * quarters with the deviations of quarters from their hour in late 2025.
 *
 * Then the time for one unit-day of quarter hours, and for 50 units of one site, compared with
 * glpsol, which gets the whole problem of the same instances.
 */

import { existsSync, readFileSync } from 'node:fs'
import { day_ms } from '@heliograph/domain/durations'
import { followCourse } from '@heliograph/optimize/course'
import { planDispatch } from '@heliograph/optimize/dispatch'
import type { DispatchProblem, Unit } from '@heliograph/optimize/dispatch-problem'
import { solveByGlpsol, wholeProgramme } from '@heliograph/optimize/fixtures/whole-programme'
import { measure } from '@heliograph/optimize/goals'
import { loadSolver } from '@heliograph/optimize/solver'
import { battery, periodsOf, problemOf as problemOn } from '../scripts/battery-problem.ts'
import { type PriceData, readMarketDays } from '../scripts/price-replay.ts'
import { median, timesOf } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'

const limits = { median_ms: 100, worst_ms: 1000, site_ms: 2000 }
const folder = new URL('../../shared/data/prices/', import.meta.url)
const print = (line: string) => process.stdout.write(`${line}\n`)

if (!existsSync(folder)) {
  print('NOT MEASURED: the price series are not there')
  process.exit(0)
}
const highs = await loadSolver()

const unit: Unit = { ...battery, soc_start_pct: 5, soc_end_pct: 5 }

type Day = number[]

const problemOf = (day: Day, units: readonly Unit[] = [unit]): DispatchProblem =>
  problemOn(periodsOf(day, { from_ms: 0, length_ms: day_ms / day.length }), units)

let failed = false
const within = (name: string, ms: number, most_ms: number) => {
  if (ms > most_ms) failed = true
  const limit = Number.isFinite(most_ms) ? ` (limit ${most_ms})` : ''
  return `${name} ${ms.toFixed(1)} ms${limit}${ms > most_ms ? ' TOO SLOW' : ''}`
}

print('earned by 1 MW and 2 MWh, day after day, against the rule, in the currency of the prices')
printRow('', 'days', 'periods', 'ours', 'rule', ['more', 'even days', 'median ms', 'worst ms'])
for (const [market, days] of markets()) {
  earnings(market, days.slice(0, quickOr(3, days.length)))
}
print('for the times: hours of 2024 cut into quarters as those of late 2025 differ (synthetic)')
const quarters = quarterDays().slice(0, quickOr(2, Number.POSITIVE_INFINITY))
await unitDays(quarters)
await wholeSite(quarters)
process.exit(failed ? 1 : 0)

/** Day after day on its own prices, each starting with the charge that the day before left. */
function earnings(market: string, days: readonly Day[]): void {
  let [ours, rule, even] = [0, 0, 0]
  let [our_pct, rule_kwh] = [unit.soc_start_pct, 0]
  const times = days.map((day) => {
    const now = { ...unit, soc_start_pct: our_pct }
    const problem = problemOf(day, [now])
    const began = performance.now()
    const { units, status, demands } = planDispatch(highs, problem)
    const ms = performance.now() - began
    const { power_kw } = units[0]!
    const { hindered, soc_pct } = followCourse(now, problem.periods, power_kw)
    if (status !== 'optimal' || demands !== 'met' || hindered)
      throw new Error(`${market}: ${status}, ${demands}, ${hindered?.by}`)
    our_pct = Math.min(unit.soc_max_pct, Math.max(unit.soc_min_pct, soc_pct.at(-1)!))
    const earned = -measure(problem, units, 'money')
    const ruled = bestRuled(problem, rule_kwh)
    rule_kwh = ruled.kwh
    if (Math.abs(ruled.earned - earned) < 0.02) even += 1
    ours += earned
    rule += ruled.earned
    return ms
  })
  if (ours < rule) failed = true
  printRow(market, days.length, days[0]!.length, ours.toFixed(0), rule.toFixed(0), [
    `${((ours / rule - 1) * 100).toFixed(1)} %${ours < rule ? ' WORSE' : ''}`,
    even,
    median(times).toFixed(1),
    Math.max(...times).toFixed(1),
  ])
}

function printRow(name: string, ...cells: (string | number | (string | number)[])[]): void {
  print(
    name.padEnd(18) +
      cells
        .flat()
        .map((cell) => String(cell).padStart(11))
        .join(''),
  )
}

/**
 * The rule's best day, over how many periods it charges and discharges in: the cheapest, in their
 * order, and as many as needed of the dearest to give back, at what the battery can in each.
 */
function bestRuled(problem: DispatchProblem, from_kwh: number): { earned: number; kwh: number } {
  const { periods } = problem
  const order = periods.map((_, nth) => nth)
  const byPrice = order.toSorted((a, b) => periods[a]!.price! - periods[b]!.price!)
  let best = { earned: 0, kwh: from_kwh }
  for (let count = 0; count <= periods.length / 2; count += 1) {
    for (const share of [0.8, 0.9, 1, 1.1, 1.2]) {
      const charging = new Set(byPrice.slice(0, count))
      const discharging = new Set(byPrice.slice(-Math.max(1, Math.round(count * share))))
      const { power_kw, kwh } = followRule(problem, { charging, discharging, from_kwh })
      const earned = -measure(problem, [{ bess_id: 1, power_kw }], 'money')
      if (earned > best.earned) best = { earned, kwh }
    }
  }
  return best
}

interface Ruled {
  charging: ReadonlySet<number>
  discharging: ReadonlySet<number>
  /** Above the least state of charge. */
  from_kwh: number
}

function followRule({ periods }: DispatchProblem, { charging, discharging, from_kwh }: Ruled) {
  const { capacity_kwh, charge_efficiency, discharge_efficiency, soc_min_pct, soc_max_pct } = unit
  const room_kwh = (capacity_kwh * (soc_max_pct - soc_min_pct)) / 100
  let kwh = from_kwh
  const power_kw = periods.map(({ start_ms, end_ms }, nth) => {
    const hours = (end_ms - start_ms) / 3_600_000
    const added_kwh = charging.has(nth)
      ? Math.min(1000 * hours * charge_efficiency, room_kwh - kwh)
      : 0
    const drawn_kwh = discharging.has(nth)
      ? Math.min((1000 * hours) / discharge_efficiency, kwh)
      : 0
    kwh += added_kwh - drawn_kwh
    return (drawn_kwh * discharge_efficiency - added_kwh / charge_efficiency) / hours
  })
  return { power_kw, kwh }
}

async function unitDays(days: readonly Day[]): Promise<void> {
  const curved: Unit = {
    ...unit,
    charge_limits: [
      { soc_pct: 80, power_kw: 1000 },
      { soc_pct: 100, power_kw: 200 },
    ],
    discharge_limits: [
      { soc_pct: 0, power_kw: 200 },
      { soc_pct: 15, power_kw: 1000 },
    ],
    cycles_max: 1.5,
  }
  planDispatch(highs, problemOf(days[0]!, [curved]))
  const took = await timesOf((nth) => planDispatch(highs, problemOf(days[nth]!, [curved])), {
    rounds: days.length,
  })
  print(
    `unit-day of quarter hours, ${days.length} days: ` +
      `${within('median', median(took), limits.median_ms)}, ` +
      `${within('worst', Math.max(...took), limits.worst_ms)}`,
  )
  await besideGlpsol('the 5 that took longest', days, took, curved)
}

async function besideGlpsol(
  name: string,
  days: readonly Day[],
  took: readonly number[],
  one: Unit,
): Promise<void> {
  const longest = days
    .map((_, nth) => nth)
    .toSorted((a, b) => took[b]! - took[a]!)
    .slice(0, 5)
  for (const nth of longest) {
    const problem = problemOf(days[nth]!, [one])
    const money = measure(problem, planDispatch(highs, problem).units, 'money')
    const peer = await glpsolWords(problem)
    print(
      `  ${name}, day ${nth}: ours ${took[nth]!.toFixed(0)} ms for ${(-money).toFixed(3)}; ${peer}`,
    )
  }
}

/** Time of glpsol for the whole problem, and the revenue of its plan. */
async function glpsolWords(problem: DispatchProblem): Promise<string> {
  if (!existsSync('/usr/bin/glpsol')) return 'NOT MEASURED: glpsol is not there'
  const peer = await solveByGlpsol(wholeProgramme(problem, 'money'), 20)
  if (!peer) return 'glpsol nothing in 20 s'
  const proven = peer.isOptimal ? '' : ' (not proven in 20 s)'
  return `glpsol ${peer.seconds.toFixed(3)} s for ${(-peer.value).toFixed(3)}${proven}`
}

async function wholeSite(days: readonly Day[]): Promise<void> {
  const units = Array.from({ length: quickOr(2, 50) }, (_, nth) => ({
    ...unit,
    bess_id: nth + 1,
    capacity_kwh: 2000 + nth * 20,
    soc_start_pct: 5 + nth / 2,
  }))
  const lowest = (day: Day) => Math.min(...day)
  const negative = days.toSorted((a, b) => lowest(a) - lowest(b))[0]!
  const lower = negative.map((price) => price - 60)
  // Prices far below zero for hours need binaries for each unit: shown, without a limit.
  for (const [name, day, most_ms] of [
    ['a day', days[0]!, limits.site_ms],
    ['the most negative day', negative, limits.site_ms],
    ['that day with 60 less (invented)', lower, Number.POSITIVE_INFINITY],
  ] as const) {
    const problem = { ...problemOf(day, units), export_limit_kw: 30_000, import_limit_kw: 35_000 }
    const began = performance.now()
    const plan = planDispatch(highs, problem)
    const ms = performance.now() - began
    const money = -measure(problem, plan.units, 'money')
    print(
      `${units.length} units of one site, 96 quarters, ${name}, down to ${lowest(day).toFixed(1)}: ` +
        `${within('ours', ms, most_ms)} for ${money.toFixed(2)}, ${plan.status}, ` +
        `gap ${plan.gap_pct} %, ${plan.solves} programmes, ` +
        `${plan.binaries} binaries; ${await glpsolWords(problem)}`,
    )
  }
}

function linesOf(file: string): string[][] {
  const text = readFileSync(new URL(file, folder), 'utf8')
  return text
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(','))
}

/** Whole days of local time, in order; days of 23 or 25 hours and days with holes are left out. */
function daysOf(rows: readonly (readonly [string, string])[], length: number): Day[] {
  const days = Map.groupBy(rows, ([at]) => at.slice(0, 10))
  return [...days.values()]
    .filter((day) => day.length === length && day.every(([, price]) => price !== ''))
    .map((day) => day.map(([, price]) => Number(price)))
}

function markets(): [string, Day[]][] {
  const [head, ...europe] = linesOf('europe_hourly_2023_cet.csv')
  const of2023 = head!.slice(1).map((name, nth): [string, Day[]] => {
    const rows = europe.map((row) => [row[0]!, row[nth + 1]!] as const)
    return [`${name} 2023`, daysOf(rows, 24).slice(0, 365)]
  })
  return [
    ...of2023,
    ['DE 2016', lastYear('de')],
    ['BG 2024', lastYear('bg')],
    ['BG 2025, quarters', quarterHours()],
  ]
}

/** The last 365 days of 24 hours. */
function lastYear(data: PriceData): Day[] {
  return readMarketDays(data)!
    .map(({ periods }) => periods.map(({ price_per_mwh }) => price_per_mwh!))
    .filter(({ length }) => length === 24)
    .slice(-365)
}

function quarterHours(): Day[] {
  const [, ...rows] = linesOf('ibex_bg_15min_2025-10_2025-12.csv')
  return daysOf(
    rows.map((row) => [row[0]!, row[2]!]),
    96,
  )
}

/** 365 days: the hours of 2024, each with the differences of its quarters in a day of 2025. */
function quarterDays(): Day[] {
  const patterns = quarterHours()
  return lastYear('bg').map((day, nth) => {
    const pattern = patterns[nth % patterns.length]!
    return pattern.map((price, at) => {
      const hour = Math.floor(at / 4)
      const mean = pattern.slice(hour * 4, hour * 4 + 4).reduce((sum, each) => sum + each) / 4
      return Math.round((day[hour]! + price - mean) * 100) / 100
    })
  })
}
