/** How a battery fares under a given dispatch, and how much it could do otherwise. Pure. */
import { hoursOf, type LimitPoint, type Period, type Unit } from './dispatch-problem.ts'

/** What of a period a battery cannot do. */
export type Hindrance = 'soc_min' | 'soc_max' | 'charge_limit' | 'discharge_limit' | 'soc_end'

export interface Course {
  /** By period, at its end. */
  soc_pct: number[]
  /** The first period that cannot be followed; null: all can. */
  hindered: { period: number; by: Hindrance } | null
}

/** Less is rounding: of a kW, and of a kWh. */
const small = 1e-3

/** What a period adds to the battery, kWh. */
export function addedKwh(unit: Unit, power_kw: number, hours: number): number {
  return power_kw < 0
    ? -power_kw * unit.charge_efficiency * hours
    : (-power_kw / unit.discharge_efficiency) * hours
}

/** The power that adds so much. */
export function powerAdding(unit: Unit, added_kwh: number, hours: number): number {
  return added_kwh > 0
    ? -added_kwh / unit.charge_efficiency / hours
    : (-added_kwh * unit.discharge_efficiency) / hours
}

export function followCourse(
  unit: Unit,
  periods: readonly Period[],
  power_kw: readonly number[],
): Course {
  const { capacity_kwh, soc_start_pct } = unit
  const soc_pct: number[] = []
  let hindered: Course['hindered'] = null
  let before_pct = soc_start_pct
  periods.forEach((period, nth) => {
    const power = power_kw[nth]!
    const after_pct = before_pct + (100 * addedKwh(unit, power, hoursOf(period))) / capacity_kwh
    const by = hindranceOf(unit, { power_kw: power, before_pct, after_pct })
    if (by !== null) hindered ??= { period: nth, by }
    soc_pct.push(after_pct)
    before_pct = after_pct
  })
  const end_pct = unit.soc_end_pct
  if (end_pct !== null && (before_pct - end_pct) * capacity_kwh < -100 * small) {
    hindered ??= { period: periods.length - 1, by: 'soc_end' }
  }
  return { soc_pct, hindered }
}

function hindranceOf(
  unit: Unit,
  { power_kw, before_pct, after_pct }: { power_kw: number; before_pct: number; after_pct: number },
): Hindrance | null {
  const margin_pct = (100 * small) / unit.capacity_kwh
  // Who begins outside of the window may come nearer to it.
  if (after_pct < Math.min(unit.soc_min_pct, before_pct) - margin_pct) return 'soc_min'
  if (after_pct < unit.soc_min_pct - margin_pct && power_kw > small) return 'soc_min'
  if (after_pct > unit.soc_max_pct + margin_pct && power_kw < -small) return 'soc_max'
  const most = (points: readonly LimitPoint[]) =>
    Math.min(limitAt(points, before_pct), limitAt(points, after_pct))
  if (-power_kw > most(unit.charge_limits) + small) return 'charge_limit'
  if (power_kw > most(unit.discharge_limits) + small) return 'discharge_limit'
  return null
}

/** Between the points on straight lines, beyond them as at the last. */
export function limitAt(points: readonly LimitPoint[], soc_pct: number): number {
  const after = points.findIndex((point) => point.soc_pct >= soc_pct)
  if (after === 0) return points[0]!.power_kw
  if (after < 0) return points.at(-1)!.power_kw
  const [a, b] = [points[after - 1]!, points[after]!]
  const share = (soc_pct - a.soc_pct) / (b.soc_pct - a.soc_pct)
  return a.power_kw + share * (b.power_kw - a.power_kw)
}

export interface Band {
  min_kw: number
  max_kw: number
}

/**
 * From how much to how much the power of some periods, `first` until before `last`, may be set to
 * one value while all others stay as they are: within the window at their end and later, and within
 * the limits of power where the state of charge is now. The course tells whether a value of the
 * band can be followed to the end, for limits may shrink as the state of charge moves.
 */
export function bandOf(
  unit: Unit,
  periods: readonly Period[],
  power_kw: readonly number[],
  { first, last }: { first: number; last: number },
): Band {
  const { capacity_kwh, soc_min_pct, soc_max_pct, soc_end_pct } = unit
  const { soc_pct } = followCourse(unit, periods, power_kw)
  const kwh = (pct: number) => (pct * capacity_kwh) / 100
  const later = soc_pct.slice(last - 1)
  const highest = Math.max(...later)
  const lowest = Math.min(...later)
  const end_pct = soc_end_pct ?? soc_min_pct
  const up_kwh = Math.max(0, kwh(soc_max_pct - highest))
  const down_kwh = Math.max(0, Math.min(kwh(lowest - soc_min_pct), kwh(soc_pct.at(-1)! - end_pct)))
  const span = periods.slice(first, last)
  const hours = span.reduce((sum, period) => sum + hoursOf(period), 0)
  const now_kwh = span.reduce(
    (sum, period, nth) => sum + addedKwh(unit, power_kw[first + nth]!, hoursOf(period)),
    0,
  )
  const before_pct = first === 0 ? unit.soc_start_pct : soc_pct[first - 1]!
  const most = (points: readonly LimitPoint[]) => Math.max(0, limitAt(points, before_pct))
  const charge_kw = most(unit.charge_limits)
  const discharge_kw = most(unit.discharge_limits)
  const clamp = (power: number) => Math.min(discharge_kw, Math.max(-charge_kw, power))
  return {
    min_kw: clamp(powerAdding(unit, now_kwh + up_kwh, hours)),
    max_kw: clamp(powerAdding(unit, now_kwh - down_kwh, hours)),
  }
}
