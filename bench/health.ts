/** Latency of the health matrix of a week: 500 inverters with 24 strings each. */
import { hour_ms } from '@heliograph/domain/durations'
import { hoursOfLocalDate, localDate } from '@heliograph/domain/local-day'
import { sumStrings } from '@heliograph/server/performance/diagnostics/string-sums'
import {
  encodeStrings,
  string_layout,
  sumStored,
} from '@heliograph/server/performance/rollups/string-codec'
import { quickOr } from './fixtures/quick.ts'
import { servedPlant } from './fixtures/served-plant.ts'
import { layoutOf } from './fixtures/string-layout.ts'

const limit_ms = 1000
const inverters = quickOr(25, 500)
const strings = 24
const requests = quickOr(3, 40)
const days = 8
/** One string in this many has a fault. */
const ill_of = 50

const layout = layoutOf(strings)

/** Inverters at this distance are equal. */
const kinds = 25
const known = new Map<string, ReturnType<typeof sumHour>>()

function hourOf(inverter_id: number, noon: number) {
  const key = `${inverter_id % kinds}/${noon}`
  const sums = known.get(key) ?? sumHour(inverter_id % kinds, noon)
  known.set(key, sums)
  return sums
}

/** The sums of an hour of one-minute samples; `noon` 0 to 1 is how high the sun stands. */
function sumHour(kind: number, noon: number) {
  const start_ms = 0
  const samples = Array.from({ length: 62 }, (_, minute) => ({
    time_ms: start_ms + (minute - 1) * 60_000,
    current_a: layout.map(({ string_index }) => {
      const nth = kind * strings + string_index
      const share = nth % ill_of === 0 ? 0.9 : 1 + ((nth % 7) - 3) / 500
      return 11 * noon * share * (1 + (minute % 3) / 500)
    }),
    voltage_v: layout.map(() => 840),
    expected_kw: layout.map(() => 9.4 * noon),
    poa_w_m2: 1000 * noon,
    is_limited: false,
  }))
  return encodeStrings(sumStrings(layout, samples, { start_ms, end_ms: start_ms + hour_ms }))
}

const plant = await servedPlant({ inverters, strings })
try {
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
    const totals = whole.map(([, members]) =>
      encodeStrings(sumStored(members)).sums.toString('hex'),
    )
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
  for (let warming = 0; warming < 5; warming += 1) await plant.fetch('/efficiency/health-matrix')
  const elapsed_ms: number[] = []
  for (let request = 0; request < requests; request += 1) {
    const began = performance.now()
    await plant.fetch('/efficiency/health-matrix')
    elapsed_ms.push(performance.now() - began)
  }
  elapsed_ms.sort((a, b) => a - b)
  const at = (share: number) => elapsed_ms[Math.ceil(share * requests) - 1]!
  process.stdout.write(
    `health matrix of a week of ${inverters * strings} strings: p50 ${at(0.5).toFixed(0)} ms, ` +
      `p99 ${at(0.99).toFixed(0)} ms, limit ${limit_ms} ms\n`,
  )
  process.exitCode = at(0.99) < limit_ms ? 0 : 1
} finally {
  await plant.close()
}
