/**
 * Small persistent losses of the strings of an inverter, from the sums of its days: the drifts of
 * `diagnostics/drift.ts`, tracked from night to night until they are repaired.
 */
import { day_ms } from '@heliograph/domain/durations'
import { median } from '@heliograph/domain/median'
import { addDays } from '@heliograph/domain/utc-day'
import { type Drift, findDrifts, loss_min_ratio } from '../diagnostics/drift.ts'
import { health_thresholds } from '../diagnostics/string-health.ts'
import type { StringLayout, StringSums } from '../diagnostics/string-sums.ts'

export interface StringStep {
  string_index: number
  /** Local dates: first day of the loss, and day of its detection. */
  onset_date: string
  detected_date: string
  /** Share of the yield lost, 0 to 1. */
  loss_ratio: number
  /** First day after the loss; null while it persists. */
  end_date: string | null
}

type StepQuantity =
  | 'energy_kwh'
  | 'covered_s'
  | 'light_s'
  | 'limited_s'
  | 'compared_s'
  | 'compared_kwh'
  | 'peer_kwh'

export interface StepDay {
  local_date: string
  /** Time with the sun above the horizon; null without a position. */
  daylight_s: number | null
  sums: Pick<StringSums, StepQuantity>
}

const coverage_min_ratio = 0.5
/** Days after the onset from which a loss is settled and another one can be detected. */
const settled_days = 90
/** Measured days that prove a recovery, and days before the onset for comparison. */
const back_days = 14
const before_days = 28
/** Maximum remaining share of a loss that counts as recovered. */
const left_ratio = 0.25

/**
 * Steps known after the last of `days`, given the steps of the night before. `days` ascend over at
 * most a year; missing days count as not measured. Strings without a group of four or with less
 * than 34 days have no steps (`findDrifts`).
 *
 * Onset and size of the last loss of a string are updated every night. After 90 days a loss is
 * settled and subtracted, so that a further one can be detected. A loss is over when the last 14 or
 * more measured days are back at the level before it. Losses below the reporting limit are dropped.
 */
export function stepsAfter(
  layout: readonly StringLayout[],
  days: readonly StepDay[],
  known: readonly StringStep[],
): StringStep[] {
  const first_date = days[0]?.local_date
  if (first_date === undefined) return [...known]
  const dayOf = (date: string) => (Date.parse(date) - Date.parse(first_date)) / day_ms
  const today = dayOf(days.at(-1)!.local_date)
  const isOpen = ({ onset_date, end_date }: StringStep) =>
    end_date === null && dayOf(onset_date) >= 0 && today - dayOf(onset_date) < settled_days
  const connected = layout.filter(({ is_connected }) => is_connected)
  const indices = new Set(connected.map(({ string_index }) => string_index))
  const steps = known.filter((step) => !isOpen(step) || !indices.has(step.string_index))
  for (const members of Map.groupBy(connected, ({ group }) => group).values()) {
    const yields = dailyYields(members, days, dayOf)
    const middles = yields[0]!.map((_, day) => medianKnown(yields.map((values) => values[day]!)))
    const relative = yields.map((values) =>
      values.map((value, day) => logRatio(value, middles[day]!)),
    )
    const ownOf = (at: number) => (step: StringStep) =>
      step.string_index === members[at]!.string_index
    const drifts = findDrifts(
      yields.map((values, at) => undone(values, steps.filter(ownOf(at)), dayOf)),
      {
        known: members.map((_, at) => driftOf(known.filter(isOpen).find(ownOf(at)), dayOf)),
        from_day: today,
      },
    )
    for (const [at, drift] of drifts.entries()) {
      if (drift === null) continue
      steps.push({
        string_index: members[at]!.string_index,
        onset_date: addDays(first_date, drift.onset_day),
        detected_date: addDays(first_date, drift.detected_day),
        loss_ratio: drift.loss_ratio,
        end_date: null,
      })
    }
    for (const [nth, step] of steps.entries()) {
      const at = members.findIndex(({ string_index }) => string_index === step.string_index)
      const onset_day = dayOf(step.onset_date)
      if (at < 0 || step.end_date !== null || onset_day < 0) continue
      const over = recovery(relative[at]!, onset_day)
      if (over === null) continue
      const { end_day, loss_ratio } = over
      steps[nth] = { ...step, loss_ratio, end_date: addDays(first_date, end_day) }
    }
  }
  return steps.filter(({ loss_ratio }) => loss_ratio >= loss_min_ratio)
}

