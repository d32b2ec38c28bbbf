/**
 * Rows a second at which the roll-up sums up the backlog of an edge that was cut off, readings
 * every 5 s, and makes blocks of it; and how often a block is written when every run finds an hour
 * of which half has arrived.
 */
import { hour_ms, week_ms } from '@heliograph/domain/durations'
import { readingKinds } from '@heliograph/domain/readings'
import { foundSite, site_id } from '@heliograph/server/link/fixtures/plant'
import { createRollups } from '@heliograph/server/performance/rollups/job'
import { applyInventory } from '@heliograph/server/plant/inventory'
import { ensurePartitions } from '@heliograph/server/storage/partitions'
import { touchHours } from '@heliograph/server/telemetry/touched-hours'
import { loadSite } from '../test/end-to-end/load-site.ts'
import { benchDatabase, silent } from './fixtures/database.ts'
import { elapsedMs, tell } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { inverterValues } from './fixtures/served-plant.ts'
import { storeRows } from './fixtures/stored-rows.ts'

const rows_per_s_min = 20_000
const writes_max = 2
const hours = quickOr(2, 24)
const inverters = loadSite.loggers.flatMap((logger) => logger.inverters).length
const start_ms = Math.floor((Date.now() - week_ms) / hour_ms) * hour_ms

await using database = await benchDatabase()
const { db } = database
await foundSite(db)
const site = { ...loadSite, site_id }
await db.transaction((transaction) =>
  applyInventory(transaction, site, { json: JSON.stringify(site), epoch: 'bench', seq: 1, at: 1 }),
)
const tables = Object.values(readingKinds).map(({ table }) => table)
await ensurePartitions(db, tables, new Date(start_ms), new Date(start_ms + week_ms))
await db.execute(`
  create table written_blocks (kind text, device_id integer, hour_at timestamptz);
  create function note_block() returns trigger language plpgsql as $$ begin
    insert into written_blocks values (new.kind, new.device_id, new.hour_at); return null;
  end $$;
  create trigger note_block after insert or update on reading_blocks
    for each row execute function note_block()`)

/** The rows of half an hour of all inverters, and the marks of their hours. */
async function arrive(from_ms: number): Promise<void> {
  const given = [site_id, new Date(from_ms), new Date(from_ms + hour_ms / 2 - 5000)]
  const instants = `generate_series(1, ${inverters}) as id,
    generate_series($2::timestamptz, $3::timestamptz, '5 s') as at`
  await db.execute('create table made_readings (like inverter_readings)')
  await db.execute(
    `insert into made_readings (site_id, inverter_id, measured_at, quality,
       ${Object.keys(inverterValues)})
     select $1, id, at, 'good', ${Object.values(inverterValues)} from ${instants}`,
    given,
  )
  await storeRows(db, 'inverter', 'made_readings')
  await db.execute('drop table made_readings')
  await db.transaction(async (transaction) => {
    await transaction.execute(
      `insert into string_readings (site_id, inverter_id, first_string_index, measured_at, quality,
         current_a)
       select $1, id, 0, at, 'good',
         array(select (750 + floor(100 * random()))::real / 100
               from generate_series(1, 4) where at is not null)
       from ${instants}`,
      given,
    )
    const hour = Math.floor(from_ms / hour_ms)
    const marks = Array.from({ length: inverters }, (_, nth) =>
      ['inverter', 'string'].map((kind) => ({ site_id, kind, device_id: nth + 1, hour })),
    )
    await touchHours(transaction, marks.flat())
  })
}

const clock = { now: () => new Date() }
let [rolling_ms, processor_ms] = [0, 0]
// From the middle of an hour to the middle of the next.
await arrive(start_ms)
for (let hour = 0; hour < hours; hour += 1) {
  for (const part of [1, 2]) await arrive(start_ms + (2 * hour + part) * (hour_ms / 2))
  await db.execute(`update touched_hours set due_at = '-infinity'`)
  const rollups = createRollups(db, { clock, timers: { after: () => () => {} }, log: silent })
  const used = process.cpuUsage()
  rolling_ms += await elapsedMs(() => rollups.runDue())
  const { user, system } = process.cpuUsage(used)
  processor_ms += (user + system) / 1000
}
const rows = hours * inverters * 2 * 720
const rows_per_s = rows / (rolling_ms / 1000)
tell(
  rows_per_s >= quickOr(0, rows_per_s_min),
  `summed up and in blocks: ${rows_per_s.toFixed(0)} rows/s, limit ${rows_per_s_min}; ` +
    `${((1000 * rows) / processor_ms).toFixed(0)} rows a second of the processor of the server`,
)
const [written] = await db.query<{ most: number }>(
  `select max(count) as most from (
     select count(*) from written_blocks group by kind, device_id, hour_at) as blocks`,
)
tell(written!.most <= writes_max, `a block is written ${written!.most} times, limit ${writes_max}`)
