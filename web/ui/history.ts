/** Readings of a span as columns. Repeated reads fetch only new readings. */
import { everyWindow, type SeriesAnswer, type Window } from '@heliograph/sdk'
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { heliograph } from '../api.ts'
import type { Span } from './site-clock.ts'

export type Values = readonly (number | null)[]

export interface History {
  at_ms: readonly number[]
  columns: Readonly<Record<string, Values>>
}

interface Reading {
  measured_at: string
}

type Read = (asked: object, options: object) => Promise<SeriesAnswer<Reading>>

const iso = (ms: number) => new Date(ms).toISOString()

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

function historyOf(operation: Operation, device: Device, span: Span) {
  const queryKey = ['history', operation, device, span.start_ms, span.end_ms]
  const lasts = span.end_ms > Date.now()
  return queryOptions({
    queryKey,
    structuralSharing: false,
    staleTime: lasts ? 30_000 : 600_000,
    refetchInterval: lasts ? 60_000 : false,
    queryFn: async ({ client, signal }: { client: QueryClient; signal: AbortSignal }) => {
      const before = client.getQueryData<History>(queryKey)
      const last_ms = before?.at_ms.at(-1)
      const start_ms = last_ms === undefined ? span.start_ms : last_ms + 1
      const read = (heliograph[operation] as Read).bind(heliograph)
      const readings = everyWindow(
        (window: Window) => read({ ...device, limit: 10_000, ...window }, { signal }),
        { start: iso(start_ms), end: iso(span.end_ms) },
      )
      return extended(before, readings)
    },
  })
}

async function extended(
  before: History | undefined,
  rows: AsyncIterable<Reading>,
): Promise<History> {
  const at_ms = [...(before?.at_ms ?? [])]
  const columns = new Map<string, (number | null)[]>()
  for (const [name, values] of Object.entries(before?.columns ?? {})) {
    columns.set(name, [...values])
  }
  for await (const row of rows) {
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
  return { at_ms, columns: Object.fromEntries(columns) }
}

export const loggerHistory = (site_id: string, logger_id: number, span: Span) =>
  historyOf('loggersHistoryList', { site_id, logger_id }, span)

export const inverterHistory = (site_id: string, inverter_id: number, span: Span) =>
  historyOf('invertersHistoryList', { site_id, inverter_id }, span)

export const bessHistory = (site_id: string, bess_id: number, span: Span) =>
  historyOf('bessHistoryList', { site_id, bess_id }, span)

export const sensorHistory = (site_id: string, node_id: string, span: Span) =>
  historyOf('sensorsHistoryList', { site_id, node_id }, span)

const step_ms = 5000
const held_ms = 150_000

/** Puts several series on common instants; gaps in the measurements become null. */
export function aligned(series: readonly { at_ms: readonly number[]; values: Values }[]) {
  const instants = new Set<number>()
  const rounded = series.map(({ at_ms }) => at_ms.map((ms) => Math.round(ms / step_ms) * step_ms))
  for (const at_ms of rounded) {
    for (const [nth, ms] of at_ms.entries()) {
      instants.add(ms)
      const next_ms = at_ms[nth + 1]
      if (next_ms !== undefined && next_ms - ms > 2 * held_ms) instants.add(ms + 2 * held_ms)
    }
  }
  const at_ms = [...instants].sort((a, b) => a - b)
  const columns = series.map(({ values }, nth) => {
    const own_ms = rounded[nth]!
    let next = 0
    return at_ms.map((ms) => {
      while (next < own_ms.length && own_ms[next]! <= ms) next++
      const last_ms = own_ms[next - 1]
      return last_ms !== undefined && ms - last_ms <= held_ms ? (values[next - 1] ?? null) : null
    })
  })
  return { at_ms, columns }
}

/** Means over equal steps of a span; null for a step without values. */
export function means({ at_ms, columns }: History, name: string, span: Span, every_ms: number) {
  const count = Math.ceil((span.end_ms - span.start_ms) / every_ms)
  const sums = new Array<number>(count).fill(0)
  const counts = new Array<number>(count).fill(0)
  const values = columns[name] ?? []
  for (const [nth, ms] of at_ms.entries()) {
    const value = values[nth]
    const step = Math.floor((ms - span.start_ms) / every_ms)
    if (value === null || value === undefined || step < 0 || step >= count) continue
    sums[step]! += value
    counts[step]! += 1
  }
  return sums.map((sum, step) => (counts[step] ? sum / counts[step]! : null))
}
