/**
 * Windows of every read that has one: none is refused for its length; a series without a `limit` is
 * cut at 400 days and read to its end by `next_start`; a sum over three years is that of its parts.
 */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { addDays } from '@heliograph/domain/utc-day'
import { addBatteries } from '../../server/batteries/fixtures/battery-site.ts'
import { endpoints } from '../../server/endpoints.ts'
import { addPlantHours } from '../../server/fixtures/plant-hours.ts'
import { addKey, noon, type ServedSite, servedSite } from '../../server/fixtures/served-site.ts'
import { window_days_max } from '../../server/http/windows.ts'
import {
  additive_quantities,
  type StringSums,
} from '../../server/performance/diagnostics/string-sums.ts'
import { inverterSums } from '../../server/performance/rollups/inverter-hour.ts'
import { encodeStrings } from '../../server/performance/rollups/string-codec.ts'
import { type AnyEndpoint, addressOf } from './calls.ts'
import type { Fixtures } from './fixtures.ts'

/** Three years, the last day among them is that of `noon`. */
const first_day = '2023-06-24'
const end_day = '2026-06-22'
const days = (Date.parse(end_day) - Date.parse(first_day)) / day_ms
/** Days from one day with data to the next. Its hour stands for the daylight until then. */
const step_days = 7
const measured_s = step_days * 16 * 3600

let site: ServedSite
let key: string

before(async () => {
  site = await servedSite()
  key = await addKey(site.db, { key_id: 'aaaaaaaaaaaa' })
  await addBatteries(site.db)
  await addHours()
})
after(() => site.close())

/** Energy at 9:00Z of every seventh day of the plants, their inverters and strings. */
async function addHours() {
  const { db } = site
  await db.query(`
    insert into nodes (site_id, node_id, node_number, name, type, report_s, channels, created_at,
      updated_at)
    values ('demo', '1', 1, 'Node', 'cabinet', 60, '[]', now(), now());
    update loggers set commissioned_date = '${first_day}';
    insert into market_assignments (site_id, logger_id, market_code, contract_type, fixed_price,
      pays_at_negative_price, currency, valid_from)
    select 'demo', logger_id, 'BE', 'fixed_price', 50, true, 'EUR', '${first_day}' from loggers`)
  await addPlantHours(db, {
    logger_ids: [1, 2],
    from: `${first_day}T00:00:00Z`,
    to: noon.toISOString(),
    hours: [9],
  })
  await db.execute(
    `delete from logger_hours
     where (hour_at at time zone 'UTC')::date not in (select generate_series($1::date, $2, $3))`,
    [first_day, end_day, `${step_days} days`],
  )
  const sums = {
    ...Object.fromEntries(inverterSums.map((name) => [name, 0])),
    covered_s: measured_s,
    daylight_covered_s: measured_s,
    sun_covered_s: measured_s,
    ac_energy_kwh: 16,
    conversion_dc_kwh: 17,
    conversion_ac_kwh: 16,
    fault_s: 60,
  }
  const names = Object.keys(sums)
  await db.execute(
    `insert into inverter_hours (site_id, inverter_id, hour_at, load_s, load_dc_kwh, load_ac_kwh,
       ${names})
     select site_id, inverter_id, hour_at, $1::float8[], $1::float8[], $1::float8[],
       ${names.map((_, nth) => `$${nth + 2}::float8`)}
     from inverters join logger_hours using (site_id, logger_id)`,
    [new Array(10).fill(0), ...Object.values(sums)],
  )
  const stored = encodeStrings({
    ...Object.fromEntries(additive_quantities.map((name) => [name, [2, 2, 2, 2]])),
    covered_s: new Array(4).fill(measured_s),
    current_a_max: new Array(4).fill(9),
  } as unknown as StringSums)
  const values = [stored.string_count, stored.layout, stored.sums]
  for (const [table, column] of [
    ['string_hours', 'hour_at'],
    ['string_days', "(hour_at at time zone 'Europe/Berlin')::date"],
  ]) {
    await db.execute(
      `insert into ${table} select site_id, inverter_id, ${column}, $1, $2, $3
       from inverter_hours where inverter_id < 3`,
      values,
    )
  }
}

interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: the items of any list, or one object
  data: any[]
  meta: { count: number; truncated?: boolean; next_start?: string | null }
}

const fixtures = { sites: { live: 'demo' }, values: { base: 'AT' } } as unknown as Fixtures

async function askFor(endpoint: AnyEndpoint, query: Query, accept = 'application/json') {
  const given = new URLSearchParams(query as Record<string, string>).toString()
  return site.app.inject({
    url: addressOf(endpoint, fixtures, { query: given }),
    headers: { authorization: `Bearer ${key}`, accept },
  })
}

async function read(endpoint: AnyEndpoint, query: Query): Promise<Answer> {
  const { statusCode, payload } = await askFor(endpoint, query)
  assert.equal(statusCode, 200, payload.slice(0, 500))
  return JSON.parse(payload)
}

type Query = Readonly<Record<string, string>>

const windowed = endpoints.filter(({ window }) => window !== undefined)
const nameOf = ({ path }: AnyEndpoint) => path
const has = ({ query }: AnyEndpoint, name: string) => query?.[name] !== undefined
const isOfDays = ({ query }: AnyEndpoint) =>
  (query?.['start'] as { format?: string } | undefined)?.format === 'date'
const isSeries = ({ returns }: AnyEndpoint) => {
  const { properties } = returns as { properties?: { meta?: { properties?: object } } }
  return 'next_start' in (properties?.meta?.properties ?? {})
}

/** A window of whole days in the form of the endpoint; the end is exclusive. */
function windowOf(endpoint: AnyEndpoint, from: string, to: string): Query {
  if (isOfDays(endpoint)) return { start: from, end: addDays(to, -1) }
  const start = `${from}T00:00:00Z`
  return has(endpoint, 'since') ? { since: start } : { start, end: `${to}T00:00:00Z` }
}

for (const endpoint of windowed) {
  test(`${nameOf(endpoint)} refuses no window for its length`, async () => {
    const windows = [
      [first_day, end_day],
      ['1970-01-01', '2999-12-31'],
      ['2026-06-21', '2031-06-21'],
      ['2031-06-21', '2036-06-21'],
      ['2010-06-21', '2015-06-21'],
    ] as const
    for (const [from, to] of windows) {
      const { statusCode, payload } = await askFor(endpoint, windowOf(endpoint, from, to))
      assert.equal(statusCode, 200, payload.slice(0, 500))
    }
    if (!endpoint.exports) return
    const query = windowOf(endpoint, first_day, end_day)
    assert.equal((await askFor(endpoint, query, 'text/csv')).statusCode, 200)
  })
}

const series = windowed.filter((one) => !has(one, 'limit') && isSeries(one))
/** Nothing is known of the future, but the days of a matrix and the hours of a plant are there. */
const items_of_series: Readonly<Record<string, number>> = {
  '/loggers/{logger_id}/hourly-energy': 24 * (days - 1) + 10,
  '/strings/inverter/{inverter_id}/hourly': 4 * Math.ceil(days / step_days),
  '/energy/hourly': 2 * days,
  '/earnings/hourly': 2 * (24 * (days - 1) + 10),
  '/earnings/cross-border-prices': 24 * 4 * days,
  '/predictions/production': 24 * (days - 1) + 10,
  '/predictions/prices': 0,
}

for (const endpoint of series) {
  test(`${nameOf(endpoint)} is cut at 400 days and goes on by next_start`, async () => {
    const start_name = has(endpoint, 'since') ? 'since' : 'start'
    const asked = windowOf(endpoint, first_day, end_day)
    const pages = [await read(endpoint, asked)]
    for (let cut = first_day; ; ) {
      const { truncated, next_start } = pages.at(-1)!.meta
      assert.equal(truncated, next_start !== null)
      if (next_start === null || next_start === undefined) break
      cut = addDays(cut, window_days_max)
      assert.equal(next_start, isOfDays(endpoint) ? cut : `${cut}T00:00:00.000Z`)
      pages.push(await read(endpoint, { ...asked, [start_name]: next_start }))
    }
    assert.equal(pages.length, Math.ceil(days / window_days_max))
    const walked = pages.flatMap(({ data }) => data.map((item) => JSON.stringify(item)))
    assert.equal(new Set(walked).size, walked.length, 'an item came twice')
    assert.equal(walked.length, items_of_series[endpoint.path], 'items of three years')
  })
}

