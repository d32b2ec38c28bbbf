/** Histories of a span in steps, as columns. Repeated reads fetch only the last steps. */
import type { SeriesAnswer } from '@heliograph/sdk'
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { heliograph } from '../api.ts'
import { type Span, windowOf } from './site-clock.ts'

export type Values = readonly (number | null)[]

export interface History {
  at_ms: readonly number[]
  columns: Readonly<Record<string, Values>>
  /** A longer time between two values is a gap. */
  gap_ms: number
}

type Answer = SeriesAnswer<{ measured_at: string }> & { meta: { resolution_s: number | null } }
type Read = (asked: object, options: object) => Promise<Answer>

/** `mppt_power_kw` of MPPT 2 is the column `mppt_power_kw:2`. */
function* figuresOf(row: object): Generator<[string, number | null]> {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === 'number' || value === null) yield [name, value]
    else if (Array.isArray(value)) {
      for (const [nth, each] of value.entries()) {
        if (typeof each === 'number' || each === null) yield [`${name}:${nth}`, each]
      }
    }
  }
}

type Device = Readonly<Record<string, string | number>>
type Operation =
  | 'loggersHistoryList'
  | 'invertersHistoryList'
  | 'bessHistoryList'
  | 'sensorsHistoryList'
  | 'stringsHistoryList'

const points_max = 2000
const steps_s = [60, 300, 900, 3600, 86_400] as const
export type Step = `${(typeof steps_s)[number]}s`

/** The shortest step with few enough points. */
export function everyOf({ start_ms, end_ms }: Span): Step {
  const step_s = steps_s.find((each_s) => end_ms - start_ms <= points_max * each_s * 1000)
  return `${step_s ?? 86_400}s`
}

/** `device` has the parameters of the operation that name it. */
export function historyOf(operation: Operation, device: Device, { span, names, every }: Shown) {
  const fields = [...new Set(names.map((name) => name.split(':')[0]!))].sort().join()
  const step = every ?? everyOf(span)
  const queryKey = ['history', operation, device, span.start_ms, span.end_ms, step, fields]
  const lasts = span.end_ms > Date.now()
  return queryOptions({
    queryKey,
    structuralSharing: false,
    staleTime: lasts ? 30_000 : 600_000,
    refetchInterval: lasts ? 60_000 : false,
    queryFn: async ({ client, signal }: { client: QueryClient; signal: AbortSignal }) => {
      const before = client.getQueryData<History>(queryKey)
      // The last step may not have had all of its readings.
      const start_ms = before?.at_ms.at(-1) ?? span.start_ms
      const read = (heliograph[operation] as Read).bind(heliograph)
      const window = windowOf({ ...span, start_ms })
      const asked = { ...device, ...window, every: step, limit: points_max }
      const answer = await read(fields === '' ? asked : { ...asked, fields }, { signal })
      return extended(before, answer)
    },
  })
}

const gap_ms_min = 300_000

function extended(before: History | undefined, { data, meta }: Answer): History {
  const at_ms = before?.at_ms.slice(0, -1) ?? []
  const columns = new Map<string, (number | null)[]>()
  for (const [name, values] of Object.entries(before?.columns ?? {})) {
    columns.set(name, values.slice(0, at_ms.length))
  }
  for (const row of data) {
    for (const [name, value] of figuresOf(row)) {
      let column = columns.get(name)
      if (!column) {
        column = []
        columns.set(name, column)
      }
      // A row may lack a field that others have.
      while (column.length < at_ms.length) column.push(null)
      column.push(value)
    }
    at_ms.push(Date.parse(row.measured_at))
  }
  const gap_ms = Math.max(gap_ms_min, before?.gap_ms ?? 0, 1500 * (meta.resolution_s ?? 0))
  return { at_ms, columns: Object.fromEntries(columns), gap_ms }
}

export interface Shown {
  span: Span
  /** Columns; all of them if there are none. */
  names: readonly string[]
  every?: Step
}

export type HistoryQuery = ReturnType<typeof historyOf>

/** Puts several series on common instants; gaps in the measurements become null. */
export function aligned(
  series: readonly { at_ms: readonly number[]; values: Values }[],
  gap_ms = gap_ms_min,
) {
  const known = series.map(
    ({ at_ms, values }) => new Map(at_ms.map((ms, nth) => [ms, values[nth] ?? null])),
  )
  const instants = [...new Set(known.flatMap((own) => [...own.keys()]))].sort((a, b) => a - b)
  const at_ms = instants.flatMap((ms, nth) =>
    (instants[nth + 1] ?? ms) - ms > gap_ms ? [ms, ms + gap_ms] : [ms],
  )
  return { at_ms, columns: known.map((own) => at_ms.map((ms) => own.get(ms) ?? null)) }
}
