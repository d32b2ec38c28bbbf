/**
 * Bytes of a reading in blocks of an hour, and the speed at which blocks are made and read: a day
 * of the demo at 5 s with sensor noise, quantised as the registers are, and a day of minutes.
 *
 *   node bench/blocks.ts
 */
import { readFileSync } from 'node:fs'
import { hour_ms } from '@heliograph/domain/durations'
import { plotAverages } from '@heliograph/domain/instruments'
import { columnsOf, type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import { parseSiteFile } from '@heliograph/domain/site-file'
import {
  type BlockValue,
  type Columns,
  decodeBlock,
  encodeBlock,
} from '@heliograph/server/telemetry/blocks/codec'
import { advance, initialCounters } from '@heliograph/simulator/counters'
import { spread } from '@heliograph/simulator/noise'
import { readingsAt } from '@heliograph/simulator/readings'
import { createSimulation } from '@heliograph/simulator/site'
import { tell } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'

const bytes_max = { inverter: 25, string: 15, meter: 15, weather: 15 } as const
type Kind = keyof typeof bytes_max
const kinds = Object.keys(bytes_max) as Kind[]
const made_per_s_min = quickOr(0, 150_000)
const day_hours = quickOr(2, 24)
const start_ms = Date.UTC(2026, 5, 21) + quickOr(10, 0) * hour_ms
/** Of a reading, about that of usual transducers. */
const noise_sigma = 0.001

type Reading = Readonly<Record<string, BlockValue>>

const parsed = parseSiteFile(
  readFileSync(new URL('../simulator/demo/site.yaml', import.meta.url), 'utf8'),
)
if ('problems' in parsed) throw new Error('the demo has no site file')
const { loggers, ...rest } = parsed.site
const [logger] = loggers
/** Some inverters of the demo; the others differ little. */
const site = {
  ...rest,
  loggers: [{ ...logger!, inverters: logger!.inverters.slice(0, 3) }],
}

const stations = logger!.stations ?? []

/** Readings of a day by device. */
function simulatedDay(step_ms: number): Record<Kind, Map<unknown, Reading[]>> {
  const simulation = createSimulation(site, 7)
  const counters = initialCounters(site, start_ms)
  const series = Object.fromEntries(kinds.map((kind) => [kind, new Map()])) as ReturnType<
    typeof simulatedDay
  >
  for (let at_ms = start_ms; at_ms < start_ms + day_hours * hour_ms; at_ms += step_ms) {
    const snapshot = simulation.at(at_ms)
    advance(counters, snapshot, at_ms)
    const readings = readingsAt(simulation, snapshot, counters)
    for (const kind of kinds) {
      for (const reading of readings[kind] as readonly object[] as readonly Reading[]) {
        const device = reading[columnsOf(kind)[0]!]
        const own = series[kind].get(device) ?? []
        series[kind].set(device, own)
        own.push(reading)
      }
    }
  }
  return series
}

let drawn = 0
const isCounter = (name: string) => /energy|alarm|state|_at$|_id$|index/.test(name)

/** Noise at the resolution of the column, the finest decimals of its values. */
function withNoise(readings: readonly Reading[]): Reading[] {
  const decimalsOf = (value: BlockValue): number => {
    if (Array.isArray(value)) return Math.max(0, ...value.map(decimalsOf))
    return typeof value === 'number' ? (String(value).split('.')[1]?.length ?? 0) : 0
  }
  const names = Object.keys(readings[0]!)
  const decimals = new Map(
    names.map((name) => [name, Math.max(...readings.map((each) => decimalsOf(each[name]!)))]),
  )
  const noisy = (value: BlockValue, name: string): BlockValue => {
    if (Array.isArray(value)) return value.map((each) => noisy(each, name) as number | null)
    if (typeof value !== 'number' || isCounter(name)) return value
    drawn += 1
    return Number((value * (1 + spread(11, 9000, drawn, noise_sigma))).toFixed(decimals.get(name)))
  }
  return readings.map((reading): Reading => {
    const measured = Object.fromEntries(names.map((name) => [name, noisy(reading[name]!, name)]))
    const station = stations.find(({ station_id }) => station_id === measured['station_id'])
    const instruments = measured['instrument_values'] as number[] | undefined
    return station && instruments
      ? { ...measured, ...plotAverages(station.instruments, instruments) }
      : measured
  })
}

/** The shortest decimal number that a 4-byte float of the database stands for. */
function asReal(value: BlockValue): BlockValue {
  if (Array.isArray(value)) return value.map((each) => asReal(each) as number | null)
  if (typeof value !== 'number') return value
  for (let digits = 6; ; digits += 1) {
    const short = Number(value.toPrecision(digits))
    if (digits === 9 || Math.fround(short) === Math.fround(value)) return short
  }
}

const isReal = (kind: ReadingKind, name: string) =>
  (readingKinds[kind].columns as Record<string, string>)[name]?.startsWith('real') ?? false

function hoursOf(kind: ReadingKind, readings: readonly Reading[]): Columns[] {
  const stored = (row: Reading, name: string) =>
    isReal(kind, name) ? asReal(row[name] ?? null) : (row[name] ?? null)
  const hours = Map.groupBy(readings, ({ measured_at }) =>
    Math.floor((measured_at as number) / hour_ms),
  )
  return [...hours.values()].map((rows) => ({
    count: rows.length,
    columns: new Map(columnsOf(kind).map((name) => [name, rows.map((row) => stored(row, name))])),
  }))
}

/** Processor time of one run after a run to warm up, whatever else the machine does. */
function coreSeconds(work: () => unknown): number {
  work()
  const before = process.cpuUsage()
  work()
  return process.cpuUsage(before).user / 1e6
}

for (const [what, step_ms, noise] of [
  ['every 5 s', 5000, false],
  ['every 5 s, with noise', 5000, true],
  ['every minute', 60_000, false],
] as const) {
  const series = simulatedDay(step_ms)
  for (const kind of kinds) {
    const devices = [...series[kind].values()]
    const hours = devices.flatMap((rows) => hoursOf(kind, noise ? withNoise(rows) : rows))
    const count = hours.reduce((sum, hour) => sum + hour.count, 0)
    const blocks = hours.map(encodeBlock)
    const made_per_s = count / coreSeconds(() => hours.map(encodeBlock))
    const read_per_s = count / coreSeconds(() => blocks.map((block) => decodeBlock(block)))
    const bytes = blocks.reduce((sum, block) => sum + block.length, 0) / count
    const limit = bytes_max[kind]
    const is_fast = kind !== 'inverter' || step_ms > 5000 || made_per_s >= made_per_s_min
    tell(
      bytes <= quickOr(Number.POSITIVE_INFINITY, limit) && is_fast,
      `${kind}, ${what}: ${bytes.toFixed(1)} bytes a reading, limit ${limit}; made at ` +
        `${(made_per_s / 1000).toFixed(0)}, read at ${(read_per_s / 1000).toFixed(0)} thousand a second of a core`,
    )
  }
}
