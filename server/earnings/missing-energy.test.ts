import assert from 'node:assert/strict'
import test from 'node:test'
import { addPlantHours } from '../fixtures/plant-hours.ts'
import { servedSite } from '../fixtures/served-site.ts'
import type { Database } from '../storage/database.ts'

/** One plant of two inverters, sold at 50 EUR/MWh, with a fee of the month. */
async function addContract(db: Database) {
  await db.query(`
    INSERT INTO market_assignments (site_id, logger_id, market_code, contract_type, fixed_price,
      pays_at_negative_price, currency, valid_from)
    VALUES ('demo', 1, 'BE', 'fixed_price', 50, true, 'EUR', '2026-01-01');
    INSERT INTO fees (site_id, code, name, basis, value, currency, valid_from) VALUES
      ('demo', 'market_fee', 'Access', 'per_month', 720, 'EUR', '2026-01-01')`)
}

/** In each hour from 04:00Z to 19:00Z of 1 June, but for some. */
const addEnergy = (db: Database, but: readonly number[]) =>
  addPlantHours(db, {
    logger_ids: [1],
    from: '2026-06-01T04:00Z',
    to: '2026-06-01T18:00Z',
    hours: Array.from({ length: 24 }, (_, hour) => hour).filter((hour) => !but.includes(hour)),
    energy_source: 'integrated_power',
  })

async function addGap(
  db: Database,
  status: string,
  [start, end]: readonly [string, string | null],
) {
  await db.execute(
    `INSERT INTO gaps (site_id, logger_id, source_type, device_id, sub_id, source_id, start_at,
       end_at, widest_start_at, widest_end_at, widest_expected_count, step_s, expected_count,
       during_daylight, status, detected_at, updated_at)
     VALUES ('demo', 1, 'inverter', 1, 0, '1', $1, $2, $1, $2, 90, 20, 90, true, $3, $1, $1)`,
    [start, end, status],
  )
}

/** Of inverter 1: its counter was read in the beginning of the hour and in the end. */
async function addCountedHour(db: Database, hour: number) {
  await db.execute(`
    INSERT INTO inverter_hours
    SELECT (jsonb_populate_record(null::inverter_hours, jsonb_object_agg(column_name,
      CASE data_type WHEN 'ARRAY' THEN '[]'::jsonb ELSE '0' END)
      || '{"site_id": "demo", "inverter_id": 1, "hour_at": "2026-06-01T${hour}:00:00Z",
        "counter_first_at": "2026-06-01T${hour}:00:05Z",
        "counter_last_at": "2026-06-01T${hour}:59:50Z"}')).*
    FROM information_schema.columns
    WHERE table_name = 'inverter_hours' AND is_nullable = 'NO'`)
}

const day = '/earnings/summary?start=2026-06-01&end=2026-06-01&logger_id=1'
const hours = day.replace('summary', 'hourly')

