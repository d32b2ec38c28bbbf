/**
 * Latency of a year of earnings by hour, for one plant in a market of quarter hours: 35 thousand
 * exact products, and the amount of each fee. The client is another process. A peer alternates with
 * it: the driver's bare query of the hours and prices, and JSON.stringify of the same answer.
 */
import { day_ms } from '@heliograph/domain/durations'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import { besidePeer, cpuOf, startClient } from './fixtures/beside-peer.ts'
import { waitsOf } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { servedPlant } from './fixtures/served-plant.ts'

const limit_ms = 100
const days = quickOr(10, 365)
const loggers = 4

const today = utcDayStart(Date.now())
const [start, end] = [utcDate(today - days * day_ms), utcDate(today - day_ms)]
const path = `/earnings/hourly?start=${start}&end=${end}&logger_id=1`

await using plant = await servedPlant({ inverters: loggers * 10, strings: 1 })
using client = startClient(plant)
await addEarnings()
const answer = JSON.parse(String(await plant.fetch(path)))
if (answer.data.length !== days * 24) throw new Error(`${answer.data.length} items`)
if (!answer.data.every(({ reason }: { reason: unknown }) => reason === null)) {
  throw new Error('some hours have no money')
}
const byPeer = async () => {
  const window = [start, utcDate(today)]
  await plant.peer.query(
    `SELECT hour_at, energy_kwh, quarter_kwh, curtailment_loss_kwh, awake_covered_s
       FROM logger_hours WHERE site_id = 'plant' AND logger_id = 1 AND hour_at >= $1
         AND hour_at < $2 ORDER BY hour_at`,
    window,
  )
  await plant.peer.query(
    `SELECT start_at, end_at, price FROM market_prices WHERE market_code = 'DE-LU'
         AND kind = 'day_ahead' AND is_current AND start_at >= $1 AND start_at < $2 ORDER BY start_at`,
    window,
  )
  return JSON.stringify(answer)
}
await besidePeer(client, {
  name: 'hourly earnings of a year, one plant',
  path,
  requests: quickOr(2, 15),
  limit_ms,
  peer: { name: 'bare queries and JSON.stringify', work: byPeer },
})
const month = `/earnings/summary?start=${utcDate(today - 30 * day_ms)}&end=${end}`
const sums = await client.ask(month, quickOr(2, 150))
process.stdout.write(
  `summary of a month, ${loggers} plants: ${waitsOf(sums.wall_ms)}, CPU of the server ` +
    `${cpuOf([sums])} ms\n`,
)

/** A year of production and prices, with three fees of different kinds. */
async function addEarnings(): Promise<void> {
  const { db } = plant
  await db.query(`
    INSERT INTO logger_hours (site_id, logger_id, hour_at, inverter_count, known_count, energy_kwh,
      estimated_energy_kwh, energy_source, sample_count, awake_covered_s, sun_covered_s,
      expected_energy_kwh, curtailment_loss_kwh, insolation_kwh_m2, quarter_kwh,
      quarter_slot_count, clipped_s, fault_s)
    SELECT 'plant', id, at, 10, 10, sun * 4000, 0, 'inverter_counter', 1800, 36000 * sign(sun),
      3600 * sign(sun), sun * 4100, sun * 3, sun, array_fill((sun * 1000)::float8, ARRAY[4]),
      array_fill(30, ARRAY[4]), 0, 0
    FROM generate_series(1, ${loggers}) AS id,
      generate_series(timestamptz '${start}', now(), interval '1 hour') AS at,
      LATERAL (SELECT greatest(0, sin((extract(hour FROM at AT TIME ZONE 'UTC') - 5) / 14 * pi()))
        * (0.8 + 0.2 * random()) AS sun) AS light;
    INSERT INTO market_prices (market_code, kind, start_at, end_at, price, revision, source,
      fetched_at)
    SELECT 'DE-LU', 'day_ahead', at, at + interval '15 minutes',
      round((80 * random() - 10)::numeric, 2), 1, 'csv', now()
    FROM generate_series(timestamptz '${start}', now() + interval '1 day', interval '15 minutes')
      AS at;
    INSERT INTO market_assignments (site_id, logger_id, market_code, contract_type,
      pays_at_negative_price, currency, valid_from)
    SELECT 'plant', id, 'DE-LU', 'spot', true, 'EUR', '2020-01-01'
    FROM generate_series(1, ${loggers}) AS id;
    INSERT INTO fees (site_id, code, name, basis, value, currency, valid_from) VALUES
      ('plant', 'aggregator', 'Direct marketing', 'per_mwh', 2.15, 'EUR', '2020-01-01'),
      ('plant', 'tax', 'Levy', 'percent', 5, null, '2020-01-01'),
      ('plant', 'market_fee', 'Access', 'per_month', 120, 'EUR', '2020-01-01')`)
  await db.execute('VACUUM ANALYZE')
}