/** What adds up over parts of a window, by what it is of. */
const summed: Readonly<Record<string, (answer: never) => Record<string, number>>> = {
  '/earnings/summary': (answer: Summary) => ({
    energy_kwh: energyOf(answer),
    gross_amount: answer.gross_amount,
    net_amount: answer.net_amount,
    days: answer.by_day.length,
  }),
  '/efficiency/loggers': added('logger_id', ['energy_kwh', 'daylight_h']),
  '/efficiency/inverters': added('inverter_id', ['energy_kwh', 'fault_min', 'daylight_h']),
  '/efficiency/strings': added('string', ['energy_kwh', 'daylight_h']),
  '/efficiency/health-matrix': added('string', ['sample_count', 'daylight_h']),
  '/efficiency/loss-analysis': added('inverter_id', ['ac_energy_kwh', 'daylight_h']),
  '/strings/inverter/{inverter_id}/compare': added('string', ['energy_kwh', 'daylight_h']),
}

interface Summary {
  energy_sold_kwh: number
  energy_without_contract_kwh: number
  gross_amount: number
  net_amount: number
  by_day: unknown[]
}

const energyOf = (of: Summary) => of.energy_sold_kwh + of.energy_without_contract_kwh

function added(of: string, names: readonly string[]) {
  return ({ data }: Answer) =>
    Object.fromEntries(
      data.flatMap((item) =>
        names.map((name) => {
          const string = `${item.inverter_id}.${item.string_index}`
          return [`${of === 'string' ? string : item[of]} ${name}`, item[name] ?? 0]
        }),
      ),
    ) as Record<string, number>
}

for (const endpoint of windowed.filter((one) => !has(one, 'limit') && !isSeries(one))) {
  test(`${nameOf(endpoint)} sums three years up as their parts`, async () => {
    const sumsOf = summed[endpoint.path]!
    const ask = async (from: string, to: string) =>
      sumsOf((await read(endpoint, windowOf(endpoint, from, to))) as never)
    const whole = await ask(first_day, end_day)
    const of_parts: Record<string, number> = {}
    for (let from = first_day; from < end_day; from = addDays(from, 300)) {
      const to = [addDays(from, 300), end_day].sort()[0]!
      for (const [name, value] of Object.entries(await ask(from, to))) {
        of_parts[name] = (of_parts[name] ?? 0) + value
      }
    }
    assert.deepEqual(Object.keys(whole), Object.keys(of_parts))
    for (const [name, value] of Object.entries(whole)) {
      assert.ok(Math.abs(value - of_parts[name]!) < 0.1, `${name} ${value} ${of_parts[name]}`)
    }
    const sums = Object.entries(whole).filter(([name]) => !name.endsWith('daylight_h'))
    assert.ok(
      sums.some(([, value]) => value > 0),
      'there is nothing to sum',
    )
  })
}

test('a sum of three years has the first and the last record in any time zone', async () => {
  const { clock, db } = site
  clock.set('2026-06-21T14:00:00Z')
  for (const at of [`${first_day}T02:00:00Z`, '2026-06-21T13:00:00Z']) {
    await addPlantHours(db, { logger_ids: [1], from: at, to: at })
  }
  const summary = endpoints.find(({ path }) => path === '/earnings/summary')!
  const asked = { start: '2019-01-01', end: '2030-01-01' }
  const ofUtc = energyOf((await read(summary, asked)) as unknown as Summary)
  assert.ok(ofUtc > 0)
  for (const timezone of ['Europe/Berlin', 'Pacific/Auckland', 'America/Los_Angeles']) {
    const local = (await read(summary, { ...asked, timezone })) as unknown as Summary
    assert.equal(energyOf(local), ofUtc, timezone)
  }
  clock.set(noon)
})
