/**
 * Time of one evaluation of the alert rules at a site of 500 inverters with 24 strings each, by
 * source. Many conditions hold at once in all sources, as in the worst hour of a year.
 */

import { alertSources } from '@heliograph/server/alerts/alert-sources'
import type { SourceContext } from '@heliograph/server/alerts/finding'
import { settingsInForce } from '@heliograph/server/alerts/settings'
import {
  encodeStrings,
  string_layout,
  sumStored,
} from '@heliograph/server/performance/rollups/string-codec'
import { quantile, tell, waitsOf } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { inverterValues, servedPlant } from './fixtures/served-plant.ts'
import { stringHour } from './fixtures/string-hour.ts'

const limit_ms = 200
const inverters = quickOr(50, 500)
const strings = 24
const rounds = quickOr(2, 40)
const now = new Date('2026-06-21T11:30:00Z')
/** One inverter in this many is in fault, reports an alarm, or is offline. */
const ill_of = 25
/** One string in this many carries no current, or too little. */
const dead_of = 200

/** The sums of an hour of an inverter; its second string may be weak. */
const hourOf = (is_weak: boolean) =>
  stringHour({
    strings,
    currentOf: (string_index) => (is_weak && string_index === 1 ? 7 : 9),
    expected_kw: 8,
    poa_w_m2: 850,
  })

await using plant = await servedPlant({ inverters, strings })
const { db } = plant
const at = now.toISOString()
await db.execute(`
    INSERT INTO edges (site_id, edge_id, name, secret_sha256, connected_at, last_seen_at)
    VALUES ('plant', '0123456789ab', 'Edge', '', '2026-06-21T00:00:00Z', '${at}')`)
const values = {
  ...inverterValues,
  state: `CASE WHEN id % ${ill_of} = 0 THEN 'fault'
    ELSE 'mppt' END`,
  alarm_1: `CASE WHEN id % ${ill_of} = 1 THEN 128 ELSE 0 END`,
}
const names = Object.keys(values)
await db.execute(
  `INSERT INTO inverter_latest (site_id, inverter_id, measured_at, quality, received_at, ${names})
     SELECT 'plant', id, CASE WHEN id % ${ill_of} = 2 THEN at - interval '1 h' ELSE at END, 'good',
       at, ${Object.values(values)}
     FROM generate_series(1, ${inverters}) AS id, (SELECT '${at}'::timestamptz AS at) AS now`,
)
await db.execute(`
    INSERT INTO device_status (site_id, kind, id, comm_state, since_at, updated_at)
    SELECT 'plant', 'inverter', id, CASE WHEN id % ${ill_of} = 2 THEN 'disconnected'
      ELSE 'connected' END, '2026-06-21T03:00:00Z', '${at}'
    FROM generate_series(1, ${inverters}) AS id`)
await db.execute(`
    INSERT INTO string_latest (site_id, inverter_id, first_string_index, measured_at, quality,
      current_a, voltage_v, received_at)
    SELECT 'plant', id, 0, '${at}', 'good',
      ARRAY(SELECT CASE WHEN (id * ${strings} + nth) % ${dead_of} = 0 THEN 0 ELSE 9 END::real
        FROM generate_series(0, ${strings - 1}) AS nth),
      array_fill(840::real, ARRAY[${strings}]), '${at}'
    FROM generate_series(1, ${inverters}) AS id`)
await db.execute(`
    INSERT INTO logger_latest (site_id, logger_id, measured_at, quality, ac_power_kw, received_at)
    SELECT 'plant', logger_id, '${at}', 'good', 850, '${at}' FROM loggers`)
await addStations()
await addSums()
await db.execute('VACUUM ANALYZE')
const counted = new Map<string, number>()
const elapsed = new Map(alertSources.map(({ name }) => [name, [] as number[]]))
const totals: number[] = []
for (let round = -5; round < rounds; round += 1) {
  const context: SourceContext = {
    db,
    now,
    settings: settingsInForce({}),
    site: {
      site_id: 'plant',
      timezone: 'Europe/Berlin',
      currency: 'EUR',
      latitude: 48.6,
      longitude: 12.2,
    },
  }
  let total_ms = 0
  for (const { name, scan } of alertSources) {
    const from = performance.now()
    const { findings } = await scan(context)
    const scan_ms = performance.now() - from
    total_ms += scan_ms
    if (round >= 0) elapsed.get(name)!.push(scan_ms)
    for (const { code } of round === 0 ? findings : []) {
      counted.set(code, (counted.get(code) ?? 0) + 1)
    }
  }
  if (round >= 0) totals.push(total_ms)
}
for (const [name, times] of elapsed) {
  tell(true, `${name}: ${waitsOf(times)}`)
}
tell(true, `found: ${[...counted].map((each) => each.join(' ')).join(', ')}`)
const expected = ['inverter_fault', 'inverter_alarm', 'inverter_offline', 'string_zero_current']
for (const code of [...expected, 'string_underperformance', 'inverter_underperformance']) {
  if (!counted.has(code)) throw new Error(`no ${code} was found`)
}
const p95_ms = quantile(totals, 0.95)
tell(
  p95_ms < limit_ms,
  `alerts, all sources of a round over ${inverters * strings} strings: fastest ` +
    `${Math.min(...totals).toFixed(0)} ms, p50 ${quantile(totals, 0.5).toFixed(0)} ms, p95 ` +
    `${p95_ms.toFixed(0)} ms, limit ${limit_ms} ms`,
)

