/**
 * Size of a row on disk, with its share of the indexes: readings of each kind for a day of a plant
 * at the usual rate; of the kinds without blocks also thinned to minutes and to hours; and the
 * hourly sums. Sizes of blocks: bench/blocks.ts.
 *
 *   node bench/storage.ts
 */

import { systemClock, systemTimers } from '@heliograph/domain/clock'
import { hour_ms } from '@heliograph/domain/durations'
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import { createRollups } from '@heliograph/server/performance/rollups/job'
import type { Database } from '@heliograph/server/storage/database'
import { weeksOf } from '@heliograph/server/storage/partitions'
import { isPacked } from '@heliograph/server/telemetry/blocks/store'
import { thinWeek } from '@heliograph/server/telemetry/thinning'
import { touchReadingsSince } from '@heliograph/server/telemetry/touched-hours'
import { quickOr } from './fixtures/quick.ts'
import { servedPlant } from './fixtures/served-plant.ts'

const inverters = quickOr(1, 12)
const strings = quickOr(1, 12)
const poll_s = quickOr(300, 5)
/** A day that ended some hours ago, so that none of it is still being summed up. */
const start_ms = Math.floor(Date.now() / hour_ms) * hour_ms - 30 * hour_ms
const log = { error: (what: unknown) => process.stderr.write(`${JSON.stringify(what)}\n`) }

const sun = 'sin(pi() * second / 86400.0)'
const list = (expression: string, length: number) =>
  `array(select (${expression})::real from generate_series(1, ${length}) as nth where second is not null)`

/** A plant without batteries. */
type Kind = Exclude<ReadingKind, 'bess' | 'pcs' | 'cluster' | 'cells'>

/** Usual values of devices by kind; the other columns are null, as if not measured. */
const values: Record<Kind, Record<string, string>> = {
  inverter: {
    state: `'mppt'`,
    ac_power_kw: `98 * ${sun}`,
    reactive_power_kvar: `3 * ${sun}`,
    apparent_power_kva: `98.1 * ${sun}`,
    power_factor: '0.999',
    frequency_hz: '50.01',
    voltage_l1_l2_v: '801 + random()',
    voltage_l2_l3_v: '799 + random()',
    voltage_l3_l1_v: '800 + random()',
    voltage_l1_n_v: '462',
    voltage_l2_n_v: '461',
    voltage_l3_n_v: '463',
    current_l1_a: `71 * ${sun}`,
    current_l2_a: `72 * ${sun}`,
    current_l3_a: `70 * ${sun}`,
    dc_power_kw: `99.5 * ${sun}`,
    dc_voltage_v: '1043',
    dc_current_a: `95 * ${sun}`,
    energy_total_kwh: '402113 + second / 100.0',
    cabinet_temperature_c: '41',
    heatsink_temperature_c: '55',
    insulation_resistance_kohm: '1450',
    power_limit_pct: '100',
    alarm_1: '0',
    alarm_2: '0',
    alarm_3: '0',
    alarm_4: '0',
    alarm_5: '0',
    mppt_voltage_v: list('1043 + nth', 6),
    mppt_current_a: list(`16 * ${sun} + nth`, 6),
    mppt_power_kw: list(`17 * ${sun}`, 6),
  },
  string: { first_string_index: '0', current_a: list(`9.3 * ${sun} + nth / 90.0`, strings) },
  meter: Object.fromEntries(
    Object.entries(readingKinds.meter.columns).map(([name]) => [name, '100 + random()']),
  ),
  weather: {
    poa_irradiance_w_m2: `1000 * ${sun}`,
    ghi_w_m2: `950 * ${sun}`,
    module_temperature_c: '45 + random()',
    ambient_temperature_c: '25 + random()',
    relative_humidity_pct: '40',
    wind_speed_m_s: '3',
    wind_direction_deg: '180',
    instrument_values: list(`1000 * ${sun}`, 5),
  },
  logger: {
    ac_power_kw: `1176 * ${sun}`,
    dc_power_kw: `1194 * ${sun}`,
    frequency_hz: '50.01',
    reactive_power_kvar: `36 * ${sun}`,
    apparent_power_kva: `1177 * ${sun}`,
    power_factor: '0.999',
    energy_total_kwh: '4021130 + second / 10.0',
    poa_irradiance_w_m2: `1000 * ${sun}`,
    module_temperature_c: '45',
    ambient_temperature_c: '25',
    inverters_online: '12',
    inverters_total: '12',
  },
  node: { channel_values: list('20 + nth', 6) },
}

