import {
  addSlack,
  type DispatchModel,
  type UnitColumns,
  wear_per_mwh,
  weights,
} from './dispatch-model.ts'
import {
  drawnMaxKwh,
  hoursOf,
  type LimitLine,
  type LimitPoint,
  limitLines,
  mostOf,
  type Period,
  rampMaxKw,
  type Unit,
} from './dispatch-problem.ts'
import type { Term } from './linear-program.ts'

export function addUnit(model: DispatchModel, unit: Unit): void {
  const columns: UnitColumns = { unit, charge: [], discharge: [], energy_kwh: [] }
  const window = windowOf(unit)
  model.units.push(columns)
  model.problem.periods.forEach((period, nth) => {
    const before = columns.energy_kwh.at(-1)
    addPower(model, columns, period, nth)
    const outside = addEnergy(model, columns, { before, window, period })
    addLimits(model, columns, { before, window, outside })
    addHull(model, columns, { before, window, period })
    addRamp(model, columns, nth)
  })
  addEnd(model, columns)
  addCycles(model, columns)
}

interface Window {
  min_kwh: number
  max_kwh: number
  start_kwh: number
}

/** Range of charging and discharging: the window of plans, with both limits above 0. */
function windowOf(unit: Unit): Window {
  const { capacity_kwh, soc_start_pct } = unit
  let { soc_min_pct, soc_max_pct } = unit
  for (const { at_zero_kw, kw_per_pct } of limitLines(unit.charge_limits)) {
    if (kw_per_pct < 0) soc_max_pct = Math.min(soc_max_pct, -at_zero_kw / kw_per_pct)
  }
  for (const { at_zero_kw, kw_per_pct } of limitLines(unit.discharge_limits)) {
    if (kw_per_pct > 0) soc_min_pct = Math.max(soc_min_pct, -at_zero_kw / kw_per_pct)
  }
  const kwh = (soc_pct: number) => (soc_pct * capacity_kwh) / 100
  return { min_kwh: kwh(soc_min_pct), max_kwh: kwh(soc_max_pct), start_kwh: kwh(soc_start_pct) }
}

/** True if the unit begins outside its window, to which it returns first. */
export function isOutside(unit: Unit): boolean {
  const { min_kwh, max_kwh, start_kwh } = windowOf(unit)
  return start_kwh < min_kwh || start_kwh > max_kwh
}

function addPower(model: DispatchModel, columns: UnitColumns, period: Period, nth: number): void {
  const { program, pairs, wear } = model
  const { unit } = columns
  const hours = hoursOf(period)
  const fixed_kw = unit.fixed_kw?.[nth] ?? null
  const room = unit.room_kw?.[nth]
  // Bounded by filling and emptying, which keeps the separation of the two tight.
  const fill_kw = unit.capacity_kwh / hours
  const most = (points: readonly LimitPoint[], share: number, room_kw: number) => {
    if (fixed_kw === null && period.price === null) return 0
    return Math.min(mostOf(points), fill_kw * share, fixed_kw === null ? room_kw : Infinity)
  }
  const from_kw = most(unit.charge_limits, 1 / unit.charge_efficiency, -(room?.min_kw ?? -Infinity))
  const to_kw = most(unit.discharge_limits, unit.discharge_efficiency, room?.max_kw ?? Infinity)
  const charge = program.column({
    upper: fixed_kw === null ? from_kw : Math.min(from_kw, Math.max(0, -fixed_kw)),
  })
  const discharge = program.column({
    upper: fixed_kw === null ? to_kw : Math.min(to_kw, Math.max(0, fixed_kw)),
  })
  columns.charge.push(charge)
  columns.discharge.push(discharge)
  wear.push([charge, wear_per_mwh * hours], [discharge, wear_per_mwh * hours])
  if (fixed_kw === null && from_kw > 0 && to_kw > 0) {
    const { charge_efficiency, discharge_efficiency } = unit
    pairs.push({
      one: charge,
      one_share: charge_efficiency,
      other: discharge,
      other_share: 1 / discharge_efficiency,
    })
  }
  if (fixed_kw !== null && fixed_kw !== 0) {
    const less = addSlack(model, {
      violation: { constraint: 'fixed_power', bess_id: unit.bess_id, period: nth },
      weight: weights.fixed * hours,
      share: 1,
    })
    program.row(
      [
        [fixed_kw > 0 ? discharge : charge, 1],
        [less, 1],
      ],
      { lower: Math.abs(fixed_kw), upper: Math.abs(fixed_kw) },
    )
  }
}

