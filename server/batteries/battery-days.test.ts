import assert from 'node:assert/strict'
import test from 'node:test'
import { silent } from '../../test/postgres.ts'
import { testSettings } from '../fixtures/job-settings.ts'
import { servedSite } from '../fixtures/served-site.ts'
import { createJobTable } from '../jobs.ts'
import { markBatteryDays } from '../telemetry/battery-day-marks.ts'
import { addBatteries, addUnitDay } from './fixtures/battery-site.ts'

test('days of batteries are summed up', async (t) => {
  const { db, close } = await servedSite()
  t.after(close)
  await addBatteries(db)
  const run = (name: string, instant: string, settings = testSettings, aborted = false) => {
    const signal = aborted ? AbortSignal.abort() : new AbortController().signal
    const clock = { now: () => new Date(instant) }
    const job = createJobTable(settings).find((one) => one.name === name)!
    return job.run({ db, clock, log: silent, signal })
  }
  const sum = (instant: string) => run('sum_battery_days', instant)
  const sumAgain = (instant: string, settings = testSettings) =>
    run('sum_battery_days_again', instant, settings)
  /** What is known of each day: charged, discharged, quarter hours. */
  const days = async () =>
    (
      await db.query<{ text: string }>(
        `SELECT bess_id || ' ' || date || ': ' || coalesce(charged::text, '-') || ' '
           || coalesce(discharged::text, '-') || ' ' || known AS text
         FROM battery_days, LATERAL (
           SELECT sum(c) AS charged, sum(d) AS discharged, count(c + d) AS known
           FROM unnest(charged_wh, discharged_wh) AS q (c, d)) AS s
         ORDER BY bess_id, date`,
      )
    ).map(({ text }) => text)

  await t.test('none of a unit that was never read', async () => {
    await sum('2026-06-21T10:00Z')
    assert.deepEqual(await days(), [])
  })

  await addUnitDay(db, '2026-06-18')
  await addUnitDay(db, '2026-06-20', { day_nth: 1, to_hour: 18 })
  await addUnitDay(db, '2026-06-21', { day_nth: 2, to_hour: 10 })
  const first = '1 2026-06-18: 60000 48000 96'
  const silent_day = '1 2026-06-19: - - 0'
  const in_part = '1 2026-06-20: 60000 0 72'

  await t.test('each that is over, by the quarter hour, in whole Wh', async () => {
    await sum('2026-06-20T23:59Z')
    assert.deepEqual(await days(), [first, silent_day])
    const [row] = await db.query<{ charged_wh: number[]; discharged_wh: number[] }>(
      "SELECT charged_wh, discharged_wh FROM battery_days WHERE date = '2026-06-18'",
    )
    const moved = (quarters: number[]) =>
      quarters.flatMap((wh, nth) => (wh === 0 ? [] : [`${nth}: ${wh}`]))
    const quarters = (of: number, wh: number) => [0, 1, 2, 3].map((nth) => `${of + nth}: ${wh}`)
    assert.deepEqual(moved(row!.charged_wh), quarters(48, 15_000))
    assert.deepEqual(moved(row!.discharged_wh), quarters(80, 12_000))
  })

  await t.test('an hour after its end, when its counters are known across midnight', async () => {
    await sum('2026-06-21T00:59Z')
    assert.equal((await days()).length, 2)
    await sum('2026-06-21T01:00Z')
    assert.deepEqual(await days(), [first, silent_day, in_part])
  })

  await t.test('once, until they are summed again with readings that came late', async () => {
    await addUnitDay(db, '2026-06-20', { day_nth: 1, from_hour: 18 })
    await sum('2026-06-21T10:00Z')
    assert.deepEqual(await days(), [first, silent_day, in_part])
    await sumAgain('2026-06-21T10:00Z')
    const whole = '1 2026-06-20: 60000 48000 96'
    assert.deepEqual(await days(), [first, silent_day, whole])
    await sumAgain('2026-06-21T10:00Z')
    assert.deepEqual(await days(), [first, silent_day, whole])
    const [{ count } = { count: 0 }] = await db.query<{ count: number }>(
      `SELECT count(*) FROM battery_days WHERE summed_at = '2026-06-21T10:00Z'`,
    )
    assert.equal(count, 3)
  })

  await t.test('an old one again once readings of it came, unless these were thinned', async () => {
    const late = ['2026-06-19T23:10Z', '2026-06-19T22:50Z', '2026-06-19T12:00Z']
    const mark = () =>
      db.transaction((transaction) => {
        const hours = late.map((at) => ({ bess_id: 1, hour: Date.parse(at) / 3_600_000 }))
        const whole = hours.map(({ bess_id, hour }) => ({ bess_id, hour: Math.floor(hour) }))
        return markBatteryDays(transaction, 'demo', whole, new Date('2026-08-20T10:00Z'))
      })
    const times = () =>
      db.query<{ date: string; is_marked: boolean }>(
        `SELECT date, summed_at = '-infinity' AS is_marked FROM battery_days ORDER BY date`,
      )
    const marked = async () =>
      (await times()).filter((day) => day.is_marked).map(({ date }) => date)
    await addUnitDay(db, '2026-06-19', { day_nth: 1, to_hour: 12 })
    await sum('2026-08-20T10:00Z')
    await sumAgain('2026-08-20T10:00Z')
    assert.ok((await days()).includes(silent_day))
    await mark()
    assert.deepEqual(await marked(), ['2026-06-19', '2026-06-20'], 'of the next its first quarter')
    await run('sum_battery_days', '2026-08-20T10:00Z', {
      ...testSettings,
      retention_minute_days: 30,
    })
    assert.equal((await marked()).length, 2)
    await sum('2026-08-20T10:00Z')
    assert.deepEqual(await marked(), [])
    assert.ok((await days()).includes('1 2026-06-19: 0 0 48'))
  })

  await t.test('not again when they are old, or may be down to a reading an hour', async () => {
    await db.execute("DELETE FROM bess_readings WHERE measured_at > '2026-06-18T06:00Z'")
    await sumAgain('2026-07-06T12:00Z')
    assert.ok((await days()).includes(first))
    const kept_days = { ...testSettings, retention_minute_days: 10 }
    await sumAgain('2026-06-30T12:00Z', kept_days)
    assert.ok((await days()).includes(first))
    await sumAgain('2026-06-27T12:00Z', kept_days)
    assert.ok((await days()).includes('1 2026-06-18: 0 0 24'))
  })

  await t.test('none after the unit was retired', async () => {
    await db.execute("UPDATE batteries SET retired_at = '2026-06-19T08:00Z' WHERE bess_id = 1")
    await db.execute('DELETE FROM battery_days')
    await sum('2026-06-25T10:00Z')
    assert.deepEqual(await days(), ['1 2026-06-18: 0 0 24', silent_day])
  })

  await t.test('a run that is taken away ends between two days', async () => {
    await db.execute('DELETE FROM battery_days')
    await assert.rejects(run('sum_battery_days', '2026-06-25T10:00Z', testSettings, true))
    assert.deepEqual(await days(), [])
  })
})
