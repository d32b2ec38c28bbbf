/** Histories in equal steps of time, with one item for the readings of each step. */
import { dayStart } from '@heliograph/domain/local-day'
import { significant } from '@heliograph/domain/significant'
import { Type } from 'typebox'
import { badField } from '../http/errors.ts'
import * as field from '../http/fields.ts'
import { Nullable } from '../http/params.ts'
import type { SeriesWindow } from '../http/time-windows.ts'
import { intervals } from './energy.ts'
import type { ReadingColumn, ReadingColumns } from './reading-columns.ts'

const step_names = ['60s', '300s', '900s', '3600s', '86400s'] as const
export type StepName = (typeof step_names)[number]

/** The step parameter of a history; days are those of the site. */
export const every = (names: readonly StepName[] = step_names) =>
  Type.Optional(
    field.OneOf(
      names,
      'Returns one item for each step of this length that has readings; `measured_at` is its ' +
        'start. A step is in the window if its start is. `86400s` is a day in the time zone of ' +
        'the site, also where the clock changes; shorter steps are whole in UTC. See Steps.',
    ),
  )

export const stepParameters = {
  every: every(),
  fields: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9_]{1,40}(,[a-z0-9_]{1,40}){0,99}$',
      examples: ['ac_power_kw,available_power_kw'],
      description:
        'Computes only these values of a step; all others are null. Separate names with commas. ' +
        'Requires `every`.',
    }),
  ),
  extremes: Type.Optional(
    field.Flag('Adds `min` and `max` to the items of steps. Requires `every`.', true),
  ),
}

const Extremes = (which: string) =>
  Type.Optional(
    Type.Record(
      Type.String(),
      Type.Union([Type.Number(), Type.Array(Nullable(Type.Number())), Type.Null()]),
      { description: `With \`extremes\`: the ${which} reading of each mean, by its name.` },
    ),
  )

/** Fields that only the items of steps have. */
export const stepFields = {
  sample_count: Type.Optional(
    field.Int('With `every`: readings in the step.', { minimum: 1, examples: [60] }),
  ),
  completeness_pct: Type.Optional(
    field.Percent(
      'With `every`: the part of the step between readings at most twice their usual interval ' +
        'and at most ten minutes apart, %.',
      100,
    ),
  ),
  min: Extremes('lowest'),
  max: Extremes('highest'),
}

export interface StepQuery {
  every?: StepName
  fields?: string
  extremes?: boolean
}

export interface StepOrder {
  step: Step
  window: SeriesWindow
  extremes: boolean
  /** The values that were asked for. */
  fields: ReadonlySet<string>
}

export interface Step {
  step_s: number
  timezone: string
  /** Start of the step of an instant, Unix ms. */
  startOf(at_ms: number): number
  endOf(start_ms: number): number
}

export function stepOf(name: StepName, timezone: string): Step {
  const step_s = Number.parseInt(name, 10)
  const step_ms = step_s * 1000
  const startOfUtc = (at_ms: number) => Math.floor(at_ms / step_ms) * step_ms
  if (name !== '86400s') {
    return { step_s, timezone, startOf: startOfUtc, endOf: (start_ms) => start_ms + step_ms }
  }
  const startOf = (at_ms: number) => dayStart(new Date(at_ms), timezone).getTime()
  // No day has more than 26 hours, and the next one has at least 22.
  return { step_s, timezone, startOf, endOf: (start_ms) => startOf(start_ms + 1.25 * step_ms) }
}

/**
 * The order of a request with `every`, else null.
 *
 * @param names the values of an item
 * @throws ApiError validation_error
 */
export function stepOrder(
  { every: name, fields, extremes }: StepQuery,
  window: SeriesWindow,
  { names, timezone }: { names: readonly string[]; timezone: string },
): StepOrder | null {
  if (name === undefined) {
    const given = fields === undefined ? extremes !== undefined && 'extremes' : 'fields'
    if (given) throw badField(given, 'not_allowed_value', 'requires every', 'query')
    return null
  }
  const chosen = fields?.split(',') ?? names
  const unknown = chosen.find((one) => !names.includes(one))
  if (unknown !== undefined) {
    const message = `${unknown} is no value of this history`
    throw badField('fields', 'not_allowed_value', message, 'query')
  }
  const step = stepOf(name, timezone)
  return { step, window, extremes: extremes ?? false, fields: new Set(chosen) }
}

type Value = unknown

/** A reading in the form of an item. */
export type StepReading = Readonly<Record<string, Value>> & {
  /** Unix ms */
  readonly measured_at: number
}

interface ReadSpan {
  from_ms: number
  to_ms: number
  newest: boolean
}