/** Energy below and above its window, for a unit that begins outside. */
type Outside = Term[]

function addEnergy(
  model: DispatchModel,
  columns: UnitColumns,
  { before, window, period }: { before: number | undefined; window: Window; period: Period },
): Outside {
  const { program } = model
  const { unit, charge, discharge } = columns
  const { min_kwh, max_kwh, start_kwh } = window
  const hours = hoursOf(period)
  const energy_kwh = program.column({
    lower: Math.min(min_kwh, start_kwh),
    upper: Math.max(max_kwh, start_kwh),
  })
  const from_kwh = before === undefined ? start_kwh : 0
  program.row(
    [
      [energy_kwh, 1],
      [charge.at(-1)!, -unit.charge_efficiency * hours],
      [discharge.at(-1)!, hours / unit.discharge_efficiency],
      ...(before === undefined ? [] : [[before, -1] as const]),
    ],
    { lower: from_kwh, upper: from_kwh },
  )
  columns.energy_kwh.push(energy_kwh)
  if (!isOutside(unit)) return []
  const weight = weights.outside * hours
  const outside = addSlack(model, { violation: null, weight, share: 1 })
  const sign = start_kwh < min_kwh ? 1 : -1
  const bound = sign > 0 ? { lower: min_kwh } : { upper: max_kwh }
  program.row(
    [
      [energy_kwh, 1],
      [outside, sign],
    ],
    bound,
  )
  return [[outside, sign]]
}

/**
 * Limits at the state of charge before and after a period; the tighter of the two applies, as
 * charging raises it.
 */
function addLimits(
  { program }: DispatchModel,
  { unit, charge, discharge, energy_kwh }: UnitColumns,
  { before, window, outside }: { before: number | undefined; window: Window; outside: Outside },
): void {
  const after = energy_kwh.at(-1)!
  const add = (power: number, { at_zero_kw, kw_per_pct }: LimitLine, at: number | undefined) => {
    const per_kwh = (kw_per_pct * 100) / unit.capacity_kwh
    const { min_kwh, max_kwh, start_kwh } = window
    const most_kw = program.columns[power]!.upper
    const ends_kwh = [Math.min(min_kwh, start_kwh), Math.max(max_kwh, start_kwh)]
    if (ends_kwh.every((kwh) => at_zero_kw + per_kwh * kwh >= most_kw)) return
    if (at === undefined) {
      const upper = Math.max(0, at_zero_kw + per_kwh * start_kwh)
      program.row([[power, 1]], { upper })
    } else {
      const nearest = [[at, 1] as const, ...outside].map(
        ([column, sign]) => [column, -per_kwh * sign] as const,
      )
      program.row([[power, 1], ...nearest], { upper: at_zero_kw })
    }
  }
  for (const line of limitLines(unit.charge_limits).slice(1)) {
    add(charge.at(-1)!, line, line.kw_per_pct < 0 ? after : before)
  }
  for (const line of limitLines(unit.discharge_limits).slice(1)) {
    add(discharge.at(-1)!, line, line.kw_per_pct > 0 ? after : before)
  }
}

/**
 * Charging and discharging at once pays where import has a revenue, or for steady power, or to
 * avoid export. These rows are the tightest without a binary: all that either can do alone, and
 * what lies between. A unit neither charges beyond its headroom before nor discharges energy that
 * it did not have yet; a full unit cannot burn energy.
 */
