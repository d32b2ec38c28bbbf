import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { testDatabase } from '../../test/postgres.ts'
import {
  noMoney,
  type RowStatus,
  rowColumns,
  rowRecord,
  type StoredRow,
} from './curtailment-row.ts'

/** Of a day: rows are asked for at 09:00 and hold from 10:00 until 12:00. */
const at = (time: string) => `2026-06-21T${time}Z`
const [start, end] = [at('10:00:00'), at('12:00:00')]

interface Case {
  what: string
  row: Partial<Record<string, string | boolean>>
  /** From when on it is what. */
  is: readonly (readonly [time: string, status: RowStatus])[]
}

const acknowledged = { told_at: at('09:00:00'), acknowledged_at: at('09:00:01') }
const applied = { ...acknowledged, applied_at: at('10:00:01') }

const cases: readonly Case[] = [
  {
    what: 'a row that is applied and ends by itself',
    row: applied,
    is: [
      ['09:00:00', 'scheduled'],
      ['09:59:59.999', 'scheduled'],
      ['10:00:00', 'active'],
      ['11:59:59.999', 'active'],
      ['12:00:00', 'releasing'],
      ['23:00:00', 'releasing'],
    ],
  },
  {
    what: 'a row whose end is proved',
    row: { ...applied, restored_at: at('12:00:02') },
    is: [['12:00:02', 'completed']],
  },
  {
    what: 'a row whose end nobody confirms, and whose record is closed',
    row: { ...applied, closed_at: at('15:00:00'), closed_reason: 'operator' },
    is: [['15:00:00', 'completed']],
  },
  {
    what: 'a row that no edge ever had',
    row: {},
    is: [
      ['09:00:00', 'scheduled'],
      ['11:00:00', 'active'],
      ['12:00:00', 'failed'],
    ],
  },
  {
    what: 'a row that the edge had and could not apply: some devices may hold its limit',
    row: acknowledged,
    is: [['12:00:00', 'releasing']],
  },
  {
    what: 'a row that the edge could not apply, and whose end is proved',
    row: { ...acknowledged, restored_at: at('12:00:02') },
    is: [['12:00:02', 'failed']],
  },
  {
    what: 'a row released before any edge had it',
    row: { released_at: at('10:30:00') },
    is: [
      ['10:30:00', 'cancelled'],
      ['13:00:00', 'cancelled'],
    ],
  },
  {
    what: 'a row released before any edge was told of it, which one hears of and may not raise',
    row: {
      released_at: at('10:30:00'),
      is_release_heard: true,
      acknowledged_at: at('11:00:00'),
      failure_code: 'raise_refused',
    },
    is: [['11:00:00', 'cancelled']],
  },
  {
    what: 'a row released when an edge was told of it and has not answered: it may hold the plant',
    row: { told_at: at('10:29:59'), released_at: at('10:30:00') },
    is: [
      ['10:30:00', 'releasing'],
      ['12:00:00', 'releasing'],
      ['23:00:00', 'releasing'],
    ],
  },
  {
    what: 'a row that an edge was told of and first heard of as released',
    row: {
      told_at: at('10:29:59'),
      released_at: at('10:30:00'),
      is_release_heard: true,
      acknowledged_at: at('10:31:00'),
      restored_at: at('10:31:00'),
    },
    is: [['10:31:00', 'cancelled']],
  },
  {
    what: 'a row that an edge was told of, released before its start, of which it knows nothing',
    row: { told_at: at('09:29:59'), released_at: at('09:30:00') },
    is: [
      ['09:30:01', 'releasing'],
      ['23:00:00', 'releasing'],
    ],
  },
  {
    what: 'a row whose release nobody confirms',
    row: { ...applied, released_at: at('10:30:00'), restore_started_at: at('10:30:01') },
    is: [
      ['10:30:00', 'releasing'],
      ['12:00:00', 'releasing'],
      ['23:00:00', 'releasing'],
    ],
  },
  {
    what: 'a row whose release nobody confirms, and whose record is closed',
    row: {
      ...applied,
      released_at: at('10:30:00'),
      closed_at: at('11:00:00'),
      closed_reason: 'operator',
    },
    is: [['11:00:00', 'cancelled']],
  },
  {
    what: 'a row whose release is proved',
    row: { ...applied, released_at: at('10:30:00'), restored_at: at('10:30:02') },
    is: [['10:30:02', 'cancelled']],
  },
  {
    what: 'a row that is released before its start, and the edge knows',
    row: { ...acknowledged, released_at: at('09:30:00'), is_release_heard: true },
    is: [['09:30:01', 'cancelled']],
  },
  {
    what: 'a row that is released before its start, and the edge does not know',
    row: { ...acknowledged, released_at: at('09:30:00') },
    is: [['09:30:01', 'releasing']],
  },
  {
    what: 'a row that is released while it holds: to know of it is not to be restored',
    row: { ...applied, released_at: at('10:30:00'), is_release_heard: true },
    is: [['10:30:01', 'releasing']],
  },
]

