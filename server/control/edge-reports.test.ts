/** What edges report of curtailment, by way of the link. */

import assert from 'node:assert/strict'
import test from 'node:test'
import type { RowReport } from '@heliograph/domain/curtailment'
import { hour_ms } from '@heliograph/domain/durations'
import type { Frame } from '@heliograph/domain/link'
import { testDatabase } from '../../test/postgres.ts'
import { edge_id, foundSite, noon, site_id } from '../link/fixtures/plant.ts'
import { ingestInto } from '../link/ingest.ts'

const group_id = '0d9c7d3e-6a58-4f3f-9f2e-4f1f3b1c7a52'

function report(reported_at: number, change: Partial<RowReport> = {}): RowReport {
  return {
    row: {
      group_id,
      logger_id: 1,
      start_at: noon,
      end_at: noon + hour_ms,
      max_power_kw: 50,
      released_at: null,
    },
    reported_at,
    acknowledged_at: noon,
    applied_at: null,
    verified_at: null,
    restore_started_at: null,
    restored_at: null,
    last_checked_at: null,
    observed_limit_kw: null,
    observed_power_kw: null,
    samples: 0,
    compliant_samples: 0,
    violation_s: 0,
    retry_count: 0,
    failure_code: null,
    failure_message: null,
    ...change,
  }
}

const released = (at: number) => ({ ...report(noon).row, released_at: at })

test('reports of rows', async (t) => {
  const { db, drop } = await testDatabase()
  t.after(drop)
  await foundSite(db)
  const { ingest } = ingestInto(db)
  let seq = 0
  const frame = (payload: unknown): Frame => {
    seq += 1
    return { seq, kind: 'curtailment', payload }
  }
  const send = (...frames: Frame[]) =>
    ingest({ site_id, edge_id, epoch: 'a', lane: 'live', frames, received_at: noon })
  const stored = async () =>
    (await db.query<Record<string, unknown>>('select * from curtailment_rows'))[0]!

  await t.test('make a row that the database does not know', async () => {
    await send(frame([report(noon)]))
    const [group] = await db.query('select source, scope, created_at from curtailment_groups')
    assert.deepEqual(group, { source: 'edge_local', scope: null, created_at: new Date(noon) })
    assert.equal((await stored())['max_power_kw'], 50)
  })

  await t.test('hold by the newest of a row, in whatever order and frame they come', async () => {
    const reports = [10, 30, 20].map((ms) => report(noon + ms, { samples: ms }))
    await send(frame(reports))
    assert.equal((await stored())['samples'], 30)
    await send(frame([report(noon + 25, { samples: 25 })]), frame([report(noon + 5)]))
    assert.equal((await stored())['samples'], 30)
    await send(frame([report(noon + 31, { samples: 1, applied_at: noon + 31 })]))
    assert.deepEqual(
      [(await stored())['samples'], (await stored())['applied_at']],
      [1, new Date(noon + 31)],
    )
  })

  await t.test('tell of a release, which none takes back, and the earliest counts', async () => {
    await send(frame([report(noon + 40, { row: released(noon + 39) })]))
    await send(frame([report(noon + 50)]))
    await send(frame([report(noon + 60, { row: released(noon + 59) })]))
    const { released_at, is_release_heard } = await stored()
    assert.deepEqual([released_at, is_release_heard], [new Date(noon + 39), true])
    // What the row is does not change with what is said of it.
    await send(frame([report(noon + 70, { row: { ...released(noon), max_power_kw: 99 } })]))
    assert.equal((await stored())['max_power_kw'], 50)
  })

  await t.test('tell whether the edge was told of the row before its release', async () => {
    const told = async (change: Partial<RowReport>, is_known: boolean) => {
      await send(frame([report(noon)]))
      await db.execute('update curtailment_rows set told_at = null, reported_at = null')
      if (!is_known) await db.execute('delete from curtailment_rows')
      await send(frame([report(noon + 80, { acknowledged_at: noon + 1, ...change })]))
      const { told_at } = await stored()
      await db.execute('delete from curtailment_rows')
      return told_at
    }
    const over = { row: released(noon + 70) }
    assert.equal(await told(over, true), null)
    for (const [change, is_known] of [
      [{}, true],
      [{ ...over, applied_at: noon + 2 }, true],
      [{}, false],
      [over, false],
    ] as const) {
      assert.deepEqual(await told(change, is_known), new Date(noon + 1), JSON.stringify(change))
    }
  })

  await t.test(
    'of an edge that lost the row and confirms its end keep what was proved',
    async () => {
      await db.execute('delete from curtailment_rows')
      const proof = { applied_at: noon + 2, verified_at: noon + 3, samples: 5 }
      await send(frame([report(noon + 80, { acknowledged_at: noon + 1, ...proof })]))
      for (const restored_at of [null, noon + 95]) {
        const anew = { row: released(noon + 90), acknowledged_at: noon + 91, restored_at }
        await send(frame([report(noon + 92 + (restored_at ? 4 : 0), anew)]))
      }
      const row = await stored()
      assert.deepEqual(
        [row['acknowledged_at'], row['applied_at'], row['samples'], row['restored_at']],
        [new Date(noon + 1), new Date(noon + 2), 5, new Date(noon + 95)],
      )
      await db.execute('delete from curtailment_rows')
    },
  )

  await t.test('are refused whole where they are none, and stand in nobody’s way', async () => {
    const bad: [unknown, RegExp][] = [
      [{ rows: [] }, /payload/],
      [[{ ...report(noon), extra: 1 }], /payload\/0/],
      [[report(noon + 2 * hour_ms)], /reported_at/],
      [[report(noon, { applied_at: 9e15 })], /too late/],
      [[report(noon, { row: { ...report(noon).row, end_at: noon } })], /not after/],
      [[report(noon, { row: { ...report(noon).row, group_id: 'no' } })], /group_id/],
      [[report(noon, { failure_message: 'a\0b' })], /NUL/],
      [[report(noon + 1, { samples: 1e300 })], /database refuses/],
    ]
    await db.execute('delete from curtailment_rows')
    for (const [payload, reason] of bad) {
      const { refused_frames } = await send(frame(payload), frame([report(noon)]))
      assert.equal(refused_frames, 1, String(reason))
      const [kept] = await db.query<{ reason: string }>(
        'select reason from rejected_frames order by seq desc limit 1',
      )
      assert.match(kept!.reason, reason)
      assert.equal(await db.execute('delete from curtailment_rows'), 1)
    }
    const backfill = { site_id, edge_id, epoch: 'b', lane: 'backfill', received_at: noon } as const
    const { refused_frames } = await ingest({ ...backfill, frames: [frame([report(noon)])] })
    assert.equal(refused_frames, 1)
  })
})
