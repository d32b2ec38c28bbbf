/** Latency of the health matrix of a week: 500 inverters with 24 strings each. */
import { hour_ms } from '@heliograph/domain/durations'
import { hoursOfLocalDate, localDate } from '@heliograph/domain/local-day'
import {
  encodeStrings,
  string_layout,
  sumStored,
} from '@heliograph/server/performance/rollups/string-codec'
import { tellLatency, timesOf } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { servedPlant } from './fixtures/served-plant.ts'
import { stringHour } from './fixtures/string-hour.ts'

const limit_ms = 1000
const inverters = quickOr(25, 500)
const strings = 24
const requests = quickOr(3, 40)
const days = 8
/** One string in this many has a fault. */
const ill_of = 50

/** Inverters at this distance are equal. */
const kinds = 25
const known = new Map<string, ReturnType<typeof stringHour>>()

/** The sums of an hour of an inverter; `noon` 0 to 1 is the relative height of the sun. */
function hourOf(inverter_id: number, noon: number) {
  const kind = inverter_id % kinds
  const key = `${kind}/${noon}`
  const currentOf = (string_index: number) => {
    const nth = kind * strings + string_index
    return 11 * noon * (nth % ill_of === 0 ? 0.9 : 1 + ((nth % 7) - 3) / 500)
  }
  const sums =
    known.get(key) ??
    stringHour({ strings, currentOf, expected_kw: 9.4 * noon, poa_w_m2: 1000 * noon })
  known.set(key, sums)
  return sums
}

await using plant = await servedPlant({ inverters, strings })
const { db } = plant
const timezone = 'Europe/Berlin'
const now_ms = Date.now()
const first_ms = Math.floor(now_ms / hour_ms) * hour_ms - days * 24 * hour_ms
for (let inverter_id = 1; inverter_id <= inverters; inverter_id += 1) {
  const hours = []
  for (let start_ms = first_ms; start_ms <= now_ms; start_ms += hour_ms) {
    const local = ((start_ms / hour_ms) % 24) - 11
    const noon = Math.cos((local * Math.PI) / 16)
    if (Math.abs(local) < 8) hours.push({ start_ms, ...hourOf(inverter_id, noon) })
  }
  await db.execute(
    `INSERT INTO string_hours (site_id, inverter_id, hour_at, string_count, layout, sums)
       SELECT 'plant', $1, at, $2, $3, decode(sums, 'hex')
       FROM unnest($4::timestamptz[], $5::text[]) AS t (at, sums)`,
    [
      inverter_id,
      strings,
      string_layout,
      hours.map(({ start_ms }) => new Date(start_ms).toISOString()),
      hours.map(({ sums }) => sums.toString('hex')),
    ],
  )
  const dates = [...Map.groupBy(hours, ({ start_ms }) => localDate(start_ms, timezone))]
  const whole = dates.filter(([date]) => hoursOfLocalDate(date, timezone).from_ms >= first_ms)
  const totals = whole.map(([, members]) => encodeStrings(sumStored(members)).sums.toString('hex'))
  await db.execute(
    `INSERT INTO string_days (site_id, inverter_id, local_date, string_count, layout, sums)
       SELECT 'plant', $1, day, $2, $3, decode(sums, 'hex')
       FROM unnest($4::date[], $5::text[]) AS t (day, sums)`,
    [inverter_id, strings, string_layout, whole.map(([date]) => date), totals],
  )
}
await db.execute('VACUUM ANALYZE')
const matrix = JSON.parse(String(await plant.fetch('/efficiency/health-matrix')))
if (matrix.data.length !== inverters * strings) throw new Error('strings are missing')
const ill = matrix.data.filter(({ status }: { status: string }) => status !== 'healthy').length
if (ill !== (inverters * strings) / ill_of) throw new Error(`${ill} strings are ill`)
const times_ms = await timesOf(() => plant.fetch('/efficiency/health-matrix'), {
  rounds: requests,
  warmings: 5,
})
tellLatency(`health matrix of a week of ${inverters * strings} strings`, times_ms, limit_ms)
