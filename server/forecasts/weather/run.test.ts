import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { runOf, stepOf } from './fixtures/runs.ts'
import { checkRun, type NewRun, newestKnown } from './run.ts'

const start = Date.UTC(2026, 5, 21)
const at = (hour: number) => start + hour * hour_ms
const values = (steps: { ghi_w_m2: number | null }[]) => steps.map(({ ghi_w_m2 }) => ghi_w_m2)

test('of each step the newest that was known', () => {
  const runs = [
    runOf(at(0), [1, 1, 1, 1], { fetched_at: new Date(at(0)) }),
    runOf(at(2), [2, 2, 2], { fetched_at: new Date(at(2)) }),
  ]
  const window = { from_ms: at(0), to_ms: at(8) }
  const known = (hour: number) => values(newestKnown(runs, window, () => at(hour)))
  assert.deepEqual(known(-1), [])
  assert.deepEqual(known(1.9), [1, 1, 1, 1])
  assert.deepEqual(known(2), [1, 1, 2, 2, 2])
})

test('what was issued but not fetched yet was not known', () => {
  const issued_at = new Date(at(0))
  const runs = [runOf(at(3), [5], { issued_at, fetched_at: new Date(at(2)) })]
  const window = { from_ms: at(0), to_ms: at(8) }
  assert.deepEqual(
    newestKnown(runs, window, () => at(1)),
    [],
  )
  const [step] = newestKnown(runs, window, () => at(2))
  assert.deepEqual(step?.issued_at, issued_at)
})

test('steps of an archive were each issued before their own end', () => {
  const runs = [
    runOf(at(24), [1, 2, 3], { lead_minutes: 24 * 60, fetched_at: new Date(at(99)) }),
    runOf(at(24), [7, 8, 9], { lead_minutes: 48 * 60, fetched_at: new Date(at(99)) }),
  ]
  const window = { from_ms: at(24), to_ms: at(48) }
  assert.deepEqual(values(newestKnown(runs, window, () => at(2))), [1, 2, 9])
  assert.deepEqual(values(newestKnown(runs, window, () => at(-22))), [7, 8])
  // An instant for each step.
  assert.deepEqual(values(newestKnown(runs, window, (ms) => ms - 23 * hour_ms)), [1, 2, 3])
  assert.deepEqual(values(newestKnown(runs, window, (ms) => ms - 24 * hour_ms)), [7, 8, 9])
})

test('a step without any value hides none that has some', () => {
  const runs = [runOf(at(0), [1, 2]), runOf(at(0), [null, 3], { fetched_at: new Date(at(0.1)) })]
  const window = { from_ms: at(0), to_ms: at(2) }
  assert.deepEqual(values(newestKnown(runs, window, () => at(1))), [1, 3])
})

test('steps of different lengths do not overlap', () => {
  const quarters = [0, 1, 2, 3, 4, 5].map((nth) =>
    stepOf(at(1) + (nth * hour_ms) / 4, 9, hour_ms / 4),
  )
  const newer = { ...runOf(at(0), [0], { fetched_at: new Date(at(0.5)) }), steps: quarters }
  const known = newestKnown(
    [runOf(at(0), [1, 1, 1, 1]), newer],
    { from_ms: at(0), to_ms: at(4) },
    () => at(1),
  )
  // Half of the third hour is told by the newer; of an hour there is no half.
  assert.deepEqual(values(known), [1, 9, 9, 9, 9, 9, 9, 1])
})

const anyRun: fc.Arbitrary<NewRun> = fc
  .record({
    from: fc.integer({ min: 0, max: 60 }),
    values: fc.array(fc.option(fc.integer({ min: 0, max: 900 })), { minLength: 1, maxLength: 30 }),
    fetched: fc.integer({ min: 0, max: 60 }),
    lag: fc.integer({ min: 0, max: 5 }),
    lead_minutes: fc.option(fc.constantFrom(1440, 2880)),
  })
  .map(({ from, values, fetched, lag, lead_minutes }) => {
    if (lead_minutes) return runOf(at(from), values, { lead_minutes, fetched_at: new Date(at(99)) })
    const issued_at = new Date(at(fetched - lag))
    return runOf(at(from), values, { issued_at, fetched_at: new Date(at(fetched)) })
  })

test('never anything issued after the instant, and nothing newer is left out', () => {
  const window = { from_ms: at(10), to_ms: at(50) }
  fc.assert(
    fc.property(
      fc.array(anyRun, { maxLength: 8 }),
      fc.integer({ min: -40, max: 70 }),
      (runs, by) => {
        const known = newestKnown(runs, window, () => at(by))
        for (const [index, step] of known.entries()) {
          assert.ok(step.issued_at.getTime() <= at(by))
          assert.ok(index === 0 || known[index - 1]!.end_ms <= step.start_ms)
        }
        for (let start_ms = window.from_ms; start_ms < window.to_ms; start_ms += hour_ms) {
          const issues = runs.flatMap((run) =>
            run.steps.flatMap((step) => {
              const issued = run.lead_minutes
                ? step.end_ms - run.lead_minutes * 60_000
                : run.issued_at.getTime()
              const heard = run.lead_minutes ? issued : run.fetched_at.getTime()
              const counts = step.start_ms === start_ms && step.ghi_w_m2 !== null
              return counts && Math.max(issued, heard) <= at(by) ? [issued] : []
            }),
          )
          const found = known.find((step) => step.start_ms === start_ms)
          assert.equal(found?.issued_at.getTime(), issues.length ? Math.max(...issues) : undefined)
        }
      },
    ),
  )
})

test('a run that is none is refused', () => {
  const run = runOf(at(0), [1, 2, 3])
  assert.deepEqual(checkRun(run), { resolution_minutes: 60 })
  const bad = (changes: Partial<NewRun>, why: RegExp) =>
    assert.throws(() => checkRun({ ...run, ...changes }), why)
  bad({ steps: [] }, /no steps/)
  bad({ steps: [stepOf(at(0), 1, 7 * 60_000)] }, /7 minutes/)
  bad({ steps: [stepOf(at(0.25), 1)] }, /on the hour/)
  bad({ steps: [stepOf(at(0), 1), stepOf(at(2), 1)] }, /step 1 does not follow/)
  bad({ steps: Array.from({ length: 385 }, (_, nth) => stepOf(at(nth), 1)) }, /further than 16/)
  bad({ kind: 'previous' }, /lead/)
  bad({ issued_at: new Date(at(1)) }, /after it was fetched/)
})
