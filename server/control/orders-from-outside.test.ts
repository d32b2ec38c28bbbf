/** Orders that an edge took from outside, as it reports them and as the API serves them. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { open_end_at, type RowReport } from '@heliograph/domain/curtailment'
import type { Frame } from '@heliograph/domain/link'
import { testDatabase } from '../../test/postgres.ts'
import { edge_id, foundSite, noon, site_id } from '../link/fixtures/plant.ts'
import { ingestInto } from '../link/ingest.ts'
import { closeGroup } from '../storage/curtailment.ts'
import { releaseGroup } from './commands.ts'
import { type DesiredMessage, tellDesired } from './desired.ts'
import { openRows, pastRows } from './store.ts'
import { warningsOf } from './warnings.ts'

const group_id = '0d9c7d3e-6a58-4f3f-9f2e-4f1f3b1c7a52'

function report(reported_at: number, change: Partial<RowReport> = {}): RowReport {
  return {
    row: {
      group_id,
      logger_id: 1,
      start_at: noon,
      end_at: open_end_at,
      max_power_kw: 50,
      released_at: null,
      source: 'grid_operator',
    },
    reported_at,
    acknowledged_at: noon,
    applied_at: noon + 1000,
    verified_at: null,
    restore_started_at: null,
    restored_at: null,
    last_checked_at: null,
    observed_limit_kw: 50,
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

const reader = { site_id, has_money: false }
const after = (ms: number) => new Date(noon + ms)

test('an order from outside', async (t) => {
  const { db, drop } = await testDatabase()
  t.after(drop)
  await foundSite(db)
  const { ingest } = ingestInto(db)
  let seq = 0
  const send = (...reports: RowReport[]) => {
    seq += 1
    const frames: Frame[] = [{ seq, kind: 'curtailment', payload: reports }]
    return ingest({ site_id, edge_id, epoch: 'a', lane: 'live', frames, received_at: noon })
  }
  const desired = () =>
    new Promise<DesiredMessage>((resolve) => {
      const clock = { now: () => after(2000) }
      const timers = { after: () => () => {} }
      const log = { error() {}, warn() {} } as never
      const rows = tellDesired({ db, clock, timers, log })
      rows.watch(site_id, (message) => {
        void rows.stop().then(() => resolve(message))
      })
    })

  await t.test('is served with its source, without a group and without an end', async () => {
    await send(report(noon + 1000))
    const [row, ...others] = await openRows(db, reader, after(2000))
    assert.equal(others.length, 0)
    const { source, end_at, holds_until, status, max_power_kw } = row!
    assert.deepEqual(
      { source, group_id: row!.group_id, end_at, holds_until, status, max_power_kw },
      {
        source: 'grid_operator',
        group_id: null,
        end_at: null,
        holds_until: 'replaced',
        status: 'active',
        max_power_kw: 50,
      },
    )
    assert.ok(Number.isInteger(row!.id))
  })

  await t.test('is released by no command, and closed by nobody', async () => {
    const command = { site_id, group_id, now: after(3000), by: 'somebody' }
    assert.equal(await db.transaction((tx) => releaseGroup(tx, command)), false)
    await db.transaction((tx) => closeGroup(tx, { ...command, note: 'why' }))
    const [row] = await openRows(db, reader, after(3000))
    assert.equal(row!.status, 'active')
  })

  await t.test('goes to an edge that has lost it, with its source', async () => {
    const { rows } = await desired()
    assert.deepEqual(
      rows.map(({ source, end_at }) => ({ source, end_at })),
      [{ source: 'grid_operator', end_at: open_end_at }],
    )
  })

  await t.test('ends when its source replaces it', async () => {
    const ended = { ...report(0).row, released_at: noon + 60_000 }
    const restored = { restore_started_at: noon + 60_000, restored_at: noon + 61_000 }
    const next = { ...report(0).row, group_id: group_id.replace('0d', '1d'), max_power_kw: 80 }
    await send(
      report(noon + 61_000, { row: ended, ...restored }),
      report(noon + 61_000, { row: { ...next, start_at: noon + 60_000 } }),
    )
    const [past] = await pastRows(db, reader, after(0), after(62_000))
    assert.equal(past!.status, 'cancelled')
    assert.equal(past!.end_at, after(60_000).toISOString())
    assert.equal(past!.group_id, null)
    const [open, ...others] = await openRows(db, reader, after(62_000))
    assert.equal(others.length, 0)
    assert.equal(open!.max_power_kw, 80)
    const { rows } = await desired()
    assert.deepEqual(
      rows.map(({ max_power_kw }) => max_power_kw),
      [80],
    )
  })

  await t.test('that has ended counts as no open order', async () => {
    const [count] = await db.query<{ open: number }>(
      'select count(*)::int as open from curtailment_rows where end_at > $1',
      [after(62_000)],
    )
    assert.equal(count!.open, 1)
  })

  await t.test('is no overlapping command that a client could look up', async () => {
    const times = { start_at: after(62_000), end_at: after(3_600_000), now: after(62_000) }
    const limit = {
      logger_id: 1,
      rated_power_kw: 100,
      max_power_kw: 30,
      requested_max_power_kw: 30,
    }
    const made = { group_id: null, limits: [limit] }
    const warnings = await warningsOf(db, { site_id, ...times }, made)
    assert.ok(!warnings.some((warning) => warning.startsWith('overlaps_group')), String(warnings))
  })
})
