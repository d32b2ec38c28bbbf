/**
 * Updates the hourly sums of inverters and strings when readings arrive, and packs the readings of
 * every kind into blocks. Marked hours are summed up
 * from the stored readings, so that late, repeated and corrected readings lead to the same sums as
 * readings in order. Ended days are then scanned for small persistent losses of strings.
 */

import { setImmediate } from 'node:timers/promises'
import { cached } from '@heliograph/domain/cached'
import type { Clock, Timers } from '@heliograph/domain/clock'
import { hour_ms } from '@heliograph/domain/durations'
import { hoursOfLocalDate, localDate } from '@heliograph/domain/local-day'
import { placeOf } from '@heliograph/domain/place'
import { reach_ms } from '@heliograph/domain/reach'
import { readingKinds } from '@heliograph/domain/readings'
import { tryLock } from '../../storage/advisory-lock.ts'
import type { Database, Log, Transaction } from '../../storage/database.ts'
import { packHours, packing_lock_class } from '../../telemetry/blocks/store.ts'
import { readFinalWeeks } from '../../telemetry/final-weeks.ts'
import { reconcileHours } from '../../telemetry/gaps/job.ts'
import {
  countRunning,
  dueHours,
  hasEnded,
  type Mark,
  readSettled,
  settleHours,
  sitesWithDueHours,
  touchHours,
} from '../../telemetry/touched-hours.ts'
import { storeEnergyHours } from './energy-hours.ts'
import { updateEnergyToday } from './energy-today.ts'
import { type InverterSpan, sumInverter } from './inverter-span.ts'
import {
  type Daylight,
  daylightAt,
  type InverterSun,
  inverterSun,
  plantLight,
  screenedReadings,
  stationsAround,
  stationsFor,
  stringsKey,
} from './plant-light.ts'
import {
  type Plant,
  type PlantInverter,
  type PlantStation,
  type RawWindow,
  readInverters,
  readLayout,
  readPlant,
  readStringRanges,
  readWeather,
} from './raw.ts'
import { scanForSteps } from './step-scan.ts'
import { readStringHours, storeInverterHours, storeStringDays, storeStringHours } from './store.ts'
import { encodeStrings, sumStored } from './string-codec.ts'

/** Marks per transaction, two per inverter: one to two seconds of work at a large site. */
const marks_most = 200
/** Marks of met stations per transaction; each marks the inverters that use the station. */
const station_marks_most = 20
/** Inverters whose readings are held in memory at once. */
const inverters_at_once = 16
/** Minimum interval between updates of the current hour, */
const running_ms = 300_000
/** and as a multiple of the duration of an update. */
const running_rest = 4
const settle_ms = 20_000
const idle_ms = 5_000
const failed_ms = 30_000
/** Inverters scanned between two rounds of hours. */
const scans_max = 8
/** Interval of the check for unscanned days, which appear once a day. */
const scans_idle_ms = 600_000

export function createRollups(
  db: Database,
  { clock, timers, log }: { clock: Clock; timers: Timers; log: Pick<Log, 'error'> },
) {
  let is_stopping = false
  let running: Promise<unknown> = Promise.resolve()
  let cancel: (() => void) | null = null
  const scanDays = createScans(db, clock)

  /** Processes some marks of every site, then some days. */
  async function round(): Promise<{ marks: number; scans: number }> {
    let marks = 0
    const behind = new Set<string>()
    for (const site_id of await sitesWithDueHours(db, clock.now())) {
      if (is_stopping) break
      const turn = await locked(db, site_id, (transaction) => rollUp(transaction, site_id, clock))
      if (!turn || turn.is_behind) behind.add(site_id)
      marks += turn?.marks ?? 0
    }
    return { marks, scans: is_stopping ? 0 : await scanDays(behind) }
  }

  function next(delay_ms: number): void {
    if (is_stopping) return
    cancel = timers.after(delay_ms, () => {
      const began_ms = clock.now().getTime()
      running = round().then(
        // Pauses as long as it worked, so that requests have priority.
        ({ marks, scans }) =>
          next(marks + scans === 0 ? idle_ms : clock.now().getTime() - began_ms),
        (error: unknown) => {
          log.error({ err: error }, 'summing hours or scanning days failed; they stay due')
          next(failed_ms)
        },
      )
    })
  }

  return {
    /** Processes all due marks and unscanned days; returns the number of marks. */
    async runDue() {
      let all = 0
      for (;;) {
        const { marks, scans } = await round()
        if (marks + scans === 0) return all
        all += marks
      }
    },
    /** Runs until `stop` resolves, at most half of the time. */
    start: () => next(idle_ms),
    async stop() {
      is_stopping = true
      cancel?.()
      await running
    },
  }
}

/**
 * Each call scans the days of some inverters of one site and returns their number; the list of
 * sites is renewed periodically. Sites that are behind with their hours are skipped.
 */
