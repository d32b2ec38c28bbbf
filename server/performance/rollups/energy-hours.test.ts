import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms, minute_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { silent } from '../../../test/postgres.ts'
import { servedSite } from '../../fixtures/served-site.ts'
import { addTouchedHours, touchHours } from '../../telemetry/touched-hours.ts'
import { createRollups } from './job.ts'

const start_ms = Date.UTC(2026, 5, 21, 6)

interface Reading {
  at_ms: number
  kw: number | null
  kwh: number | null
}

const readings = fc
  .array(
    fc.record({
      step_min: fc.oneof(
        { weight: 4, arbitrary: fc.integer({ min: 1, max: 5 }) },
        { weight: 1, arbitrary: fc.integer({ min: 20, max: 200 }) },
      ),
      kw: fc.integer({ min: 0, max: 100 }),
      is_heard: fc.boolean(),
      is_counted: fc.integer({ min: 0, max: 3 }),
      reset: fc.integer({ min: 0, max: 25 }),
    }),
    { minLength: 5, maxLength: 60 },
  )
  .map((steps) => {
    let at_ms = start_ms
    let kwh = 2 ** 32 / 1000 - 40
    return steps.map(({ step_min, kw, is_heard, is_counted, reset }): Reading => {
      at_ms += step_min * minute_ms
      kwh = (kwh + (kw * step_min) / 60) % (2 ** 32 / 1000)
      if (reset === 0) kwh = 0
      return { at_ms, kw: is_heard ? kw : null, kwh: is_counted > 0 ? kwh : null }
    })
  })

test('whatever the order in which readings arrive, gaps and hours of loggers are the same', async (t) => {
  const { db, close } = await servedSite()
  t.after(close)

  async function store(inverter_id: number, some: readonly Reading[]) {
    const hours = new Set<number>()
    for (const { at_ms } of some) addTouchedHours(hours, at_ms)
    await db.transaction(async (transaction) => {
      await transaction.execute(
        `insert into inverter_readings (site_id, inverter_id, measured_at, quality, ac_power_kw,
           energy_total_kwh)
         select 'demo', $1, at, 'good', kw, kwh
         from unnest($2::timestamptz[], $3::float8[], $4::float8[]) as t (at, kw, kwh)`,
        [
          inverter_id,
          some.map(({ at_ms }) => new Date(at_ms).toISOString()),
          some.map(({ kw }) => kw),
          some.map(({ kwh }) => kwh),
        ],
      )
      const mark = { site_id: 'demo', kind: 'inverter', device_id: inverter_id }
      const touched = [...hours].map((hour) => ({ ...mark, hour }))
      await touchHours(transaction, touched)
    })
  }
  async function rollUp() {
    // Marks are due by the time of the database.
    const now = new Date(Math.max(Date.now(), start_ms) + 7 * 24 * hour_ms)
    const timers = { after: () => () => {} }
    await createRollups(db, { clock: { now: () => now }, timers, log: silent }).runDue()
  }
  const clear = () =>
    db.execute(
      `truncate touched_hours, inverter_readings, inverter_hours, inverter_gap_hours, logger_hours`,
    )
  const everything = async () => ({
    gaps: await db.query('select * from inverter_gap_hours order by 1, 2, 4, 3'),
    hours: await db.query('select * from logger_hours order by 1, 2, 3'),
  })
  const sumOf = async (statement: string) =>
    (
      await db.query<{ kwh: number }>(`select coalesce(sum(kwh), 0) as kwh from (${statement}) t`)
    )[0]!.kwh

  await fc.assert(
    fc.asyncProperty(
      readings,
      readings,
      fc.array(fc.tuple(fc.nat(), fc.boolean()), { minLength: 6, maxLength: 6 }),
      async (first, second, order) => {
        await clear()
        await store(1, first)
        await store(2, second)
        await rollUp()
        const expected = await everything()
        const of_loggers = await sumOf('select energy_kwh as kwh from logger_hours')
        const of_inverters = await sumOf(
          `select ac_energy_kwh as kwh from inverter_hours where energy_source is not null
           union all select energy_kwh from inverter_gap_hours`,
        )
        assert.ok(Math.abs(of_loggers - of_inverters) <= 1e-6 * of_inverters + 1e-9)

        await clear()
        const batches = order.map(([place, rolled], nth) => {
          const of = nth % 2 === 0 ? first : second
          const third = Math.floor(nth / 2)
          return {
            place,
            rolled,
            inverter_id: 1 + (nth % 2),
            some: of.filter((_, at) => at % 3 === third),
          }
        })
        for (const { inverter_id, some, rolled } of batches.toSorted((a, b) => a.place - b.place)) {
          await store(inverter_id, some)
          if (rolled) await rollUp()
        }
        await rollUp()
        assert.deepEqual(await everything(), expected)
      },
    ),
    { numRuns: 5, endOnFailure: true },
  )
})
