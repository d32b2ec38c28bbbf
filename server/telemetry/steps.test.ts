import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms, minute_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { testDatabase } from '../../test/postgres.ts'
import { addBatteries, addBatteryReadings } from '../batteries/fixtures/battery-site.ts'
import { addReading, servedSite } from '../fixtures/served-site.ts'
import { foundSite, site_id } from '../link/fixtures/plant.ts'
import { ensurePartitions } from '../storage/partitions.ts'
import { packHours } from './blocks/store.ts'
import { byColumn } from './reading-columns.ts'
import { type StepReading, type StepSource, stepOf, stepOrder, stepPage, stepsOf } from './steps.ts'
import { countSteps } from './stored-readings.ts'

const start_ms = Date.UTC(2026, 9, 24, 20)
const iso = (ms: number) => new Date(ms).toISOString()

/** Readings in memory, a few at a time. */
const sourceOf = (readings: readonly StepReading[]): StepSource => ({
  names: ['quality', 'power_kw', 'total_kwh', 'state', 'mppt_a'],
  isState: (name) => name === 'total_kwh',
  async *read({ from_ms, to_ms, newest }) {
    const own = readings.filter(({ measured_at: at }) => at >= from_ms && at < to_ms)
    const sorted = own.toSorted((a, b) => (a.measured_at - b.measured_at) * (newest ? -1 : 1))
    for (let first = 0; first < sorted.length; first += 3) {
      yield byColumn(sorted.slice(first, first + 3))
    }
  },
})

const value = fc.option(fc.integer({ min: -50, max: 50 }), { nil: null })
const reading = fc.record({
  measured_at: fc.integer({ min: 0, max: 40 * 3600 }).map((s) => start_ms + s * 1000),
  quality: fc.constantFrom('good', 'suspect', 'estimated'),
  power_kw: value,
  total_kwh: value,
  state: fc.constantFrom('mppt', 'off', null),
  mppt_a: fc.option(fc.array(value, { maxLength: 3 }), { nil: null }),
})
const arbitrary = {
  readings: fc.uniqueArray(reading, { selector: ({ measured_at: at }) => at, maxLength: 60 }),
  every: fc.constantFrom('60s', '900s', '3600s', '86400s'),
  bounds: fc.tuple(fc.integer({ min: -5, max: 45 }), fc.integer({ min: 1, max: 45 })),
  limit: fc.integer({ min: 1, max: 30 }),
}
const timezone = 'Europe/Berlin'

test('a step holds means, last states and extremes of its readings; pages join', async () => {
  await fc.assert(
    fc.asyncProperty(fc.record(arbitrary), async ({ readings, every, bounds, limit }) => {
      const source = sourceOf(readings)
      const from = iso(start_ms + bounds[0] * hour_ms)
      const end = iso(start_ms + (bounds[0] + bounds[1]) * hour_ms)
      const orderOf = (newest: boolean, window = { start: from, end }) =>
        stepOrder(
          { every: every as '60s', extremes: true },
          { ...window, newest },
          { names: source.names, timezone },
        )!
      const { step } = orderOf(false)
      const all = []
      for await (const items of stepsOf(source, orderOf(false))) all.push(...items)
      const groups = Map.groupBy(
        readings.toSorted((a, b) => a.measured_at - b.measured_at),
        ({ measured_at }) => step.startOf(measured_at),
      )
      const expected = [...groups]
        .filter(([at]) => at >= Date.parse(from) && at < Date.parse(end))
        .map(([at, own]) => {
          const known = (name: 'power_kw' | 'total_kwh' | 'state') =>
            own.flatMap((one) => (one[name] === null ? [] : [one[name]]))
          const powers = known('power_kw') as number[]
          const mean = powers.reduce((a, b) => a + b, 0) / powers.length
          const worst = ['suspect', 'estimated', 'good']
          return {
            measured_at: iso(at),
            quality: worst.find((word) => own.some(({ quality }) => quality === word)),
            power_kw: powers.length === 0 ? null : Number(mean.toPrecision(6)),
            total_kwh: known('total_kwh').at(-1) ?? null,
            state: known('state').at(-1) ?? null,
            min_kw: powers.length === 0 ? undefined : Math.min(...powers),
            max_kw: powers.length === 0 ? undefined : Math.max(...powers),
            sample_count: own.length,
          }
        })
      const shown = all.map(({ mppt_a: _, completeness_pct: pct, min, max, ...item }) => {
        assert.ok((pct as number) >= 0 && (pct as number) <= 100)
        const [least, most] = [min, max].map((ends) => (ends as Record<string, number>)['power_kw'])
        return { ...item, min_kw: least, max_kw: most }
      })
      assert.deepEqual(
        shown.map(({ ...item }) => item),
        expected,
      )
      const backwards = await stepPage(source, orderOf(true), 10_000)
      assert.deepEqual(backwards.items, all)
      const paged = []
      for (let next: string | null = from; next !== null; ) {
        const page = await stepPage(source, orderOf(false, { start: next, end }), limit)
        paged.push(...page.items)
        const last = String(page.items.at(-1)?.['measured_at'])
        next = page.count > page.items.length ? iso(Date.parse(last) + 1) : null
      }
      assert.deepEqual(paged, all)
    }),
    { numRuns: 200 },
  )
})

