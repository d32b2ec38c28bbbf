/** State of charge of a battery under a given dispatch, and its remaining freedom. Pure. */
import {
  type Band,
  drawnMaxKwh,
  hoursOf,
  type LimitPoint,
  limitAt,
  limitLines,
  type Period,
  rampMaxKw,
  type Unit,
} from './dispatch-problem.ts'

export type Hindrance =
  | 'soc_min'
  | 'soc_max'
  | 'charge_limit'
  | 'discharge_limit'
  | 'fixed_power'
  | 'room'
  | 'ramp'
  | 'cycles'
  | 'soc_end'

export interface Course {
  /** By period, at its end. */
  soc_pct: number[]
  /** The first infeasible period and its constraint; null: none. */
  hindered: { period: number; by: Hindrance } | null
}

/** Smaller violations are rounding: plans are in whole watts, which adds up over a day. */
const small = 2e-3
const small_kwh = 2e-2

/** Energy added to the battery in a period, kWh. */
export function addedKwh(
  unit: Pick<Unit, 'charge_efficiency' | 'discharge_efficiency'>,
  power_kw: number,
  hours: number,
): number {
  return power_kw < 0
    ? -power_kw * unit.charge_efficiency * hours
    : (-power_kw / unit.discharge_efficiency) * hours
}

function powerAdding(unit: Unit, added_kwh: number, hours: number): number {
  return added_kwh > 0
    ? -added_kwh / unit.charge_efficiency / hours
    : (-added_kwh * unit.discharge_efficiency) / hours
}

/**
 * State of charge under a dispatch, and the first period that the unit cannot follow: by its window
 * (outside it, only towards it), its power at the state of charge (at the start and end of the
 * period, in between it can do more), fixed power, headroom, ramp, cycles and the required final
 * state of charge.
 */
export function followCourse(
  unit: Unit,
  periods: readonly Period[],
  power_kw: readonly number[],
): Course {
  const soc_pct: number[] = []
  let hindered: Course['hindered'] = null
  let before_pct = unit.soc_start_pct
  let drawn_kwh = 0
  periods.forEach((period, nth) => {
    const power = power_kw[nth]!
    const added_kwh = addedKwh(unit, power, hoursOf(period))
    const after_pct = before_pct + (100 * added_kwh) / unit.capacity_kwh
    drawn_kwh += Math.max(0, -added_kwh)
    const by =
      hindranceOf(unit, { power_kw: power, before_pct, after_pct }) ??
      boundOf(unit, periods, power_kw, nth) ??
      (drawn_kwh > drawnMaxKwh(unit) + small_kwh ? 'cycles' : null)
    if (by !== null) hindered ??= { period: nth, by }
    soc_pct.push(after_pct)
    before_pct = after_pct
  })
  const short_pct = (unit.soc_end_pct ?? 0) - before_pct
  if (short_pct * unit.capacity_kwh > 100 * small_kwh) {
    hindered ??= { period: periods.length - 1, by: 'soc_end' }
  }
  return { soc_pct, hindered }
}

function hindranceOf(
  unit: Unit,
  { power_kw, before_pct, after_pct }: { power_kw: number; before_pct: number; after_pct: number },
): Hindrance | null {
  const margin_pct = (100 * small_kwh) / unit.capacity_kwh
  if (power_kw > 0 && after_pct < unit.soc_min_pct - margin_pct) return 'soc_min'
  if (power_kw < 0 && after_pct > unit.soc_max_pct + margin_pct) return 'soc_max'
  const most = (points: readonly LimitPoint[], pct: number) =>
    Math.max(limitAt(points, pct - margin_pct), limitAt(points, pct + margin_pct))
  const least = (points: readonly LimitPoint[]) =>
    Math.min(most(points, before_pct), most(points, after_pct))
  if (-power_kw > least(unit.charge_limits) + small) return 'charge_limit'
  if (power_kw > least(unit.discharge_limits) + small) return 'discharge_limit'
  return null
}