export interface StepSource {
  /** The values of an item, in order. */
  names: readonly string[]
  /** Tells the items of one instant apart. */
  key?: string
  /** Whether the last value counts rather than the mean; `nth` is the place in an array. */
  isState(name: string, nth: number): boolean
  /** The readings of a span with these values, by time or from the end back. */
  read(span: ReadSpan, names: ReadonlySet<string>): AsyncIterable<ReadingColumns>
  /** Counts the steps of a span that have readings; without it their items are counted. */
  count?(span: Omit<ReadSpan, 'newest'>, step: Step): Promise<number>
  /** Arrays that become objects, with the names of their elements. */
  elements?: Readonly<Record<string, readonly string[]>>
}

export type StepItem = Record<string, Value>

/** Readings that far outside the window decide how much of its first and last step is covered. */
const margin_ms = 600_000

const startOf = ({ start }: SeriesWindow) =>
  start === null ? Number.NEGATIVE_INFINITY : Date.parse(start)

/** The items of each step with readings, by time or, for a window without start, from its end. */
export async function* stepsOf(source: StepSource, order: StepOrder): AsyncGenerator<StepItem[]> {
  const { step, window } = order
  const { newest } = window
  const end_ms = Date.parse(window.end)
  const start_ms = startOf(window)
  const span = {
    from_ms: start_ms - margin_ms,
    to_ms: step.endOf(step.startOf(end_ms - 1)) + margin_ms,
    newest,
  }
  const isWithin = (at_ms: number) => at_ms >= start_ms && at_ms < end_ms
  let [before, now]: [OpenStep | null, OpenStep | null] = [null, null]
  for await (const readings of source.read(span, order.fields)) {
    const { times_ms, count } = readings
    for (let first = 0, end = 0; first < count; first = end) {
      const at_ms = times_ms[first]!
      if (!now || at_ms < now.start_ms || at_ms >= now.end_ms) {
        if (before && isWithin(before.start_ms)) yield itemsOf(source, order, before)
        before = now
        now = newStep(step.startOf(at_ms), step)
      }
      const { start_ms, end_ms } = now
      end = first + 1
      while (end < count && times_ms[end]! >= start_ms && times_ms[end]! < end_ms) end += 1
      add(source, order, { now, before }, { readings, first, end })
    }
  }
  for (const last of [before, now]) {
    if (last && isWithin(last.start_ms)) yield itemsOf(source, order, last)
  }
}

interface OpenStep {
  start_ms: number
  end_ms: number
  groups: Map<number, Group>
}

interface Group {
  count: number
  quality: string
  /** With the next reading on either side of the step. */
  times_ms: number[]
  columns: Map<string, { is_array: boolean; tallies: Tally[] }>
}

interface Tally {
  sum: number
  count: number
  min: number
  max: number
  last: Value
}

const newStep = (start_ms: number, { endOf }: Step): OpenStep => ({
  start_ms,
  end_ms: endOf(start_ms),
  groups: new Map(),
})

const newTally = (): Tally => ({
  sum: 0,
  count: 0,
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
  last: null,
})

const worst = ['suspect', 'estimated', 'good']

/** Adds the readings from `first` up to `end`, which are all of one step. */
function add(
  source: StepSource,
  order: StepOrder,
  steps: { now: OpenStep; before: OpenStep | null },
  { readings, first, end }: { readings: ReadingColumns; first: number; end: number },
): void {
  const { times_ms, columns } = readings
  const keys = source.key === undefined ? null : columns.get(source.key)!
  const places = Map.groupBy(
    Array.from({ length: end - first }, (_, nth) => first + nth),
    (nth) => (keys ? (keys[nth] as number) : 0),
  )
  for (const [key, own] of places) {
    const group = groupOf(steps, key, times_ms[own[0]!]!)
    group.count += own.length
    for (const nth of own) group.times_ms.push(times_ms[nth]!)
    const qualities = columns.get('quality')!
    for (const nth of own) {
      const quality = qualities[nth] as string
      if (worst.indexOf(quality) < worst.indexOf(group.quality)) group.quality = quality
    }
    for (const name of order.fields) {
      if (name === 'quality' || name === source.key) continue
      const values = columns.get(name)
      if (values) addValues(group, name, { values, own, newest: order.window.newest })
    }
  }
}

function groupOf(
  { now, before }: { now: OpenStep; before: OpenStep | null },
  key: number,
  at_ms: number,
): Group {
  const known = now.groups.get(key)
  if (known) return known
  const group: Group = { count: 0, quality: 'good', times_ms: [], columns: new Map() }
  const neighbour = before?.groups.get(key)
  if (neighbour) {
    group.times_ms.push(neighbour.times_ms.at(-1)!)
    neighbour.times_ms.push(at_ms)
  }
  now.groups.set(key, group)
  return group
}