function addHull(
  { program, problem }: DispatchModel,
  { unit, charge, discharge }: UnitColumns,
  { before, window, period }: { before: number | undefined; window: Window; period: Period },
): void {
  const [from, to] = [charge.at(-1)!, discharge.at(-1)!]
  const [from_kw, to_kw] = [program.columns[from]!.upper, program.columns[to]!.upper]
  const { objective, shave_export } = problem
  const is_too_much =
    objective === 'capacity_firming' || (objective === 'peak_shaving' && shave_export === true)
  const is_tempting = is_too_much || Math.min(period.price ?? 0, period.import_price ?? 0) < 0
  if (!is_tempting || from_kw === 0 || to_kw === 0) return
  program.row(
    [
      [from, 1 / from_kw],
      [to, 1 / to_kw],
    ],
    { upper: 1 },
  )
  if (isOutside(unit)) return
  const hours = hoursOf(period)
  const { min_kwh, max_kwh, start_kwh } = window
  const [known_kwh, had] = before === undefined ? [start_kwh, []] : [0, [[before, 1] as const]]
  const lacked = had.map(([column]) => [column, -1] as const)
  program.row([[from, unit.charge_efficiency * hours], ...had], { upper: max_kwh - known_kwh })
  program.row([[to, hours / unit.discharge_efficiency], ...lacked], {
    upper: known_kwh - min_kwh,
  })
}

function addRamp(model: DispatchModel, columns: UnitColumns, nth: number): void {
  const { unit, charge, discharge } = columns
  const { periods } = model.problem
  if (nth === 0) return
  const ramp_kw = rampMaxKw(unit, periods[nth]!, periods[nth - 1]!)
  const most_kw = mostOf(unit.charge_limits) + mostOf(unit.discharge_limits)
  if (ramp_kw >= most_kw) return
  const violation = { constraint: 'ramp', bess_id: unit.bess_id, period: nth } as const
  const weight = weights.ramp * hoursOf(periods[nth]!)
  const up = addSlack(model, { violation, weight, share: 1 })
  const down = addSlack(model, { violation, weight, share: 1 })
  const change: Term[] = [
    [discharge[nth]!, 1],
    [charge[nth]!, -1],
    [discharge[nth - 1]!, -1],
    [charge[nth - 1]!, 1],
    [up, -1],
    [down, 1],
  ]
  model.program.row(change, { lower: -ramp_kw, upper: ramp_kw })
}

function addEnd(model: DispatchModel, { unit, energy_kwh }: UnitColumns): void {
  const { capacity_kwh, bess_id, soc_min_pct, soc_max_pct, soc_start_pct, soc_end_pct } = unit
  const end_pct = soc_end_pct ?? Math.min(soc_max_pct, Math.max(soc_min_pct, soc_start_pct))
  const slack = addSlack(model, {
    violation: soc_end_pct === null ? null : { constraint: 'soc_end', bess_id, period: null },
    weight: weights.soc_end,
    share: 100 / capacity_kwh,
  })
  model.program.row(
    [
      [energy_kwh.at(-1)!, 1],
      [slack, 1],
    ],
    { lower: (end_pct * capacity_kwh) / 100 },
  )
}

function addCycles(model: DispatchModel, { unit, discharge }: UnitColumns): void {
  const { cycles_after, capacity_kwh } = unit
  const end = cycles_after?.period ?? discharge.length
  addDrawn(model, unit, { first: 0, columns: discharge.slice(0, end) }, drawnMaxKwh(unit))
  const cycles = cycles_after?.cycles_max ?? null
  if (cycles === null) return
  addDrawn(model, unit, { first: end, columns: discharge.slice(end) }, cycles * capacity_kwh)
}

/** Maximum energy drawn from the cells in consecutive periods. */
function addDrawn(
  model: DispatchModel,
  unit: Unit,
  { first, columns }: { first: number; columns: readonly number[] },
  upper: number,
): void {
  if (upper === Number.POSITIVE_INFINITY) return
  const slack = addSlack(model, {
    violation: { constraint: 'cycles', bess_id: unit.bess_id, period: null },
    weight: weights.cycles,
    share: 1,
  })
  const drawn = columns.map((column, nth) => {
    const hours = hoursOf(model.problem.periods[first + nth]!)
    return [column, hours / unit.discharge_efficiency] as const
  })
  model.program.row([...drawn, [slack, -1]], { upper })
}