function driftOf(step: StringStep | undefined, dayOf: (date: string) => number): Drift | null {
  if (step === undefined) return null
  const { onset_date, detected_date, loss_ratio } = step
  return { onset_day: dayOf(onset_date), detected_day: dayOf(detected_date), loss_ratio }
}

/**
 * Yield by string and day, kWh/kWp. Null when less than half of the daylight was measured or
 * compared, the day was mostly limited, or the string is critical, which its status reports at
 * once. The yield is that of the group times the power relative to the peers over the same
 * instants, so that gaps in the readings are no loss.
 */
function dailyYields(
  members: readonly StringLayout[],
  days: readonly StepDay[],
  dayOf: (date: string) => number,
): (number | null)[][] {
  const length = dayOf(days.at(-1)!.local_date) + 1
  const yields = members.map(() => new Array<number | null>(length).fill(null))
  for (const { local_date, daylight_s, sums } of days) {
    const usual = medianKnown(
      members.map(({ string_index, rated_kw }) => (sums.energy_kwh[string_index] ?? 0) / rated_kw),
    )
    for (const [at, { string_index }] of members.entries()) {
      const of = (quantity: StepQuantity) => sums[quantity][string_index] ?? 0
      const is_covered =
        of('covered_s') >= coverage_min_ratio * (daylight_s ?? 0) &&
        of('compared_s') >= coverage_min_ratio * of('light_s') &&
        of('limited_s') <= of('light_s')
      const ratio = of('compared_kwh') / of('peer_kwh')
      if (!is_covered || !(ratio >= health_thresholds.critical) || usual === null) continue
      yields[at]![dayOf(local_date)] = ratio * usual
    }
  }
  return yields
}

/** Yields without the settled losses. */
function undone(
  yields: readonly (number | null)[],
  steps: readonly StringStep[],
  dayOf: (date: string) => number,
): (number | null)[] {
  const raised = [...yields]
  for (const { onset_date, end_date, loss_ratio } of steps) {
    const end_day = end_date === null ? raised.length : dayOf(end_date)
    for (let day = Math.max(0, dayOf(onset_date)); day < end_day && day < raised.length; day += 1) {
      const value = raised[day]!
      if (value !== null) raised[day] = value / (1 - loss_ratio)
    }
  }
  return raised
}

/**
 * First day back at the level before the onset, and the loss until then; null while it persists.
 */
function recovery(relative: readonly (number | null)[], onset_day: number) {
  const measured = relative.flatMap((value, day) => (value === null ? [] : [{ day, value }]))
  const since = measured.filter(({ day }) => day >= onset_day)
  const split = likeliestSplit(since.map(({ value }) => value))
  if (since.length - split < back_days) return null
  const levelOf = (list: typeof measured) => medianKnown(list.map(({ value }) => value))
  const before = levelOf(measured.filter(({ day }) => day < onset_day).slice(-before_days))
  const during = levelOf(since.slice(0, split))
  const after = levelOf(since.slice(split))
  if (before === null || during === null || after === null) return null
  const loss_ratio = 1 - Math.exp(during - before)
  const is_back = after - before >= left_ratio * (during - before)
  return loss_ratio > 0 && is_back ? { end_day: since[split]!.day, loss_ratio } : null
}

/** Most likely change of the mean, by least squares. */
function likeliestSplit(values: readonly number[]): number {
  const total = values.reduce((sum, value) => sum + value, 0)
  let best = { split: values.length, gain: Number.NEGATIVE_INFINITY }
  let sum = 0
  for (let split = 1; split < values.length; split += 1) {
    sum += values[split - 1]!
    const gain = sum ** 2 / split + (total - sum) ** 2 / (values.length - split)
    if (gain > best.gain) best = { split, gain }
  }
  return best.split
}

const logRatio = (value: number | null, middle: number | null): number | null =>
  value !== null && middle !== null && value > 0 && middle > 0 ? Math.log(value / middle) : null

/** Median of the known values; null without any. */
const medianKnown = (values: readonly (number | null)[]): number | null =>
  median(values.filter((value) => value !== null))