function addValues(
  group: Group,
  name: string,
  { values, own, newest }: { values: ReadingColumn; own: readonly number[]; newest: boolean },
): void {
  let column = group.columns.get(name)
  for (const nth of own) {
    const value = values[nth]
    if (value === null || value === undefined) continue
    if (!column) {
      column = { is_array: Array.isArray(value), tallies: [] }
      group.columns.set(name, column)
    }
    const { is_array, tallies } = column
    const elements = is_array ? (value as readonly Value[]) : [value]
    for (let place = 0; place < elements.length; place += 1) {
      tallies[place] ??= newTally()
      count(tallies[place]!, elements[place], newest)
    }
  }
}

function count(tally: Tally, value: Value, newest: boolean): void {
  if (value === null) return
  if (tally.last === null || !newest) tally.last = value
  tally.count += 1
  if (typeof value !== 'number') return
  tally.sum += value
  if (value < tally.min) tally.min = value
  if (value > tally.max) tally.max = value
}

function itemsOf(source: StepSource, order: StepOrder, open: OpenStep): StepItem[] {
  const groups = [...open.groups].sort(([a], [b]) => a - b)
  return groups.map(([key, group]) => {
    const means = new Set<string>()
    const made = (name: string, of: (tally: Tally, is_state: boolean) => Value) => {
      const { is_array, tallies } = group.columns.get(name) ?? { is_array: false, tallies: [] }
      const values = tallies.map((tally, nth) => {
        const is_state = typeof tally.last !== 'number' || source.isState(name, nth)
        if (!is_state) means.add(name)
        return tally.count === 0 ? null : of(tally, is_state)
      })
      return is_array ? values : (values[0] ?? null)
    }
    const item: StepItem = { measured_at: new Date(open.start_ms).toISOString() }
    for (const name of source.names) {
      if (name === 'quality') item[name] = group.quality
      else if (name === source.key) item[name] = key
      else item[name] = made(name, (tally, is_state) => (is_state ? tally.last : meanOf(tally)))
    }
    for (const [name, elements] of Object.entries(source.elements ?? {})) {
      const values = item[name] as Value[] | null
      means.delete(name)
      item[name] = Object.fromEntries(elements.map((one, nth) => [one, values?.[nth] ?? null]))
    }
    item['sample_count'] = group.count
    item['completeness_pct'] = completenessOf(group.times_ms, open)
    if (!order.extremes) return item
    for (const which of ['min', 'max'] as const) {
      const ends = [...means].map((name) => [name, made(name, (tally) => tally[which])])
      item[which] = Object.fromEntries(ends)
    }
    return item
  })
}

const meanOf = ({ sum, count }: Tally) => Number((sum / count).toPrecision(6))

function completenessOf(times_ms: readonly number[], step: OpenStep): number {
  const ascending = times_ms.toSorted((a, b) => a - b)
  const covered_ms = intervals(ascending, step).reduce(
    (sum, { start_ms, end_ms }) => sum + end_ms - start_ms,
    0,
  )
  return significant(Math.round((1000 * covered_ms) / (step.end_ms - step.start_ms)) / 10)
}

/** Items of whole steps up to a limit, ascending, and whether there are more. */
export async function stepPage(source: StepSource, order: StepOrder, limit: number) {
  const steps: StepItem[][] = []
  let [returned, has_more, is_cut] = [0, false, false]
  for await (const items of stepsOf(source, order)) {
    has_more = returned + items.length > limit
    // No later or earlier window would return what is cut off a step.
    is_cut = has_more && returned === 0
    if (!has_more || is_cut) steps.push(items.slice(0, limit))
    if (has_more) break
    returned += items.length
  }
  if (order.window.newest) steps.reverse()
  const items = steps.flat()
  const count = has_more ? await countItems(source, order) : items.length
  return { items, count, is_cut }
}

async function countItems(source: StepSource, order: StepOrder): Promise<number> {
  if (source.count) {
    const { step, window } = order
    const [end_ms, start_ms] = [Date.parse(window.end), startOf(window)]
    // The step in which the window starts is that of an earlier window.
    const first_ms = Number.isFinite(start_ms) ? step.startOf(start_ms) : start_ms
    const from_ms = first_ms < start_ms ? step.endOf(first_ms) : start_ms
    return source.count({ from_ms, to_ms: step.endOf(step.startOf(end_ms - 1)) }, step)
  }
  let count = 0
  for await (const items of stepsOf(source, { ...order, fields: new Set() })) count += items.length
  return count
}
