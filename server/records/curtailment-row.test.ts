import assert from 'node:assert/strict'
import test from 'node:test'
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
      ['12:00:00', 'completed'],
    ],
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
    what: 'a row that the edge had and could not apply',
    row: acknowledged,
    is: [['12:00:00', 'failed']],
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
      ...{ released_at: at('10:30:00'), is_release_heard: true },
      ...{ acknowledged_at: at('11:00:00'), failure_code: 'raise_refused' },
    },
    is: [['11:00:00', 'cancelled']],
  },
  {
    what: 'a row released when an edge was told of it and has not answered: it may hold the plant',
    row: { told_at: at('10:29:59'), released_at: at('10:30:00') },
    is: [
      ['10:30:00', 'releasing'],
      ['12:00:59.999', 'releasing'],
      ['12:01:00', 'cancelled'],
    ],
  },
  {
    what: 'a row that an edge was told of and first heard of as released',
    row: {
      ...{ told_at: at('10:29:59'), released_at: at('10:30:00'), is_release_heard: true },
      ...{ acknowledged_at: at('10:31:00'), restored_at: at('10:31:00') },
    },
    is: [['10:31:00', 'cancelled']],
  },
  {
    what: 'a row that an edge was told of, released before its start, of which it knows nothing',
    row: { told_at: at('09:29:59'), released_at: at('09:30:00') },
    is: [
      ['09:30:01', 'releasing'],
      ['12:01:00', 'cancelled'],
    ],
  },
  {
    what: 'a row whose release nobody confirms',
    row: { ...applied, released_at: at('10:30:00'), restore_started_at: at('10:30:01') },
    is: [
      ['10:30:00', 'releasing'],
      ['12:00:59.999', 'releasing'],
      ['12:01:00', 'cancelled'],
    ],
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
      `select ${rowColumns('$1::timestamptz')} from curtailment_rows r, curtailment_groups g`,
      [now],
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
