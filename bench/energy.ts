/**
 * Latency of a month of energy by hour, for 28 loggers with 50 inverters each. The client is
 * another process. A peer alternates with it: the driver's bare query of the same rows, and
 * JSON.stringify of the same answer.
 */
import { day_ms } from '@heliograph/domain/durations'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import { storeLoggerDays } from '@heliograph/server/performance/rollups/logger-days'
import { besidePeer, startClient } from './fixtures/beside-peer.ts'
import { quickOr } from './fixtures/quick.ts'
import { servedPlant } from './fixtures/served-plant.ts'

const limit_ms = 50
const loggers = quickOr(2, 28)
const inverters_of_each = quickOr(2, 50)
const days = quickOr(9, 30)

const today = utcDayStart(Date.now())
const instant = (time_ms: number) => new Date(time_ms).toISOString()
const [start, end] = [instant(today - days * day_ms), instant(today)]
const month = { path: `/energy/hourly?start=${start}&end=${end}`, items: days * loggers }

await using plant = await servedPlant({ inverters: loggers * 10, strings: 1 })
using client = startClient(plant)
await addHours()
const yesterday_ms = today - day_ms
const since = instant(Date.now() - 7 * day_ms)
await measure('hourly energy of a month', month, [start, end, null])
await measure(
  'summary of a day',
  { path: `/plant/summary?date=${utcDate(yesterday_ms)}`, items: loggers },
  [instant(yesterday_ms), end, null],
)
await measure('hourly energy of a logger', { path: '/loggers/1/hourly-energy', items: 7 * 24 }, [
  since,
  instant(Date.now()),
  1,
])

async function addHours(): Promise<void> {
  const { db } = plant
  await db.execute(
    `INSERT INTO logger_hours (site_id, logger_id, hour_at, inverter_count, known_count, energy_kwh,
       estimated_energy_kwh, energy_source, sample_count, awake_covered_s, sun_covered_s,
       expected_energy_kwh, curtailment_loss_kwh, insolation_kwh_m2, peak_power_kw, peak_power_at,
       first_production_at, last_production_at)
     SELECT 'plant', id, at, $2, $2, sun * (2000 + 100 * random()), 0, 'inverter_counter', $2 * 180,
       $2 * 3600 * sign(sun), $2 * 3600 * sign(sun), sun * (2100 + 100 * random()), random(), sun,
       sun * 2500 * random(), at, at, at
     FROM generate_series(1, $1::int) AS id,
       generate_series($3::timestamptz, now(), interval '1 hour') AS at,
       LATERAL (SELECT greatest(0, sin((extract(hour FROM at AT TIME ZONE 'UTC') - 5) / 14 * pi()))
         AS sun) AS light`,
    [loggers, inverters_of_each, start],
  )
  const hours = Array.from({ length: days + 1 }, (_, day) =>
    instant(Date.parse(start) + day * day_ms),
  )
  await db.transaction((transaction) => storeLoggerDays(transaction, 'plant', hours))
  await db.execute('VACUUM ANALYZE')
}

async function measure(
  name: string,
  { path, items }: { path: string; items: number },
  window: readonly [string, string, number | null],
): Promise<void> {
  const answer = JSON.parse(String(await plant.fetch(path)))
  if (answer.data.length !== items) throw new Error(`${answer.data.length} items of ${items}`)
  const byPeer = async () => {
    await plant.peer.query(
      `SELECT logger_id, hour_at, inverter_count, energy_kwh, estimated_energy_kwh, energy_source,
         awake_covered_s, sun_covered_s, expected_energy_kwh, curtailment_loss_kwh
       FROM logger_hours WHERE site_id = 'plant' AND hour_at >= $1 AND hour_at < $2
         AND ($3::int IS NULL OR logger_id = $3) ORDER BY logger_id, hour_at`,
      [...window],
    )
    return JSON.stringify(answer)
  }
  await besidePeer(client, {
    name: `${name}, ${loggers} loggers of ${inverters_of_each} inverters`,
    path,
    requests: 30,
    limit_ms,
    peer: { name: 'bare query and JSON.stringify', work: byPeer },
  })
}