async function addStations() {
  const instruments = [
    {
      sensor_id: 'poa',
      name: 'POA',
      type: 'reference_cell',
      quantity: 'poa_irradiance_w_m2',
      point: '302[0].POAI',
      azimuth_deg: 180,
      tilt_deg: 25,
    },
    {
      sensor_id: 'air',
      name: 'Air',
      type: 'thermometer',
      quantity: 'ambient_temperature_c',
      point: '307.TmpAmb',
    },
  ]
  await db.execute(
    `INSERT INTO stations (site_id, station_id, logger_id, name, instruments, created_at, updated_at)
     SELECT 'plant', logger_id, logger_id, 'Met', $1, now(), now() FROM loggers`,
    [JSON.stringify(instruments)],
  )
  await db.execute(
    `INSERT INTO weather_latest (site_id, station_id, measured_at, quality, instrument_values,
       received_at)
     SELECT 'plant', logger_id, $1, 'good', '{850, 25}', $1 FROM loggers`,
    [now],
  )
  await db.execute(`
    INSERT INTO panel_models (site_id, params_id, name, manufacturer, technology, power_stc_w,
      cells_in_series, alpha_sc_a_per_c, a_ref_v, i_l_ref_a, i_o_ref_a, r_s_ohm, r_sh_ref_ohm,
      adjust_pct)
    VALUES ('plant', 1, 'Panel', 'Maker', 'mono', 415, 72, 0.0045, 1.9, 10.6, 1.2e-10, 0.3, 400, 8)`)
}

/** Yesterday and today: the strings by hour and day, the inverters by hour. */
async function addSums() {
  const [weak, sound] = [hourOf(true), hourOf(false)]
  const hours = [0, 1].flatMap((days_ago) =>
    Array.from({ length: 14 }, (_, hour) => Date.UTC(2026, 5, 21 - days_ago, hour + 4)),
  )
  const past = hours.filter((hour) => hour <= now.getTime()).map((hour) => new Date(hour))
  const days = ['2026-06-20', '2026-06-21']
  const [weak_day, sound_day] = [weak, sound].map((each) =>
    encodeStrings(sumStored(Array.from({ length: 7 }, () => each))),
  )
  const rowOf = `SELECT 'plant', id, at, $2, $3,
      CASE WHEN id % ${ill_of} = 3 THEN decode($4, 'hex') ELSE decode($5, 'hex') END
    FROM generate_series(1, ${inverters}) AS id`
  await db.execute(
    `INSERT INTO string_hours (site_id, inverter_id, hour_at, string_count, layout, sums)
     ${rowOf}, unnest($1::timestamptz[]) AS at`,
    [past, strings, string_layout, weak.sums.toString('hex'), sound.sums.toString('hex')],
  )
  await db.execute(
    `INSERT INTO string_days (site_id, inverter_id, local_date, string_count, layout, sums)
     ${rowOf}, unnest($1::date[]) AS at`,
    [days, strings, string_layout, weak_day!.sums.toString('hex'), sound_day!.sums.toString('hex')],
  )
  const zeros = await db.query<{ column_name: string; data_type: string }>(
    `SELECT column_name, data_type FROM information_schema.columns
     WHERE table_name = 'inverter_hours' AND is_nullable = 'NO'
       AND column_name NOT IN ('site_id', 'inverter_id', 'hour_at')`,
  )
  const known: Record<string, string> = {
    covered_s: '3600',
    daylight_covered_s: '3600',
    sun_covered_s: '3600',
    insolation_kwh_m2: '0.85',
    reference_kwh_m2: '0.85',
    reference_expected_kwh: '90',
    reference_ac_kwh: `CASE WHEN id % ${ill_of} = 4 THEN 60 ELSE 85 END`,
  }
  const columns = zeros.map(({ column_name }) => column_name)
  const values = zeros.map(
    ({ column_name, data_type }) => known[column_name] ?? (data_type === 'ARRAY' ? "'{}'" : '0'),
  )
  await db.execute(
    `INSERT INTO inverter_hours (site_id, inverter_id, hour_at, ${columns})
     SELECT 'plant', id, at, ${values}
     FROM generate_series(1, ${inverters}) AS id, unnest($1::timestamptz[]) AS at`,
    [past],
  )
}