test('energy that is not known has no money, and says why', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get, clock } = site
  clock.set('2026-07-01T12:00:00Z')
  await addContract(db)
  const reset = () => db.query('DELETE FROM gaps; DELETE FROM logger_hours')

  await t.test(
    'of a day without any there is no gross, and the fees of the month are due',
    async () => {
      const { body } = await get(day)
      assert.deepEqual(
        [body.gross_amount, body.fees_amount, body.net_amount, body.reason, body.price_status],
        [null, 24, null, 'no_energy', 'final'],
      )
      assert.equal(body.fees[0].amount, 24)
      // From sunrise to sunset, but for the hours in which inverters may sleep.
      assert.deepEqual(body.unknown, [
        {
          reason: 'no_energy',
          market_code: null,
          start_at: '2026-06-01T04:00:00.000Z',
          end_at: '2026-06-01T18:00:00.000Z',
          hour_count: 14,
        },
      ])
      const at_noon = (await get(hours)).body.data[11]
      assert.deepEqual(
        [at_noon.gross_amount, at_noon.fees_amount, at_noon.net_amount, at_noon.reason],
        [null, 1, null, 'no_energy'],
      )
      assert.deepEqual([body.by_day[0].fees_amount, body.by_day[0].net_amount], [24, null])
    },
  )

  await t.test('at night there is none, and all is known', async () => {
    await addEnergy(db, [])
    const { body } = await get(day)
    assert.deepEqual(
      [body.gross_amount, body.net_amount, body.reason, body.price_status, body.unknown],
      [7.5, -16.5, null, 'final', []],
    )
    const at_night = (await get(hours)).body.data[0]
    assert.deepEqual(
      [at_night.energy_kwh, at_night.gross_amount, at_night.net_amount, at_night.reason],
      [0, 0, -1, null],
    )
  })

  await t.test('a gap is waited for until it is unrecoverable', async () => {
    await reset()
    await addEnergy(db, [10, 11])
    for (const [status, expected] of [
      ['open', 'provisional'],
      ['backfilling', 'provisional'],
      ['unrecoverable', 'final'],
    ] as const) {
      await db.execute('DELETE FROM gaps')
      await addGap(db, status, ['2026-06-01T10:00:00Z', '2026-06-01T12:00:00Z'])
      const { body } = await get(day)
      assert.deepEqual(
        [body.gross_amount, body.reason, body.price_status, body.known.energy_kwh],
        [6.5, 'no_energy', expected, 130],
        status,
      )
      assert.equal(body.known.gross_amount, 6.5)
      // Two hours of the fee among them, of which nothing else is known.
      assert.deepEqual([body.fees_amount, body.net_amount], [24, -17.5])
      assert.deepEqual(
        [body.by_day[0].gross_amount, body.by_day[0].fees_amount, body.by_day[0].net_amount],
        [body.gross_amount, body.fees_amount, body.net_amount],
      )
      assert.deepEqual(
        body.unknown.map((of: { hour_count: number }) => of.hour_count),
        [2],
      )
      const { data } = (await get(hours)).body
      assert.deepEqual(
        [data[9].price_status, data[10].price_status, data[10].gross_amount, data[10].reason],
        ['final', expected, null, 'no_energy'],
      )
      const fees = data.reduce(
        (all: number, hour: { fees_amount: number }) => all + hour.fees_amount,
        0,
      )
      assert.equal(fees, body.fees_amount)
    }
  })

  await t.test('of a silence over the night only the day is missing', async () => {
    await reset()
    await addEnergy(db, [17, 18])
    await addGap(db, 'unrecoverable', ['2026-06-01T17:00:00Z', '2026-06-02T06:00:00Z'])
    const { data } = (await get(hours)).body
    assert.deepEqual(
      [16, 17, 18, 19, 20, 21, 22, 23].map((hour) => data[hour].reason),
      [null, 'no_energy', 'no_energy', null, null, null, null, null],
    )
    assert.equal(data[22].energy_kwh, 0)
  })

  await t.test('one inverter of two is not all, and its part is told as known', async () => {
    await reset()
    await addEnergy(db, [])
    await db.execute(`UPDATE logger_hours SET known_count = 1, energy_kwh = 5,
      quarter_kwh = ARRAY[1.25, 1.25, 1.25, 1.25]
      WHERE hour_at = '2026-06-01T10:00Z'`)
    const { body } = await get(day)
    assert.deepEqual(
      [body.gross_amount, body.known.gross_amount, body.energy_sold_kwh],
      [7.25, 7.25, 145],
    )
    assert.deepEqual([body.by_day[0].energy_kwh, body.by_day[0].gross_amount], [145, 7.25])
    assert.equal(body.unknown[0].start_at, '2026-06-01T10:00:00.000Z')
    const { data } = (await get(hours)).body
    assert.deepEqual([data[10].gross_amount, data[10].reason], [0.25, 'no_energy'])
  })

  await t.test('a silence within an hour, unless a counter tells across it', async () => {
    await reset()
    await addEnergy(db, [])
    await db.execute(`UPDATE logger_hours SET awake_covered_s = 5400
      WHERE hour_at = '2026-06-01T10:00Z'`)
    assert.equal((await get(day)).body.gross_amount, 7.5)
    await addGap(db, 'unrecoverable', ['2026-06-01T10:10:00Z', '2026-06-01T10:40:00Z'])
    assert.deepEqual((await get(day)).body.unknown[0].hour_count, 1)
    await addCountedHour(db, 10)
    assert.equal((await get(day)).body.gross_amount, 7.5)
    // Over several hours it is shared out to them.
    await db.execute('DELETE FROM gaps')
    await addGap(db, 'backfilling', ['2026-06-01T10:30:00Z', '2026-06-01T12:00:00Z'])
    await addCountedHour(db, 11)
    assert.equal((await get(day)).body.reason, 'no_energy', 'a counter that was reset meanwhile')
    await db.execute(`
      INSERT INTO inverter_gap_hours (site_id, inverter_id, hour_at, gap_start_at, energy_kwh)
      SELECT 'demo', 1, at, '2026-06-01T10:30Z', 2
      FROM generate_series(timestamptz '2026-06-01T10:00Z', '2026-06-01T11:00Z', interval '1 hour')
        AS at`)
    const { body } = await get(day)
    assert.deepEqual([body.gross_amount, body.reason], [7.5, null])
    assert.equal(body.price_status, 'provisional')
  })

  await t.test(
    'what is to come is not known yet, and neither is the hour that begins',
    async () => {
      const { body } = await get('/earnings/summary?start=2026-08-01&end=2026-08-02&logger_id=1')
      assert.deepEqual(
        [body.gross_amount, body.net_amount, body.reason, body.price_status],
        [null, null, 'not_yet', 'provisional'],
      )
      await reset()
      await addEnergy(db, [12])
      clock.set('2026-06-01T12:00:20Z')
      const so_far = (await get(day)).body
      assert.deepEqual(
        [so_far.gross_amount, so_far.reason, so_far.price_status],
        [4, null, 'provisional'],
      )
      const { data } = (await get(hours)).body
      assert.deepEqual([data.length, data[12].net_amount, data[12].reason], [13, null, 'not_yet'])
    },
  )
})