function boundOf(
  unit: Unit,
  periods: readonly Period[],
  power_kw: readonly number[],
  nth: number,
): Hindrance | null {
  const power = power_kw[nth]!
  const fixed_kw = unit.fixed_kw?.[nth] ?? null
  if (fixed_kw !== null && Math.abs(power - fixed_kw) > small) return 'fixed_power'
  const room = unit.room_kw?.[nth]
  if (room && (power < room.min_kw - small || power > room.max_kw + small)) return 'room'
  if (nth === 0) return null
  const ramp_kw = rampMaxKw(unit, periods[nth]!, periods[nth - 1]!)
  return Math.abs(power - power_kw[nth - 1]!) > ramp_kw + small ? 'ramp' : null
}

/** Consecutive periods: `first` until before `last`. */
export interface Span {
  first: number
  last: number
}

/**
 * The range of one common power for some periods, with all others unchanged: every value in it can
 * be followed to the end (`followCourse`), none outside; whole watts. Null: none, as the others
 * cannot be followed in any case.
 *
 * The range is one interval: the span shifts the state of charge of later periods, and each of them
 * bounds that shift from both sides, as limits are concave; so does each limit within the span.
 *
 * @param course with this power, if already known
 */
export function bandOf(
  unit: Unit,
  periods: readonly Period[],
  power_kw: readonly number[],
  span: Span,
  course: Course = followCourse(unit, periods, power_kw),
): Band | null {
  const { first, last } = span
  const { soc_pct } = course
  const hours = periods.slice(first, last).reduce((sum, period) => sum + hoursOf(period), 0)
  const from_pct = first === 0 ? unit.soc_start_pct : soc_pct[first - 1]!
  const powerTo = (pct: number) =>
    powerAdding(unit, ((pct - from_pct) * unit.capacity_kwh) / 100, hours)
  const after = socAfterwards(unit, power_kw, soc_pct, last)
  const drawn_kwh = power_kw.reduce((sum, power, nth) => {
    const is_other = nth < first || nth >= last
    return is_other ? sum + Math.max(0, -addedKwh(unit, power, hoursOf(periods[nth]!))) : sum
  }, 0)
  const pct_per_kwh = 100 / unit.capacity_kwh
  const bounds: Band[] = [
    { min_kw: powerTo(after.max_pct), max_kw: powerTo(after.min_pct) },
    // Within the window, too, or towards it.
    { min_kw: powerTo(Math.max(unit.soc_max_pct, from_pct)), max_kw: Number.POSITIVE_INFINITY },
    { min_kw: Number.NEGATIVE_INFINITY, max_kw: powerTo(Math.min(unit.soc_min_pct, from_pct)) },
    {
      min_kw: -mostFrom(unit.charge_limits, from_pct, {
        pct_per_kw: hours * unit.charge_efficiency * pct_per_kwh,
      }),
      max_kw: mostFrom(unit.discharge_limits, from_pct, {
        pct_per_kw: (-hours / unit.discharge_efficiency) * pct_per_kwh,
      }),
    },
    {
      min_kw: Number.NEGATIVE_INFINITY,
      max_kw: (Math.max(0, drawnMaxKwh(unit) - drawn_kwh) * unit.discharge_efficiency) / hours,
    },
    ...boundsWithin(unit, periods, power_kw, span),
  ]
  const min_kw = Math.max(...bounds.map((bound) => bound.min_kw))
  const max_kw = Math.min(...bounds.map((bound) => bound.max_kw))
  if (!(min_kw <= max_kw + small)) return null
  const [up_kw, down_kw] = [wattsUp(min_kw), wattsDown(max_kw)]
  if (up_kw <= down_kw) return { min_kw: up_kw, max_kw: down_kw }
  const middle_kw = watts((min_kw + max_kw) / 2)
  return { min_kw: middle_kw, max_kw: middle_kw }
}

/** Whole watts; no negative zero. */
export const watts = (power_kw: number) => Math.round(power_kw * 1000) / 1000 + 0
const wattsUp = (power_kw: number) => Math.ceil(power_kw * 1000 - 1e-6) / 1000 + 0
const wattsDown = (power_kw: number) => Math.floor(power_kw * 1000 + 1e-6) / 1000 + 0

/**
 * Range of the state of charge before period `last` for which all later periods remain feasible.
 */
