/**
 * Size on disk of a reading of each kind as a row, of its share of the index, and in blocks: a day
 * of a plant every 5 s with sensor noise, quantised as registers are, stored in the order of
 * arrival. From these, the size of the database of the plant after two years.
 *
 *   node bench/storage.ts
 */

import { systemClock, systemTimers } from '@heliograph/domain/clock'
import { hour_ms } from '@heliograph/domain/durations'
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import { createRollups } from '@heliograph/server/performance/rollups/job'
import type { Database } from '@heliograph/server/storage/database'
import { packHours } from '@heliograph/server/telemetry/blocks/store'
import { touchReadingsSince } from '@heliograph/server/telemetry/touched-hours'
import { tell } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { servedPlant } from './fixtures/served-plant.ts'
import { storeRows } from './fixtures/stored-rows.ts'

const inverters = quickOr(1, 12)
const strings = quickOr(1, 12)
const poll_s = quickOr(300, 5)
/** A day that ended some hours ago, so that none of it is still being summed up. */
const start_ms = Math.floor(Date.now() / hour_ms) * hour_ms - 30 * hour_ms
const log = { error: (what: unknown) => process.stderr.write(`${JSON.stringify(what)}\n`) }

const sun = 'sin(pi() * second / 86400.0)'
/** With noise of 0.1 %, about that of usual transducers, at the resolution of a register. */
const noisy = (expression: string, decimals: number) =>
  `round(((${expression}) * (1 + (random() + random() + random() - 1.5) / 500))::numeric, ${decimals})`
const list = (expression: string, length: number, decimals: number) =>
  `array(select (${noisy(expression, decimals)})::real from generate_series(1, ${length}) as nth where second is not null)`

/** A plant without batteries. */
type Kind = Exclude<ReadingKind, 'bess' | 'pcs' | 'cluster' | 'cells'>

/** Usual values of devices by kind; the other columns are null, as if not measured. */
const values: Record<Kind, Record<string, string>> = {
  inverter: {
    state: `'mppt'`,
    ac_power_kw: noisy(`98 * ${sun}`, 2),
    reactive_power_kvar: noisy(`3 * ${sun}`, 2),
    apparent_power_kva: noisy(`98.1 * ${sun}`, 2),
    power_factor: '0.999',
    frequency_hz: noisy('50.01', 2),
    voltage_l1_l2_v: noisy('801', 1),
    voltage_l2_l3_v: noisy('799', 1),
    voltage_l3_l1_v: noisy('800', 1),
    voltage_l1_n_v: noisy('462', 1),
    voltage_l2_n_v: noisy('461', 1),
    voltage_l3_n_v: noisy('463', 1),
    current_l1_a: noisy(`71 * ${sun}`, 1),
    current_l2_a: noisy(`72 * ${sun}`, 1),
    current_l3_a: noisy(`70 * ${sun}`, 1),
    dc_power_kw: noisy(`99.5 * ${sun}`, 2),
    dc_voltage_v: noisy('1043', 1),
    dc_current_a: noisy(`95 * ${sun}`, 1),
    energy_total_kwh: 'floor(402113 + second / 100.0)',
    cabinet_temperature_c: noisy('41', 1),
    heatsink_temperature_c: noisy('55', 1),
    insulation_resistance_kohm: '1450',
    power_limit_pct: '100',
    alarm_1: '0',
    alarm_2: '0',
    alarm_3: '0',
    alarm_4: '0',
    alarm_5: '0',
    mppt_voltage_v: list('1043 + nth', 6, 1),
    mppt_current_a: list(`16 * ${sun} + nth`, 6, 1),
    mppt_power_kw: list(`17 * ${sun}`, 6, 2),
  },
  string: { first_string_index: '0', current_a: list(`9.3 * ${sun} + nth / 90.0`, strings, 2) },
  meter: Object.fromEntries(
    Object.keys(readingKinds.meter.columns).map((name) => [name, noisy('100', 1)]),
  ),
  weather: {
    poa_irradiance_w_m2: noisy(`1000 * ${sun}`, 1),
    ghi_w_m2: noisy(`950 * ${sun}`, 1),
    module_temperature_c: noisy('45', 1),
    ambient_temperature_c: noisy('25', 1),
    relative_humidity_pct: noisy('40', 1),
    wind_speed_m_s: noisy('3', 1),
    wind_direction_deg: noisy('180', 0),
    instrument_values: list(`1000 * ${sun}`, 5, 1),
  },
  logger: {
    ac_power_kw: noisy(`1176 * ${sun}`, 2),
    dc_power_kw: noisy(`1194 * ${sun}`, 2),
    frequency_hz: noisy('50.01', 2),
    reactive_power_kvar: noisy(`36 * ${sun}`, 2),
    apparent_power_kva: noisy(`1177 * ${sun}`, 2),
    power_factor: '0.999',
    energy_total_kwh: 'floor(4021130 + second / 10.0)',
    poa_irradiance_w_m2: noisy(`1000 * ${sun}`, 1),
    module_temperature_c: noisy('45', 1),
    ambient_temperature_c: noisy('25', 1),
    inverters_online: '12',
    inverters_total: '12',
  },
  node: { channel_values: list('20 + nth', 6, 1) },
}

