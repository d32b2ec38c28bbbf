import assert from 'node:assert/strict'
import test from 'node:test'
import { sumBatteryDays } from '../batteries/battery-days.ts'
import { addBatteries, addUnitDay, batteries } from '../batteries/fixtures/battery-site.ts'
import { addPrices, assignMarket } from '../batteries/fixtures/schedule-site.ts'
import { servedSite } from '../fixtures/served-site.ts'

test('what batteries earned', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, clock, get } = site
  const sum = (again_days = 0) =>
    sumBatteryDays(db, {
      job: 'sum_battery_days',
      again_days,
      kept_days: null,
      now: clock.now(),
      signal: new AbortController().signal,
    })
  const summary = async (query: string) => (await get(`/earnings/summary?${query}`)).body
  type Figures = Record<'amount' | 'reason' | 'completeness', unknown>
  const earned = (of: Record<string, unknown>): Figures => ({
    amount: of['bess_arbitrage_amount'],
    reason: of['bess_arbitrage_reason'],
    completeness: of['bess_completeness_pct'],
  })
  /** Of the 20th alone: 60 kWh charged at -2 a MWh, 48 kWh discharged at 126. */
  const day = 'start=2026-06-20&end=2026-06-20'
  const of_day = 0.12 + 6.048
  const whole = (amount: number): Figures => ({ amount, reason: null, completeness: 100 })
  const unknown = (reason: string, completeness: number | null = 100): Figures => ({
    amount: null,
    reason,
    completeness,
  })

  await t.test('nothing without batteries, or before there was one', async () => {
    assert.deepEqual(earned(await summary(day)), unknown('no_battery', null))
    await addBatteries(db, { units: [{ ...batteries[0]!, commissioned_date: '2026-06-20' }] })
    const before = await summary('start=2026-06-01&end=2026-06-18')
    assert.deepEqual(earned(before), unknown('no_battery', null))
    const ahead = await summary('start=2026-06-22&end=2026-06-23')
    assert.deepEqual(earned(ahead), unknown('not_yet', null))
  })

  await addUnitDay(db, '2026-06-20')
  await t.test('is not known without a market, then without a price', async () => {
    assert.deepEqual(earned(await summary(day)), unknown('no_market'))
    await db.execute("UPDATE batteries SET market_code = 'DE-LU'")
    assert.deepEqual(earned(await summary(day)), unknown('no_price'))
    await addPrices(db, { date: '2026-06-20', without: [12] })
    assert.deepEqual(earned(await summary(day)), unknown('no_price'))
    await db.execute("DELETE FROM market_prices WHERE kind = 'day_ahead'")
    await addPrices(db, { date: '2026-06-20' })
    assert.deepEqual(earned(await summary(day)), whole(of_day))
  })

  await t.test('has a currency without a contract, and is in no other amount', async () => {
    const { currency, gross_amount, net_amount, by_logger } = await summary(day)
    assert.deepEqual([currency, gross_amount, net_amount], ['EUR', null, null])
    assert.deepEqual(
      by_logger.map((of: { currency: string | null }) => of.currency),
      ['EUR', null],
    )
    await assignMarket(db)
    const sold = await summary(day)
    const without = async () => {
      await db.execute("UPDATE batteries SET logger_id = 99, market_code = 'AT'")
      const { gross_amount, net_amount, data_completeness_pct } = await summary(day)
      await db.execute("UPDATE batteries SET logger_id = 1, market_code = 'DE-LU'")
      return { gross_amount, net_amount, data_completeness_pct }
    }
    assert.partialDeepStrictEqual(sold, await without())
    // Its own market, else that of its plant, else that of the site.
    for (const logger_id of [1, null]) {
      await db.execute('UPDATE batteries SET market_code = NULL, logger_id = $1', [logger_id])
      assert.deepEqual(earned(await summary(day)), whole(of_day))
    }
    await db.execute("UPDATE market_assignments SET market_code = 'AT' WHERE logger_id = 2")
    await db.execute('UPDATE batteries SET logger_id = 2')
    assert.deepEqual(earned(await summary(day)), unknown('no_price'))
    await db.execute("UPDATE market_assignments SET market_code = 'DE-LU'")
    await db.execute('UPDATE batteries SET logger_id = 1')
  })

  await t.test('of days that are over it is by their sums, of today by its readings', async () => {
    await sum()
    await addUnitDay(db, '2026-06-21', { day_nth: 1, to_hour: 13 })
    await addPrices(db, { date: '2026-06-21' })
    // A sum is read as it is.
    await db.execute(`UPDATE battery_days SET charged_wh = array_fill(0, ARRAY[96])
      WHERE date = '2026-06-20'`)
    assert.deepEqual(earned(await summary(day)), whole(6.048))
    clock.set('2026-06-21T12:31:00Z')
    const charged = 0.031 * 2
    const both = 'start=2026-06-20&end=2026-06-21'
    assert.deepEqual(earned(await summary(both)), whole(6.048 + charged))
    assert.deepEqual(earned(await summary('start=2026-06-21')), whole(charged))
    await sum(2)
    assert.deepEqual(earned(await summary(both)), whole(of_day + charged))
  })

  await t.test(
    'a day that is neither summed nor of yesterday is not known, nor final',
    async () => {
      clock.set('2026-06-25T12:00:00Z')
      const days = 'start=2026-06-20&end=2026-06-21'
      const part = { amount: of_day, reason: 'no_energy', completeness: 50 }
      assert.deepEqual(earned(await summary(days)), part)
      clock.set('2026-08-01T12:00:00Z')
      assert.equal((await summary(days)).price_status, 'provisional')
      await sum()
      const summed = await summary(days)
      assert.equal(summed.price_status, 'final')
      // Of the 21st it was read until 12:59Z: 0.118 for 59 kWh.
      const late = { amount: 6.286, reason: 'no_energy', completeness: 77.08 }
      assert.deepEqual(earned(summed), late)
    },
  )

  await t.test('of a plant it is of its batteries; others are in the total only', async () => {
    await addBatteries(db, { units: [{ ...batteries[1]!, market_code: 'DE-LU' }] })
    await db.execute(`
      INSERT INTO battery_days
      SELECT site_id, 2, date, charged_wh, discharged_wh, summed_at FROM battery_days
      WHERE date = '2026-06-20'`)
    const total = await summary(day)
    assert.deepEqual(earned(total), whole(2 * of_day))
    assert.deepEqual(total.by_logger.map(earned), [whole(of_day), unknown('no_battery', null)])
    assert.deepEqual(earned(await summary(`${day}&logger_id=1`)), whole(of_day))
    assert.deepEqual(earned(await summary(`${day}&logger_id=2`)), unknown('no_battery', null))
    const of_one = 'start=2026-06-20&end=2026-06-21&logger_id=1'
    assert.equal((await summary(of_one)).bess_completeness_pct, 77.08)
  })

  await t.test('no longer after it was retired', async () => {
    await db.execute("UPDATE batteries SET retired_at = '2026-06-20T12:30Z' WHERE bess_id = 2")
    assert.deepEqual(earned(await summary(day)), whole(of_day + 0.06))
    await db.execute('DELETE FROM batteries WHERE bess_id = 2')
  })

  await t.test('is in the currency of the other amounts, by the rate of the day', async () => {
    await db.execute("UPDATE market_assignments SET currency = 'BGN'")
    const { currency, exchange_rates, ...leva } = await summary(day)
    assert.equal(currency, 'BGN')
    assert.deepEqual(earned(leva), whole(Math.round(of_day * 1.95583 * 1e6) / 1e6))
    const dates = { as_of_date: '1999-01-01', start_date: '2026-06-20', end_date: '2026-06-20' }
    assert.deepEqual(exchange_rates, [
      { currency: 'EUR', base_currency: 'BGN', rate: 1.95583, ...dates },
    ])
    // Where only a battery needs it.
    await db.execute("UPDATE market_assignments SET currency = 'EUR', market_code = 'AT'")
    await db.execute("UPDATE batteries SET market_code = 'DE-LU'")
    await db.execute("UPDATE markets SET currency = 'BGN' WHERE market_code = 'DE-LU'")
    const of_leva = await summary(day)
    assert.equal(of_leva.currency, 'EUR')
    assert.deepEqual(earned(of_leva), whole(Math.round(of_day * 0.51129188119 * 1e6) / 1e6))
    assert.deepEqual(of_leva.exchange_rates, [
      { currency: 'BGN', base_currency: 'EUR', rate: 0.5112918812, ...dates },
    ])
    await db.execute('DELETE FROM exchange_rates')
    assert.deepEqual(earned(await summary(day)), unknown('no_exchange_rate'))
  })
})