function socAfterwards(
  unit: Unit,
  power_kw: readonly number[],
  soc_pct: readonly number[],
  last: number,
): { min_pct: number; max_pct: number } {
  let [min_pct, max_pct] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  const now_pct = soc_pct[last - 1]!
  for (let nth = last; nth < power_kw.length; nth += 1) {
    const power = power_kw[nth]!
    const allowed = socAllowing(unit, power)
    for (const pct of [soc_pct[nth - 1]!, soc_pct[nth]!]) {
      min_pct = Math.max(min_pct, now_pct + allowed.min_pct - pct)
      max_pct = Math.min(max_pct, now_pct + allowed.max_pct - pct)
    }
    const after_pct = soc_pct[nth]! - now_pct
    if (power > 0) min_pct = Math.max(min_pct, unit.soc_min_pct - after_pct)
    if (power < 0) max_pct = Math.min(max_pct, unit.soc_max_pct - after_pct)
  }
  if (unit.soc_end_pct !== null) {
    min_pct = Math.max(min_pct, unit.soc_end_pct - (soc_pct.at(-1)! - now_pct))
  }
  return { min_pct, max_pct }
}

/** Range of the state of charge at which a unit can deliver this power. */
function socAllowing(unit: Unit, power_kw: number): { min_pct: number; max_pct: number } {
  let [min_pct, max_pct] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  if (Math.abs(power_kw) <= small) return { min_pct, max_pct }
  const points = power_kw > 0 ? unit.discharge_limits : unit.charge_limits
  for (const { at_zero_kw, kw_per_pct } of limitLines(points)) {
    const pct = (Math.abs(power_kw) - at_zero_kw) / kw_per_pct
    if (kw_per_pct > 0) min_pct = Math.max(min_pct, pct)
    if (kw_per_pct < 0) max_pct = Math.min(max_pct, pct)
    if (kw_per_pct === 0 && Math.abs(power_kw) > at_zero_kw + small) {
      return { min_pct: Number.POSITIVE_INFINITY, max_pct: Number.NEGATIVE_INFINITY }
    }
  }
  return { min_pct, max_pct }
}

/** Maximum of a unit from a state of charge, which its power changes, to the span's end. */
function mostFrom(
  points: readonly LimitPoint[],
  from_pct: number,
  { pct_per_kw }: { pct_per_kw: number },
): number {
  const most = limitLines(points).map(({ at_zero_kw, kw_per_pct }) => {
    const now_kw = at_zero_kw + kw_per_pct * from_pct
    const per_kw = 1 - kw_per_pct * pct_per_kw
    return per_kw >= 1 ? now_kw / per_kw : now_kw
  })
  return Math.max(0, Math.min(...most))
}

function boundsWithin(
  unit: Unit,
  periods: readonly Period[],
  power_kw: readonly number[],
  { first, last }: Span,
): Band[] {
  const bounds: Band[] = []
  for (let nth = first; nth < last; nth += 1) {
    const fixed_kw = unit.fixed_kw?.[nth] ?? null
    if (fixed_kw !== null) bounds.push({ min_kw: fixed_kw, max_kw: fixed_kw })
    const room = unit.room_kw?.[nth]
    if (room) bounds.push(room)
  }
  for (const [inside, outside] of [
    [first, first - 1],
    [last - 1, last],
  ] as const) {
    const kw = power_kw[outside]
    if (kw === undefined) continue
    const ramp_kw = rampMaxKw(unit, periods[inside]!, periods[outside]!)
    bounds.push({ min_kw: kw - ramp_kw, max_kw: kw + ramp_kw })
  }
  return bounds
}

/**
 * The dispatch with the periods of a span, for example an hour, set to one power, and its course:
 * `course.hindered` is the first infeasible period and its constraint.
 *
 * @throws {RangeError} if the power is no number
 */
export function reviseHour(
  unit: Unit,
  periods: readonly Period[],
  power_kw: readonly number[],
  { first, last }: Span,
  revised_kw: number,
): { power_kw: number[]; course: Course } {
  if (!Number.isFinite(revised_kw)) throw new RangeError('the revised power is not a number')
  const revised = power_kw.map((power, nth) => (nth >= first && nth < last ? revised_kw : power))
  return { power_kw: revised, course: followCourse(unit, periods, revised) }
}