async function fill(db: Database, kind: Kind, devices: number): Promise<void> {
  const { table, keys } = readingKinds[kind]
  const names = Object.keys(values[kind]).join(', ')
  await db.execute(`create table made_readings (like ${table})`)
  await db.execute(
    `insert into made_readings (site_id, ${keys[0]}, measured_at, quality, ${names})
     select 'plant', device, $1::timestamptz + second * interval '1 second', 'good',
            ${Object.values(values[kind]).join(', ')}
     from generate_series(0, 86399, ${poll_s}) as second, generate_series(1, ${devices}) as device`,
    [new Date(start_ms).toISOString()],
  )
  await storeRows(db, kind, 'made_readings')
  await db.execute('drop table made_readings')
}

interface Size {
  rows: number
  /** With indexes. */
  bytes: number
  index_bytes: number
}

/** Size of the partitions that have rows. */
async function sizeOf(db: Database, table: string): Promise<Size> {
  await db.execute(`vacuum analyze ${table}`)
  const [size] = await db.query<Size>(
    `select sum(rows)::bigint as rows, sum(bytes)::bigint as bytes,
       sum(index_bytes)::bigint as index_bytes
     from (
       select count(*) as rows, pg_total_relation_size(tableoid) as bytes,
         pg_indexes_size(tableoid) as index_bytes
       from ${table} group by tableoid
     ) as parts`,
  )
  return size!
}

/** Size of the blocks of all readings of a kind. */
async function blockSize(db: Database, kind: Kind): Promise<number> {
  const { table, keys } = readingKinds[kind]
  const hours = await db.query<{ device_id: number; hour_at: Date }>(
    `select distinct ${keys[0]} as device_id, date_bin('1 hour', measured_at, 'epoch') as hour_at
     from ${table}`,
  )
  await db.execute('truncate reading_blocks')
  await db.transaction((transaction) => packHours(transaction, 'plant', kind, hours))
  await db.execute('vacuum analyze reading_blocks')
  const [size] = await db.query<{ bytes: number }>(
    `select pg_total_relation_size('reading_blocks') as bytes`,
  )
  return size!.bytes
}

/** Number of devices by kind, enough for whole pages of hours. */
const devices = 12
/** Number of devices in the plant of the last printed line. */
const counts = { inverter: inverters, string: inverters, meter: 1, weather: 1, logger: 1, node: 1 }
const kinds = Object.keys(counts) as Kind[]
/** Readings are in rows for at most eleven days, and all in blocks. */
const days = { rows: 11, blocks: 730 }
const plant_gb_max = quickOr(Number.POSITIVE_INFINITY, 8)

await using plant = await servedPlant({ inverters, strings })
const { db } = plant
for (const kind of kinds) await fill(db, kind, devices)
const since = new Date(start_ms)
await db.transaction((transaction) => touchReadingsSince(transaction, 'plant', since))
await db.execute(`update touched_hours set due_at = '-infinity'`)
const rollups = createRollups(db, { clock: systemClock, timers: systemTimers, log })
await rollups.runDue()

const sums = [await sizeOf(db, 'inverter_hours'), await sizeOf(db, 'string_hours')]
for (const { rows } of sums) {
  if (rows < inverters * 24) throw new Error(`${rows} rows of hourly sums`)
}
/** Bytes of a day of the plant. */
const perDay = { rows: 0, blocks: 0, sums: sums.reduce((sum, { bytes }) => sum + bytes, 0) }
process.stdout.write('bytes a reading     row   index   block\n')
for (const kind of kinds) {
  const rows = await sizeOf(db, readingKinds[kind].table)
  const block_bytes = await blockSize(db, kind)
  perDay.rows += (rows.bytes * counts[kind]) / devices
  perDay.blocks += (block_bytes * counts[kind]) / devices
  const row_bytes = rows.bytes - rows.index_bytes
  const figures = [row_bytes, rows.index_bytes, block_bytes].map((bytes) => bytes / rows.rows)
  const shown = figures.map((bytes) => bytes.toFixed(0).padStart(8))
  process.stdout.write(`${kind.padEnd(15)}${shown.join('')}\n`)
}
const parts = [
  perDay.rows * days.rows,
  perDay.blocks * days.blocks,
  (perDay.sums * days.blocks * inverters) / devices,
].map((bytes) => bytes / 1e9)
const plant_gb = parts.reduce((sum, gb) => sum + gb, 0)
const [rows_gb, blocks_gb, sums_gb] = parts.map((gb) => gb.toFixed(2))
tell(
  plant_gb <= plant_gb_max,
  `${inverters} inverters of ${strings} strings every ${poll_s} s for two years: ` +
    `${plant_gb.toFixed(2)} GB, limit 8: ${blocks_gb} of blocks, ${rows_gb} of rows, ` +
    `${sums_gb} of hourly sums`,
)
