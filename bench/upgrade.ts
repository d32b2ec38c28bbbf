/**
 * The upgrade of a database whose two years of readings were thinned to minutes in weekly tables:
 * time of the migrations, then the latency of other requests while job `pack_rows` makes blocks of
 * all of it and drops the tables, and whether every reading is there afterwards.
 *
 *   node bench/upgrade.ts [weeks]
 */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { day_ms, hour_ms, week_ms } from '@heliograph/domain/durations'
import { readingKinds } from '@heliograph/domain/readings'
import type { Database } from '@heliograph/server/storage/database'
import { migrate, migrations_dir } from '@heliograph/server/storage/migrate'
import { ensurePartitions, partitionName, weeksOf } from '@heliograph/server/storage/partitions'
import { packRows } from '@heliograph/server/telemetry/blocks/packing'
import { walkColumns } from '@heliograph/server/telemetry/stored-readings'
import { besideWork, startClient } from './fixtures/beside-peer.ts'
import { benchDatabase, silent } from './fixtures/database.ts'
import { elapsedMs, tell } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { inverterValues, servedPlant } from './fixtures/served-plant.ts'

const weeks = Number(process.argv[2] ?? quickOr(2, 104))
const slower_max = 1.5
/** The last migration without blocks. */
const before = 40
const kinds = ['inverter', 'string'] as const
const tables = kinds.map((kind) => readingKinds[kind].table)
const now_ms = Date.now()
// Rows of the last four days stay.
const last_week = weeksOf(new Date(now_ms - 5 * day_ms), new Date(now_ms - 4 * day_ms))[0]!
const end_ms = last_week.start.getTime()
const start_ms = end_ms - weeks * week_ms

const earlier = await mkdtemp(path.join(tmpdir(), 'heliograph-migrations-'))
for (const file of await readdir(migrations_dir)) {
  if (Number(file.slice(0, 4)) <= before) {
    await cp(path.join(migrations_dir, file), path.join(earlier, file))
  }
}
await using database = await benchDatabase({ migrations: earlier })
await rm(earlier, { recursive: true })
const { db } = database
await ensurePartitions(db, tables, new Date(start_ms), new Date(end_ms))
for (const week of weeksOf(new Date(start_ms), new Date(end_ms))) {
  await fill(db, week.start.getTime())
  for (const table of tables) {
    await db.execute('insert into thinned_partitions (name, step_s) values ($1, 60)', [
      partitionName(table, week),
    ])
  }
}
await db.execute(`vacuum analyze ${tables.join(', ')}`)

/** Minutes of a week, with registers of two decimals. */
async function fill(to: Database, week_ms_at: number): Promise<void> {
  const names = Object.keys(inverterValues)
  const values = Object.values(inverterValues).map((value) =>
    /^\d.*random\(\)/.test(value) ? `round((${value})::numeric, 2)` : value,
  )
  const from = [
    new Date(Math.max(start_ms, week_ms_at)),
    new Date(Math.min(end_ms, week_ms_at + week_ms) - 1),
  ]
  await to.execute(
    `insert into inverter_readings (site_id, inverter_id, measured_at, quality, ${names})
     select 'plant', 1, at, 'good', ${values} from generate_series($1::timestamptz, $2, '60 s') as at`,
    from,
  )
  await to.execute(
    `insert into string_readings (site_id, inverter_id, first_string_index, measured_at, quality,
       current_a)
     select 'plant', 1, 0, at, 'good', array(select (750 + floor(100 * random()))::real / 100
       from generate_series(1, 12) where at is not null)
     from generate_series($1::timestamptz, $2, '60 s') as at`,
    from,
  )
}

const migrating_ms = await elapsedMs(() => migrate(db))
process.stdout.write(`  migrations ${before + 1} and later: ${migrating_ms.toFixed(0)} ms\n`)

/** Number of readings, and the sum of the power and of the voltages of the MPPTs. */
async function sums() {
  let [count, sum] = [0, 0]
  const walk = { site_id: 'plant', device_id: 1, from_ms: -Infinity, to_ms: Infinity }
  for (const [kind, name, list] of [
    ['inverter', 'ac_power_kw', 'mppt_voltage_v'],
    ['string', 'quality', 'current_a'],
  ] as const) {
    for await (const part of walkColumns(db, kind, { ...walk, newest: false }, [name, list])) {
      count += part.count
      for (const value of part.columns.get(name) ?? []) if (typeof value === 'number') sum += value
      for (const values of part.columns.get(list) ?? []) sum += (values as number[])[1]!
    }
  }
  return { count, sum: Math.round(sum * 1000) }
}

const given = await sums()
await using plant = await servedPlant({ inverters: 1, strings: 12, database })
using client = startClient(plant)
const month_ms = 30 * day_ms
const window = `start=${new Date(end_ms - month_ms).toISOString()}&end=${new Date(end_ms - month_ms + day_ms).toISOString()}`
let packing_ms = 0

/** Runs the job until nothing is left in rows. */
async function packAll(): Promise<void> {
  const { signal } = new AbortController()
  for (let run = 0; run < 4; run += 1) {
    const clock = { now: () => new Date(Date.now() + 3 * run * hour_ms) }
    packing_ms += await elapsedMs(() => packRows({ db, clock, log: silent, signal }))
  }
}

await besideWork(client, {
  path: `/inverters/1/history?${window}&limit=1000`,
  rounds: 1,
  meanwhile: `while blocks are made of ${weeks} weeks`,
  work: packAll,
  ratio_max: quickOr(Number.POSITIVE_INFINITY, slower_max),
})
const taken = await sums()
const [left] = await db.query<{ rows: number }>(
  `select (select count(*) from inverter_readings) + (select count(*) from string_readings) as rows`,
)
tell(
  taken.count === given.count && taken.sum === given.sum && left!.rows === 0,
  `${taken.count} of ${given.count} readings, ${left!.rows} left in rows; sums ` +
    `${taken.sum === given.sum ? 'agree' : 'differ'}; ` +
    `${(given.count / (packing_ms / 1000)).toFixed(0)} rows/s beside the requests`,
)
