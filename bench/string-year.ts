/**
 * Time in the database of the daily energy of every string over a year, from the sums of days:
 * 1,000 inverters of twelve strings.
 *
 *   node bench/string-year.ts
 */
import { quantityBytes, quantityOf } from '@heliograph/server/performance/rollups/string-codec'
import { benchDatabase } from './fixtures/database.ts'
import { elapsedMs, median, tell } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { stringHour } from './fixtures/string-hour.ts'

const limit_ms = 1000
const inverters = quickOr(3, 1000)
const strings = 12
const days = quickOr(5, 365)
const rounds = quickOr(1, 5)

await using database = await benchDatabase()
const { db } = database
const { string_count, layout, sums } = stringHour({
  strings,
  currentOf: (string_index) => 8 + string_index / 10,
  expected_kw: 7,
  poa_w_m2: 700,
})
await db.execute(
  `insert into string_days (site_id, inverter_id, local_date, string_count, layout, sums)
   select 'plant', inverter_id, date '2025-01-01' + nth, $1, $2, $3
   from generate_series(0, $5::int - 1) as nth, generate_series(1, $4::int) as inverter_id`,
  [string_count, layout, sums, inverters, days],
)
await db.execute('vacuum analyze string_days')

const energies = `select inverter_id, local_date, ${quantityBytes('energy_kwh')} as energies
  from string_days where site_id = 'plant' and local_date >= $1 and local_date < $2`
const year = ['2025-01-01', '2026-01-01']
const first = await db.queryOne<{ energies: Buffer }>(`${energies} limit 1`, year)
if (quantityOf(first!.energies).length !== strings) throw new Error('strings are missing')

/** Time of the statement without its transfer. */
const times_ms: number[] = []
for (let round = 0; round < rounds; round += 1) {
  const statement = `select count(*), sum(length(energies)) as bytes from (${energies}) as e`
  times_ms.push(
    await elapsedMs(async () => {
      const found = await db.queryOne<{ count: number; bytes: number }>(statement, year)
      if (found!.bytes !== 4 * strings * inverters * days) throw new Error('days are missing')
    }),
  )
}
const size = await db.queryOne<{ bytes: number }>(
  `select pg_total_relation_size('string_days') as bytes`,
)
tell(
  median(times_ms) <= limit_ms,
  `daily energy of ${inverters * strings} strings over ${days} days: ` +
    `${median(times_ms).toFixed(0)} ms in the database, limit ${limit_ms}, ` +
    `${(size!.bytes / 1e6).toFixed(0)} MB of days`,
)