test('energy that nobody measured is not 0, whatever else is not known', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get, clock } = site
  clock.set('2026-07-01T12:00:00Z')
  await addContract(db)
  await db.execute("UPDATE market_assignments SET contract_type = 'spot', fixed_price = NULL")
  const energyOf = ({ body }: Awaited<ReturnType<typeof get>>) => [
    body.energy_sold_kwh,
    body.negative_price_energy_kwh,
    body.by_day[0].energy_kwh,
    body.known?.energy_kwh,
  ]

  await t.test('without a price, as on a day long before the first reading', async () => {
    const answer = await get(day)
    assert.equal(answer.body.reason, 'no_price')
    assert.deepEqual(energyOf(answer), [null, null, null, undefined])
  })

  await t.test('nor with one', async () => {
    await db.execute(`
      INSERT INTO market_prices (market_code, kind, start_at, end_at, price, revision, source,
        fetched_at)
      VALUES ('BE', 'day_ahead', '2026-06-01', '2026-06-02', -2, 1, 'csv', now())`)
    const answer = await get(day)
    assert.deepEqual([answer.body.reason, answer.body.fees_amount], ['no_energy', 24])
    assert.deepEqual(energyOf(answer), [null, null, null, undefined])
  })

  await t.test('of a day that was measured in part it is that part', async () => {
    await addEnergy(db, [10])
    assert.deepEqual(energyOf(await get(day)), [140, 140, 140, 140])
    await db.execute('DELETE FROM market_prices')
    assert.deepEqual(energyOf(await get(day)), [140, null, 140, undefined])
  })
})