test('a local day is a step of 25 hours when the clock goes back', async () => {
  const readings = Array.from({ length: 12 * 60 }, (_, nth) => ({
    measured_at: start_ms + nth * 5 * minute_ms,
    quality: 'good',
    power_kw: 1,
  }))
  const window = { start: iso(start_ms), end: iso(start_ms + 60 * hour_ms), newest: false }
  const order = stepOrder({ every: '86400s' }, window, {
    names: ['quality', 'power_kw'],
    timezone,
  })!
  const days = []
  for await (const [day] of stepsOf(sourceOf(readings), order)) days.push(day!)
  assert.deepEqual(
    days.map(({ measured_at, sample_count }) => [measured_at, sample_count]),
    [
      ['2026-10-24T22:00:00.000Z', 25 * 12],
      ['2026-10-25T23:00:00.000Z', 24 * 12],
      ['2026-10-26T23:00:00.000Z', 9 * 12],
    ],
  )
  assert.deepEqual(
    days.map(({ completeness_pct }) => completeness_pct),
    [100, 100, 37.2],
  )
})

test('every history answers in steps', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get } = site
  await addBatteries(db)
  await db.execute(
    `INSERT INTO nodes (site_id, node_id, node_number, name, type, report_s, channels, created_at,
       updated_at)
     VALUES ('demo', 't1', 1, 'Node', 'transformer_station', 60, $1, now(), now())`,
    [
      JSON.stringify([
        { channel: 'oil', kind: 'temperature', label: 'Oil' },
        { channel: 'door', kind: 'door', label: 'Door' },
      ]),
    ],
  )
  for (const [nth, second] of ['05', '15', '35'].entries()) {
    const measured_at = `2026-06-21T09:50:${second}Z`
    await addReading(db, 'inverter', {
      inverter_id: 1,
      measured_at,
      ac_power_kw: nth + 1,
      mppt_power_kw: [nth, null],
      alarm_1: nth,
    })
    await addReading(db, 'node', { node_number: 1, measured_at, channel_values: [60 + nth, nth] })
    await addReading(db, 'string', {
      inverter_id: 1,
      first_string_index: 0,
      measured_at,
      current_a: [nth + 1, null],
      voltage_v: [100, 200],
    })
    await addBatteryReadings(db, measured_at)
  }
  const read = async (path: string) => {
    const { status, body } = await get(path)
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.meta.resolution_s, 60, path)
    return body.data
  }
  const [inverter] = await read('/inverters/1/history?every=60s&extremes=true')
  assert.equal(inverter.measured_at, '2026-06-21T09:50:00.000Z')
  assert.deepEqual([inverter.ac_power_kw, inverter.alarm_1, inverter.sample_count], [2, 2, 3])
  assert.deepEqual([inverter.mppt_power_kw, inverter.dc_power_kw], [[1, null], null])
  assert.deepEqual([inverter.min.ac_power_kw, inverter.max.mppt_power_kw], [1, [2, null]])
  const [chosen] = await read('/inverters/1/history?every=60s&fields=alarm_1')
  assert.deepEqual([chosen.ac_power_kw, chosen.alarm_1, chosen.min], [null, 2, undefined])
  const [node] = await read('/sensors/t1/history?every=60s')
  assert.deepEqual(node.values, { oil: 61, door: 2 })
  const strings = await read('/strings/inverter/1/history?every=60s&fields=current_a,power_kw')
  assert.deepEqual(
    strings.map((one: Record<string, unknown>) => [
      one['string_index'],
      one['current_a'],
      one['voltage_v'],
      one['power_kw'],
    ]),
    [
      [0, 2, null, 0.2],
      [1, null, null, null],
    ],
  )
  const [battery] = await read('/bess/1/history?every=60s')
  const [raw] = (await get('/bess/1/history')).body.data
  for (const name of ['soc_pct', 'dod_pct', 'available_energy_kwh', 'heartbeat_ok', 'state']) {
    assert.deepEqual(battery[name], raw[name], name)
  }
  const pcs = await read('/bess/1/pcs/history?every=60s')
  const raw_pcs = (await get('/bess/1/pcs/history')).body.data
  assert.equal(pcs.length, new Set(raw_pcs.map((one: { pcs_idx: number }) => one.pcs_idx)).size)
  assert.deepEqual(pcs[0].ac_power_kw, raw_pcs[0].ac_power_kw)

  const csv = await site.file('/inverters/1/history?every=60s&extremes=true', 'text/csv')
  const [head, line] = csv.split('\n')
  assert.ok(head!.endsWith(',sample_count,completeness_pct,min,max'))
  assert.ok(line!.startsWith('2026-06-21T09:50:00.000Z,good,'))
  const ndjson = await site.file(
    '/inverters/1/history?every=60s&fields=alarm_1',
    'application/x-ndjson',
  )
  assert.deepEqual(JSON.parse(ndjson), chosen)

  for (const [query, field] of [
    ['every=61s', 'every'],
    ['fields=ac_power_kw', 'fields'],
    ['extremes=true', 'extremes'],
    ['every=60s&fields=power', 'fields'],
  ] as const) {
    const { status, body } = await get(`/inverters/1/history?${query}`)
    assert.deepEqual([status, body.error.details.errors[0].field], [422, field], query)
  }
  assert.equal((await get('/weather/logger/1/history?every=60s')).status, 422)
})