function createScans(db: Database, clock: Clock): (behind: ReadonlySet<string>) => Promise<number> {
  let pending: string[] = []
  let due_ms = Number.NEGATIVE_INFINITY
  return async (behind) => {
    const now = clock.now()
    if (pending.length === 0) {
      if (now.getTime() < due_ms) return 0
      due_ms = now.getTime() + scans_idle_ms
      pending = await sitesWithInventory(db)
    }
    for (;;) {
      const at = pending.findLastIndex((site_id) => !behind.has(site_id))
      if (at < 0) return 0
      const site_id = pending[at]!
      const scans = await locked(db, site_id, (transaction) =>
        scanForSteps(transaction, site_id, now, scans_max),
      )
      if (scans) return scans
      pending.splice(at, 1)
    }
  }
}

/** Runs work on the sums of a site under its lock; null when another process holds the lock. */
function locked<Result>(
  db: Database,
  site_id: string,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result | null> {
  return db.transaction(async (transaction) => {
    const is_ours = await tryLock(transaction, packing_lock_class, site_id)
    return is_ours ? work(transaction) : null
  })
}

async function sitesWithInventory(db: Database): Promise<string[]> {
  const rows = await db.query<{ site_id: string }>(
    'select site_id from sites where inventory is not null order by site_id desc',
  )
  return rows.map(({ site_id }) => site_id)
}

/**
 * Sums up some due hours of a site. Returns the number of processed marks, and whether more are
 * due: the limit was reached, or stations marked their inverters.
 */
async function rollUp(transaction: Transaction, site_id: string, clock: Clock) {
  const now = clock.now()
  const settled_at = await readSettled(transaction)
  const due = (kinds: readonly string[], most: number) =>
    dueHours(transaction, site_id, { now, kinds, most })
  const stations = await due(['weather'], station_marks_most)
  const marks = stations.length > 0 ? stations : await due(device_kinds, marks_most)
  if (marks.length === 0) return { marks: 0, is_behind: false }
  const whole = await withReadings(transaction, marks)
  if (stations.length > 0) await touchAround(transaction, site_id, whole, now)
  const summed = stations.length > 0 ? null : await sumMarkedHours(transaction, site_id, whole)
  await reconcileHours(transaction, site_id, whole, now)
  const ended = marks.filter((mark) => hasEnded(mark, { now, settled_at }))
  for (const [kind, of_kind] of Map.groupBy(ended, (mark) => mark.kind)) {
    await packHours(transaction, site_id, kind, of_kind)
  }
  const each_ms = (clock.now().getTime() - now.getTime()) / marks.length
  const running = await countRunning(transaction, site_id, now)
  await settleHours(transaction, site_id, marks, {
    now,
    settled_at,
    settle_ms,
    running_ms: Math.max(running_ms, running_rest * running * each_ms),
  })
  if (summed !== null) await updateEnergyToday(transaction, { site_id, ...summed }, now)
  return { marks: marks.length, is_behind: stations.length > 0 || marks.length >= marks_most }
}

const device_kinds = Object.keys(readingKinds).filter((kind) => kind !== 'weather')

/** Marks without hours whose sums are final because their readings were thinned. */
async function withReadings(transaction: Transaction, marks: readonly Mark[]): Promise<Mark[]> {
  const final = await readFinalWeeks(transaction)
  return marks.filter(({ hour_at }) => !final.holds(hour_at.getTime()))
}

/** Returns the time zone of the site; null if no hour of an inverter is marked. */
async function sumMarkedHours(
  transaction: Transaction,
  site_id: string,
  marks: readonly Mark[],
): Promise<{ timezone: string } | null> {
  const measured = marks.filter(({ kind }) => kind === 'inverter' || kind === 'string')
  const ids = new Set(measured.map(({ device_id }) => device_id))
  if (ids.size === 0) return null
  const plant = await readPlant(transaction, site_id, [...ids])
  const days = new Map<string, { inverter_id: number; date: string }>()
  const summed = new Map<number, number[]>()
  const daylight = daylightAt(placeOf(plant.facts))
  for (const [hour, hour_marks] of Map.groupBy(measured, ({ hour_at }) => hour_at.getTime())) {
    const ids = new Set(hour_marks.map(({ device_id }) => device_id))
    const inverters = [...ids].flatMap((id) => plant.inverters.get(id) ?? [])
    if (inverters.length === 0) continue
    await sumHour(transaction, site_id, plant, { hour_ms: hour, inverters, daylight })
    const date = localDate(hour, plant.facts.timezone)
    for (const { inverter_id } of inverters) {
      days.set(`${inverter_id}/${date}`, { inverter_id, date })
      summed.set(inverter_id, [...(summed.get(inverter_id) ?? []), hour])
    }
  }
  const sun = daylight?.height ?? null
  await storeEnergyHours(transaction, site_id, { plant, sun }, summed)
  await sumDays(transaction, site_id, plant.facts.timezone, [...days.values()])
  return plant.facts
}

async function sumHour(
  transaction: Transaction,
  site_id: string,
  plant: Plant,
  {
    hour_ms: start_ms,
    inverters,
    daylight,
  }: { hour_ms: number; inverters: readonly PlantInverter[]; daylight: Daylight | null },
): Promise<void> {
  const span = { start_ms, end_ms: start_ms + hour_ms }
  const around = { site_id, from_ms: span.start_ms - reach_ms, to_ms: span.end_ms + reach_ms + 1 }
  const sunOf = await plantSuns(transaction, plant, around, inverters)
  for (let first = 0; first < inverters.length; first += inverters_at_once) {
    const some = inverters.slice(first, first + inverters_at_once)
    const window: RawWindow = { ...around, ids: some.map(({ inverter_id }) => inverter_id) }
    const readings = await readInverters(transaction, window)
    const ranges = await readStringRanges(transaction, window)
    const sums: ({ inverter_id: number } & InverterSpan)[] = []
    for (const inverter of some) {
      const { inverter_id } = inverter
      const measured = {
        readings: readings.get(inverter_id) ?? [],
        ranges: ranges.get(inverter_id) ?? [],
        sun: sunOf(inverter),
        isDay: daylight?.isDay ?? null,
        isAwake: daylight?.isAwake ?? null,
      }
      sums.push({ inverter_id, ...sumInverter(inverter, measured, span) })
      // Lets other work run after some milliseconds of computation.
      await setImmediate()
    }
    await storeHour(transaction, site_id, new Date(start_ms), sums)
  }
}

async function storeHour(
  transaction: Transaction,
  site_id: string,
  hour_at: Date,
  sums: readonly ({ inverter_id: number } & InverterSpan)[],
): Promise<void> {
  const keyOf = ({ inverter_id }: { inverter_id: number }) => ({ inverter_id, hour_at })
  await storeInverterHours(
    transaction,
    site_id,
    sums.flatMap((each) => (each.inverter ? { ...keyOf(each), ...each.inverter } : [])),
    sums.filter(({ inverter }) => inverter === null).map(keyOf),
  )
  await storeStringHours(
    transaction,
    site_id,
    sums.flatMap((each) =>
      each.strings ? { ...keyOf(each), ...encodeStrings(each.strings) } : [],
    ),
    sums.filter(({ strings }) => strings === null).map(keyOf),
  )
}

/** Expected output of each inverter; inverters with equal strings share one computation. */
async function plantSuns(
  transaction: Transaction,
  plant: Plant,
  around: Omit<RawWindow, 'ids'>,
  inverters: readonly PlantInverter[],
): Promise<(inverter: PlantInverter) => InverterSun | null> {
  const place = placeOf(plant.facts)
  if (place === null) return () => null
  const asked = new Set(inverters.flatMap((each) => stationsAround(each, plant.stations)))
  const stations = plant.stations.filter((station) => asked.has(station))
  const ids = stations.map(({ station_id }) => station_id)
  const measured = await readWeather(transaction, { ...around, ids })
  const readings = screenedReadings(place, stations, measured)
  const lightOf = cached((station: PlantStation) =>
    plantLight(place, station, readings.get(station.station_id)!),
  )
  const sunOf = cached(
    ({ inverter, station }: { inverter: PlantInverter; station: PlantStation }) =>
      inverterSun(inverter, lightOf(station)),
    ({ inverter, station }) => `${station.station_id}: ${stringsKey(inverter)}`,
  )
  return (inverter) => {
    const own = stationsFor(inverter, plant.stations)
    const station = own.find(({ station_id }) => readings.has(station_id))
    return station ? sunOf({ inverter, station }) : null
  }
}

/** A day of strings is the sum of the hours that start on its local date. */
async function sumDays(
  transaction: Transaction,
  site_id: string,
  timezone: string,
  days: readonly { inverter_id: number; date: string }[],
): Promise<void> {
  for (const [local_date, members] of Map.groupBy(days, ({ date }) => date)) {
    const rows = await readStringHours(transaction, site_id, {
      inverter_ids: members.map(({ inverter_id }) => inverter_id),
      ...hoursOfLocalDate(local_date, timezone),
    })
    const totals = [...Map.groupBy(rows, ({ inverter_id }) => inverter_id)].map(
      ([inverter_id, hours]) => ({ inverter_id, local_date, ...encodeStrings(sumStored(hours)) }),
    )
    await storeStringDays(transaction, site_id, totals)
  }
}

/** Turns marks of met stations into marks of the inverters that use the stations. */
export async function touchAround(
  transaction: Transaction,
  site_id: string,
  station_marks: readonly Mark[],
  now: Date,
): Promise<void> {
  const { inverters, stations } = await readLayout(transaction, site_id)
  const invertersOf = new Map<number, number[]>()
  for (const inverter of inverters) {
    for (const { station_id } of stationsAround(inverter, stations)) {
      const ids = invertersOf.get(station_id) ?? []
      invertersOf.set(station_id, ids)
      ids.push(inverter.inverter_id)
    }
  }
  for (const [hour_at_ms, marks] of Map.groupBy(station_marks, ({ hour_at }) =>
    hour_at.getTime(),
  )) {
    const ids = new Set(marks.flatMap(({ device_id }) => invertersOf.get(device_id) ?? []))
    const hour = hour_at_ms / hour_ms
    const touched = [...ids].map((device_id) => ({ site_id, kind: 'inverter', device_id, hour }))
    await touchHours(transaction, touched, now)
  }
}