async function fill(db: Database, kind: Kind, devices: number): Promise<void> {
  const { table, keys } = readingKinds[kind]
  const names = Object.keys(values[kind]).join(', ')
  await db.execute(
    `insert into ${table} (site_id, ${keys[0]}, measured_at, quality, ${names})
     select 'plant', device, $1::timestamptz + second * interval '1 second', 'good',
            ${Object.values(values[kind]).join(', ')}
     from generate_series(0, 86399, ${poll_s}) as second, generate_series(1, ${devices}) as device`,
    [new Date(start_ms).toISOString()],
  )
}

interface Size {
  rows: number
  bytes: number
}

/** Size of the partitions that have rows. */
async function sizeOf(db: Database, table: string): Promise<Size> {
  await db.execute(`vacuum analyze ${table}`)
  const [size] = await db.query<Size>(
    `select sum(rows)::bigint as rows, sum(bytes)::bigint as bytes from (
       select count(*) as rows, pg_total_relation_size(tableoid) as bytes
       from ${table} group by tableoid
     ) as parts`,
  )
  return size!
}

/** Number of devices by kind, enough for whole pages of hours. */
const devices = 12
/** Number of devices in the plant of the last printed line. */
const counts = { inverter: inverters, string: inverters, meter: 1, weather: 1, logger: 1, node: 1 }
const kinds = Object.keys(counts) as Kind[]
const days = { raw: 35, minute: 760 }

const bytesPerRow = ({ rows, bytes }: Size) => bytes / rows
const gb = (bytes: number) => (bytes / 1e9).toFixed(2)

await using plant = await servedPlant({ inverters, strings })
const { db } = plant
for (const kind of kinds) await fill(db, kind, devices)
const since = new Date(start_ms)
await db.transaction((transaction) => touchReadingsSince(transaction, 'plant', since))
await db.execute(`update touched_hours set due_at = '-infinity'`)
const rollups = createRollups(db, { clock: systemClock, timers: systemTimers, log })
await rollups.runDue()

const sums: Partial<Record<ReadingKind, Size>> = {
  inverter: await sizeOf(db, 'inverter_hours'),
  string: await sizeOf(db, 'string_hours'),
}
for (const [kind, { rows }] of Object.entries(sums)) {
  if (rows < inverters * 24) throw new Error(`${kind}: ${rows} rows of hourly sums`)
}
const weeks = weeksOf(since, new Date(start_ms + 24 * hour_ms))
const perDay = { raw: 0, minute: 0, hour: 0 }
let [thinned_rows, thinning_ms] = [0, 0]
process.stdout.write('bytes a row         raw  minute    hour  sums of an hour\n')
for (const kind of kinds) {
  const { table } = readingKinds[kind]
  const raw = await sizeOf(db, table)
  const figures = [bytesPerRow(raw)]
  const share = counts[kind] / devices
  if (isPacked(kind)) {
    perDay.hour += sums[kind]!.bytes * share
    figures.push(Number.NaN, Number.NaN, bytesPerRow(sums[kind]!))
  } else {
    const thinned: Size[] = []
    for (const step_s of [60, 3600] as const) {
      const began_ms = performance.now()
      for (const week of weeks) await thinWeek(db, { kind, week, step_s }, () => true)
      if (step_s === 60) thinning_ms += performance.now() - began_ms
      thinned.push(await sizeOf(db, table))
    }
    const [minute, hour] = thinned as [Size, Size]
    thinned_rows += raw.rows
    perDay.raw += raw.bytes * share
    perDay.minute += minute.bytes * share
    perDay.hour += hour.bytes * share
    figures.push(bytesPerRow(minute), bytesPerRow(hour))
  }
  const shown = figures.map((bytes) => (Number.isNaN(bytes) ? '' : bytes.toFixed(0)).padStart(8))
  process.stdout.write(`${table.padEnd(18)}${shown.join('')}\n`)
}
process.stdout.write(
  `${inverters} inverters of ${strings} strings every ${poll_s} s, without their blocks: ` +
    `${gb(perDay.raw * days.raw)} GB of ${days.raw} days, ` +
    `${gb(perDay.minute * (days.minute - days.raw))} GB of minutes up to ${days.minute} days, ` +
    `${gb(perDay.hour * 365)} GB of hours a year\n` +
    `thinned to minutes at ${Math.round(thinned_rows / thinning_ms)} 000 rows a second\n`,
)