test('a history says the coarsest resolution of the readings that it returns', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get } = site
  await addReading(db, 'logger', { logger_id: 1, measured_at: '2026-06-01T10:00:00Z' })
  await addReading(db, 'logger', { logger_id: 1, measured_at: '2026-06-21T09:00:00Z' })
  await db.execute(
    `INSERT INTO thinned_partitions (name, step_s)
     VALUES ('logger_readings_20260601', 60), ('inverter_readings_20260615', 3600)`,
  )
  const resolutionOf = async (query: string) =>
    (await get(`/loggers/1/history?${query}`)).body.meta.resolution_s
  assert.equal(await resolutionOf('start=2026-05-01T00:00:00Z'), 60)
  assert.equal(await resolutionOf('start=2026-06-08T00:00:00Z'), null)
  assert.equal(await resolutionOf('start=2026-05-01T00:00:00Z&every=300s'), 300)
  const truncated = await get('/loggers/1/history?start=2026-05-01T00:00:00Z&every=300s&limit=1')
  assert.equal(truncated.body.meta.count, 2)
})

test('a truncated page counts the steps with readings, in rows and in blocks', async (t) => {
  const { db, drop } = await testDatabase()
  t.after(drop)
  const first_ms = Date.UTC(2026, 5, 15, 20)
  const at_ms = [0, 59, 60, 3599, 3600, 9000, 86_399, 86_400, 100_000, 200_000, 259_200].map(
    (s) => first_ms + s * 1000,
  )
  await foundSite(db)
  await ensurePartitions(db, ['inverter_readings'], new Date(first_ms), new Date(at_ms.at(-1)! + 1))
  await db.execute(
    `insert into inverter_readings (site_id, inverter_id, measured_at, quality)
     select $1, 1, at, 'good' from unnest($2::timestamptz[]) as at`,
    [site_id, at_ms.map(iso)],
  )
  const bounds = [
    [Number.NEGATIVE_INFINITY, at_ms.at(-1)! + 1],
    [at_ms[1]!, at_ms[8]!],
    [at_ms[4]! + 1, at_ms[6]!],
  ] as const
  const check = async (what: string) => {
    for (const timezone of ['Europe/Berlin', 'Asia/Kolkata']) {
      for (const every of ['60s', '900s', '3600s', '86400s'] as const) {
        const step = stepOf(every, timezone)
        for (const [from_ms, to_ms] of bounds) {
          const own = at_ms.filter((at) => at >= from_ms && at < to_ms)
          const span = { site_id, device_id: 1, from_ms, to_ms }
          assert.equal(
            await countSteps(db, 'inverter', span, step),
            new Set(own.map((at) => step.startOf(at))).size,
            `${what}: ${every} ${timezone} from ${from_ms} to ${to_ms}`,
          )
        }
      }
    }
  }
  await check('rows')
  const hours = [...new Set(at_ms.map((at) => Math.floor(at / hour_ms) * hour_ms))]
  const packed = hours.map((hour) => ({ device_id: 1, hour_at: new Date(hour) }))
  await db.transaction((transaction) => packHours(transaction, site_id, 'inverter', packed))
  await db.execute(
    `insert into packed_before (kind, before_at, announced_at) values ('inverter', $1, now())`,
    [iso(at_ms[8]!)],
  )
  await check('rows and blocks')
  await db.execute('delete from inverter_readings where measured_at < $1', [iso(at_ms[8]!)])
  await check('blocks before rows')
})