test('a row', async (t) => {
  const { db, drop } = await testDatabase()
  t.after(drop)
  await db.query(`
    insert into clients (name, modules) values ('owner', '{}');
    insert into sites (site_id, client_id, name) select 'park', client_id, 'Park' from clients;
    insert into curtailment_groups (site_id, group_id, source, created_at)
    values ('park', 'g', 'api', '${at('09:00:00')}')`)

  async function stored(row: Case['row'], now: string) {
    await db.execute('delete from curtailment_rows')
    const whole = { site_id: 'park', group_id: 'g', logger_id: 1, rated_power_kw: 200, ...row }
    await db.execute(
      `insert into curtailment_rows (${[...Object.keys(whole)]}, start_at, end_at, max_power_kw)
       values (${Object.keys(whole).map((_, index) => `$${index + 1}`)}, '${start}', '${end}', 50)`,
      Object.values(whole),
    )
    const [read] = await db.query<StoredRow>(
      `select ${rowColumns('$2::timestamptz')} from curtailment_rows r, curtailment_groups g
       where r.site_id = $1`,
      ['park', now],
    )
    return rowRecord(read!, noMoney)
  }

  for (const { what, row, is } of cases) {
    await t.test(`is told by its times: ${what}`, async () => {
      for (const [time, status] of is) {
        const record = await stored(row, at(time))
        assert.equal(record.status, status, time)
        assert.equal(record.is_active, status === 'active')
        assert.equal(record.completed_at !== null, status === 'completed')
      }
    })
  }

  await t.test('says that no edge answers, half a minute after its start', async () => {
    const codeAt = async (row: Case['row'], time: string) =>
      (await stored(row, at(time))).failure_code
    assert.equal(await codeAt({}, '10:00:29.999'), null)
    assert.equal(await codeAt({}, '10:00:30'), 'edge_offline')
    assert.match((await stored({}, at('13:00:00'))).failure_message!, /no edge/)
    assert.equal(await codeAt(acknowledged, '10:00:30'), null)
    assert.equal(await codeAt({ released_at: at('10:00:10') }, '10:00:30'), null)
  })

  await t.test(
    'says when it was cancelled or completed, and since when that was requested',
    async () => {
      const instants = async (row: Case['row'], time = '16:00:00') => {
        const read = await stored({ ...applied, ...row }, at(time))
        return [read.release_requested_at, read.cancelled_at, read.completed_at].map(
          (instant) => instant?.slice(11, 19) ?? null,
        )
      }
      const released_at = at('10:30:00')
      assert.deepEqual(await instants({ released_at }), ['10:30:00', null, null])
      const restored_at = at('10:30:02')
      assert.deepEqual(await instants({ released_at, restored_at }), ['10:30:00', '10:30:02', null])
      const early = { released_at, restored_at: at('10:29:58') }
      assert.deepEqual(await instants(early), ['10:30:00', '10:30:00', null], 'another clock')
      assert.deepEqual(await instants({}), [null, null, null])
      assert.deepEqual(await instants({ restored_at: at('12:00:03') }), [null, null, '12:00:03'])
      const closed = { released_at, closed_at: at('13:00:00'), closed_reason: 'operator' }
      assert.deepEqual(await instants(closed), ['10:30:00', '13:00:00', null])
      const late = { ...closed, restored_at: at('14:00:00') }
      assert.deepEqual(await instants(late), ['10:30:00', '13:00:00', null], 'confirmed later')
    },
  )

  await t.test('says what a releasing row waits for', async () => {
    const reason = async (row: Case['row'] = {}) =>
      (await stored({ ...applied, released_at: at('10:30:00'), ...row }, at('10:31:00')))
        .releasing_reason
    const seen = (time: string | null) =>
      db.execute('update edges set last_seen_at = $1', [time && at(time)])
    assert.equal(await reason(), 'edge_unreachable')
    await db.execute(`
      insert into edges (site_id, edge_id, name, secret_sha256, created_at)
      values ('park', '0123456789ab', 'Edge', '', now())`)
    assert.equal(await reason(), 'edge_unreachable', 'never seen')
    await seen('10:29:59')
    assert.equal(await reason({ failure_code: 'raise_refused' }), 'edge_unreachable')
    await seen('10:30:30')
    assert.equal(await reason(), 'awaiting_confirmation')
    assert.equal(await reason({ failure_code: 'raise_refused' }), 'raise_refused')
    assert.equal(await reason({ failure_code: 'timeout' }), 'device_not_restored')
    assert.equal(await reason({ restored_at: at('10:30:30') }), null)
  })

  await t.test('is over by a confirmation or a closing, never by the clock alone', async () => {
    await db.execute('delete from curtailment_rows')
    const time = fc.constantFrom(null, '09:20', '09:50', '10:20', '11:50', '12:20', '13:00')
    const generated = fc.sample(
      fc.record({
        told_at: time,
        applied_at: time,
        restored_at: time,
        closed_at: time,
        reported_at: time,
        is_release_heard: fc.boolean(),
        // A row past its end takes no release.
        released_at: fc.constantFrom(null, '09:20', '10:20', '11:50'),
      }),
      { numRuns: 2000, seed: 7 },
    )
    const rows = generated.map(({ is_release_heard, ...times }, nth) => ({
      ...Object.fromEntries(
        Object.entries(times).map(([name, value]) => [name, value && at(`${value}:00`)]),
      ),
      is_release_heard: is_release_heard && times.released_at !== null,
      closed_reason: times.closed_at && 'operator',
      logger_id: nth + 1,
    }))
    await db.execute(
      `insert into curtailment_rows (site_id, group_id, start_at, end_at, max_power_kw, logger_id,
         told_at, applied_at, released_at, restored_at, closed_at, closed_reason, reported_at,
         is_release_heard)
       select 'park', 'g', '${start}', '${end}', 50, logger_id, told_at, applied_at, released_at,
         restored_at, closed_at, closed_reason, reported_at, is_release_heard
       from jsonb_populate_recordset(null::curtailment_rows, $1::jsonb)`,
      [JSON.stringify(rows)],
    )
    const readAt = async (now: string) => {
      const read = await db.query<StoredRow>(
        `select ${rowColumns('$2::timestamptz')} from curtailment_rows r, curtailment_groups g
         where r.site_id = $1 order by r.logger_id`,
        ['park', now],
      )
      return read.map((one) => rowRecord(one, noMoney))
    }
    const [soon, later] = [await readAt(at('13:00:00')), await readAt('2036-06-21T13:00:00Z')]
    const counts = new Map<RowStatus, number>()
    for (const [nth, { status, ...row }] of soon.entries()) {
      counts.set(status, (counts.get(status) ?? 0) + 1)
      assert.equal(later[nth]!.status, status)
      const is_known = row.restored_at !== null || row.closed_at !== null
      if (is_known) assert.notEqual(status, 'releasing')
      if (status !== 'cancelled') assert.equal(row.cancelled_at, null)
      else assert.ok(row.cancelled_at! >= row.release_requested_at!)
      if (status !== 'completed') assert.equal(row.completed_at, null)
      else assert.ok(row.completed_at! >= row.end_at!)
      if (row.restored_at && row.cancelled_at && !row.closed_at) {
        assert.ok(row.cancelled_at >= row.restored_at)
      }
      assert.equal(row.releasing_reason !== null, status === 'releasing')
    }
    assert.deepEqual([...counts.keys()].sort(), ['cancelled', 'completed', 'failed', 'releasing'])
  })

  await t.test('derives what its columns tell', async () => {
    const record = await stored(
      { ...applied, samples: '8', compliant_samples: '6' },
      at('11:00:00'),
    )
    assert.equal(record.limit_pct_of_rated, 25)
    assert.equal(record.apply_latency_ms, 1000)
    assert.equal(record.compliance_pct, 75)
    const early = await stored({ ...acknowledged, applied_at: at('09:59:59') }, at('11:00:00'))
    assert.equal(early.apply_latency_ms, 0)
    assert.equal((await stored({}, at('11:00:00'))).compliance_pct, null)
  })
})
